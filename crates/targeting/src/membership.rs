//! Whether one channel belongs to an audience now. Devices ask about themselves, so that an answer must not cost what an
//! audience does.

use audience::plan::Plan;
use base::{Error, Result};
use boxed::boxed;
use devices::parse_stored_attribute;
use model::ids::{AppId, ChannelId};
use model::remote_data::Overrides;
use model::selector::{Audience, Selector};
use roaring::RoaringBitmap;
use store::Tx;
use store::attributes::{self, Values};
use store::channels::{self, Channel};

use crate::Targeting;
use crate::plan::{OneChannel, Planner};

#[boxed]
impl Targeting {
    /// A channel that is not there, or was uninstalled, belongs to no audience. What its device has changed and not uploaded yet
    /// counts.
    pub async fn is_member(
        &self,
        app: AppId,
        selector: Selector,
        channel: ChannelId,
        overrides: Overrides,
    ) -> Result<bool> {
        Ok(self.first_of(app, vec![Some(selector)], channel, overrides).await?.is_some())
    }

    /// The first of some audiences that a channel belongs to, by its number; `None` among them is the audience of everybody.
    pub async fn first_of(
        &self,
        app: AppId,
        audiences: Vec<Option<Selector>>,
        channel: ChannelId,
        overrides: Overrides,
    ) -> Result<Option<usize>> {
        let audiences: Vec<Option<Audience>> =
            audiences.into_iter().map(|selector| selector.map(Audience::Selector)).collect();
        for audience in audiences.iter().flatten() {
            self.ready_atlas_to_plan(app, audience).await?;
        }
        let index = self.0.index.current(app).await?;
        let (known, now) = (index.clone(), self.0.clock.now());
        let read = move |tx: &mut Tx<'_>| -> Result<Option<(Plan, Vec<Option<Plan>>)>> {
            let found = channels::by_id(tx, app, channel)?.filter(|row| row.installed);
            let Some(Channel { ordinal, terms, profile, .. }) = found else { return Ok(None) };
            let mut attributes = attributes::of_channel(tx, app, ordinal)?;
            apply_overrides(&mut attributes, &overrides)?;
            let planner = Planner::new(tx, app, &known, now, Vec::new());
            let mut planner = Planner {
                only: Some(OneChannel { ordinal, terms, profile, attributes, overrides: overrides.clone() }),
                ..planner
            };
            let plans = audiences.iter().map(|audience| audience.as_ref().map(|one| planner.audience(one)).transpose());
            Ok(Some((Plan::Set(RoaringBitmap::from([ordinal.0])), plans.collect::<Result<_>>()?)))
        };
        let Some((alone, plans)) = self.0.store.read(read).await? else { return Ok(None) };
        // Only planning needs the database: binding a long plan would keep a connection from others.
        let first = move || {
            let is_meant = |plan: Plan| index.count(&Plan::And(vec![alone.clone(), plan])) > 0;
            plans.into_iter().position(|plan| plan.is_none_or(is_meant))
        };
        self.0.index.evaluate(first).await
    }
}

/// Changes the attributes of a channel and of its named user as its device has done. The device does not say of which of them
/// it has removed an attribute: its own, or else the user's.
pub fn apply_overrides([own, of_user]: &mut [Values; 2], overrides: &Overrides) -> Result<()> {
    for operation in &overrides.attributes {
        let name = operation.key.as_str();
        let current = own.get(name).map(|stored| parse_stored_attribute(stored)).transpose()?;
        match operation.value(current.as_ref()) {
            Some(value) => {
                own.insert(name.to_owned(), serde_json::to_string(&value).map_err(Error::internal)?);
            }
            None if current.is_some() => drop(own.remove(name)),
            None => drop(of_user.remove(name)),
        }
    }
    Ok(())
}
