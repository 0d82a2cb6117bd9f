//! Finding out whether an audience asks for places, by itself or by way of a segment.

use std::collections::HashSet;

use model::ids::{AppId, SegmentId};
use model::selector::{Audience, Selector};
use store::Tx;

use super::{references, stored};
use crate::locations::is_by_place;
use crate::{Engine, Result};

impl Engine {
    /// Has the atlas read if an audience, or a segment that it refers to, asks for a place: planning it would otherwise wait for
    /// that on a thread of the database.
    pub(crate) async fn ready_atlas_to_plan(&self, app: AppId, audience: &Audience) -> Result<()> {
        let Audience::Selector(selector) = audience else { return Ok(()) };
        let mut is_asked = is_by_place(selector);
        if !is_asked && references(selector).next().is_some() {
            let selector = selector.clone();
            is_asked = self.0.store.read(move |tx| segment_by_place(tx, app, &selector)).await?.is_some();
        }
        if is_asked { self.ask_atlas(|_| ()).await } else { Ok(()) }
    }
}

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
