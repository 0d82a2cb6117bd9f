//! Whether one channel belongs to an audience now.

use audience::plan::Plan;
use base::Result;
use boxed::boxed;
use model::ids::{AppId, ChannelId};
use model::selector::{Audience, Selector};
use roaring::RoaringBitmap;
use store::{Tx, channels};

use crate::Targeting;
use crate::plan::Planner;

#[boxed]
impl Targeting {
    /// A channel that is not there, or was uninstalled, belongs to no audience.
    pub async fn is_member(&self, app: AppId, selector: Selector, channel: ChannelId) -> Result<bool> {
        let audience = Audience::Selector(selector);
        self.ready_atlas_to_plan(app, &audience).await?;
        let index = self.0.index.current(app).await?;
        let (known, now) = (index.clone(), self.0.clock.now());
        let read = move |tx: &mut Tx<'_>| -> Result<Option<Plan>> {
            let found = channels::by_id(tx, app, channel)?.filter(|row| row.installed);
            let Some(row) = found else { return Ok(None) };
            let plan = Planner::new(tx, app, &known, now, Vec::new()).audience(&audience)?;
            Ok(Some(Plan::And(vec![Plan::Set(RoaringBitmap::from([row.ordinal.0])), plan])))
        };
        let Some(plan) = self.0.store.read(read).await? else { return Ok(false) };
        self.0.index.evaluate(move || index.count(&plan) > 0).await
    }
}
