//! The segments that a selector refers to, directly and through others.

use std::collections::BTreeMap;

use base::{Error, Result};
use model::ids::{AppId, SegmentId};
use model::segment::SegmentBody;
use model::selector::Selector;
use store::Tx;
use store::documents::{self, DocumentKind};

use super::{body_of, references};

/// Segments by their ids; `None` where there is no such segment.
pub(crate) type Reached = BTreeMap<SegmentId, Option<SegmentBody>>;

/// Every segment that a selector reaches, each read once. Segments mentioned together are read together.
pub(crate) fn reached(tx: &mut Tx<'_>, app: AppId, selector: &Selector) -> Result<Reached> {
    let mut reached = Reached::new();
    let mut mentioned: Reached = references(selector).map(|id| (id, None)).collect();
    while !mentioned.is_empty() {
        let ids: Vec<String> = mentioned.keys().map(SegmentId::to_string).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut next = Reached::new();
        for document in documents::get_many(tx, app, DocumentKind::Segment, &ids)? {
            let segment = body_of(&document)?;
            next.extend(references(&segment.criteria).map(|id| (id, None)));
            mentioned.insert(document.id.parse().map_err(Error::internal)?, Some(segment));
        }
        reached.append(&mut mentioned);
        next.retain(|id, _| !reached.contains_key(id));
        mentioned = next;
    }
    Ok(reached)
}
