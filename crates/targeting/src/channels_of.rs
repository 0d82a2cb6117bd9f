//! The channels of an audience at this moment, for what happens to them all at once.

use audience::plan::Plan;
use base::{Error, Result};
use boxed::boxed;
use model::ids::AppId;
use model::payload::device_types::DeviceTypes;
use model::selector::Audience;
use roaring::RoaringBitmap;
use store::Tx;

use crate::{Planner, Targeting, audience_problems, open_types, unknown_pushes};

#[boxed]
impl Targeting {
    /// Whether they can be reached or not. An audience that cannot be evaluated is refused.
    pub async fn channels_of(&self, app: AppId, audience: Audience) -> Result<RoaringBitmap> {
        if let Audience::Selector(selector) = &audience {
            Error::refuse(audience_problems(selector, "audience"))?;
        }
        self.ready_atlas_to_plan(app, &audience).await?;
        let index = self.0.index.current(app).await?;
        let (now, known) = (self.0.clock.now(), index.clone());
        let plan = move |tx: &mut Tx<'_>| -> Result<Plan> {
            if let Audience::Selector(selector) = &audience {
                Error::refuse(unknown_pushes(tx, app, selector, "audience")?)?;
            }
            let types = open_types(&DeviceTypes::all(), &known);
            Planner::new(tx, app, &known, now, types).audience(&audience)
        };
        let plan = self.0.store.read(plan).await?;
        self.0.index.evaluate(move || index.resolve(&plan.normalize())).await
    }
}
