//! Finding out whether an audience asks for places by way of a segment.

use std::collections::HashSet;

use model::ids::{AppId, SegmentId};
use model::selector::Selector;
use store::Tx;

use super::{references, stored};
use crate::Result;
use crate::locations::is_by_place;

/// The name of a segment by place among those that a selector refers to, and those that they refer to.
pub(crate) fn segment_by_place(tx: &mut Tx<'_>, app: AppId, selector: &Selector) -> Result<Option<String>> {
    let mut met: HashSet<SegmentId> = HashSet::new();
    let mut pending: Vec<SegmentId> = references(selector).collect();
    while let Some(id) = pending.pop() {
        if !met.insert(id) {
            continue;
        }
        // One that was deleted contains nobody.
        let Some(segment) = stored(tx, app, id)? else { continue };
        if is_by_place(&segment.criteria) {
            return Ok(Some(segment.display_name));
        }
        pending.extend(references(&segment.criteria));
    }
    Ok(None)
}
