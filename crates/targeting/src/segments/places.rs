//! Finding out whether an audience asks for places, by itself or by way of a segment.

use base::Result;
use boxed::boxed;
use model::ids::AppId;
use model::selector::{Audience, Selector};
use store::Tx;

use super::{reached, references};
use crate::Targeting;
use crate::places::is_by_place;

#[boxed]
impl Targeting {
    /// Has the atlas read if an audience, or a segment that it refers to, asks for a place: planning it would otherwise wait for
    /// that on a thread of the database.
    pub async fn ready_atlas_to_plan(&self, app: AppId, audience: &Audience) -> Result<()> {
        let Audience::Selector(selector) = audience else { return Ok(()) };
        let mut is_asked = is_by_place(selector);
        if !is_asked && references(selector).next().is_some() {
            let selector = selector.clone();
            is_asked = self.0.store.read(move |tx| segment_by_place(tx, app, &selector)).await?.is_some();
        }
        if is_asked { self.0.devices.ask_atlas(|_| ()).await } else { Ok(()) }
    }
}

/// The name of a segment by place among those that belong to a selector.
pub fn segment_by_place(tx: &mut Tx<'_>, app: AppId, selector: &Selector) -> Result<Option<String>> {
    let found = reached(tx, app, selector)?.into_values().flatten();
    let mut by_place = found.filter(|segment| is_by_place(&segment.criteria));
    Ok(by_place.next().map(|segment| segment.display_name))
}
