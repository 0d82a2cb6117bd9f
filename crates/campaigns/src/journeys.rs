//! Journeys: servers let channels enter and leave them, which pipelines hear of as custom events.
//!
//! A request about few channels is done when it is answered. The others wait in a queue of the app, which is worked off in order, a
//! portion of channels at a time; as long as something waits there, all requests do.

mod audience;
mod waiting;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use base::{Error, Result};
use boxed::boxed;
use events::Chosen;
use model::channel::ChannelRef;
use model::custom_event::{About, CustomEvent};
use model::event::Custom;
use model::ids::{AppId, ChannelId, OperationId, Ordinal};
use model::journey::{Entrance, JourneyExit, JourneyTrigger};
use model::json::OneOrMany;
use roaring::RoaringBitmap;
use store::{Tx, channels, journeys};
use tenancy::IdempotencyKey;

pub(crate) use waiting::MoveThroughJourneys;

use crate::Campaigns;
use waiting::{Entering, Waiting};

/// Channels that enter or leave a journey in one transaction, at most.
const PORTION: u32 = 1000;
/// Whoever entered a journey longer ago has come to its end.
const KEPT_FOR: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// What is written with a portion, so that no channel is moved twice.
type WithPortion = Arc<dyn Fn(&mut Tx<'_>) -> Result<()> + Send + Sync>;
/// The same, told whether the portion was a whole one, so that more may be left.
type WithWholeOrPart = Arc<dyn Fn(&mut Tx<'_>, bool) -> Result<()> + Send + Sync>;

#[boxed]
impl Campaigns {
    /// Lets the channels of an audience enter journeys. Up to a portion of them has entered when this returns, all or none; a
    /// larger audience enters afterwards.
    pub async fn enter_journeys(
        &self,
        app: AppId,
        trigger: JourneyTrigger,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<OperationId> {
        let found = self.0.targeting.channels_of(app, trigger.audience.clone()).await?;
        let entering = Entering::new(trigger);
        if found.len() > entering.portion() as u64 || self.is_any_waiting(app).await? {
            return self.let_wait(app, Waiting::entering(entering), found, idempotency_key).await;
        }
        self.enter(app, &entering, found.iter().map(Ordinal).collect(), idempotency_key, Arc::new(|_| Ok(()))).await
    }

    /// Lets everybody leave who has entered journeys. If that is more than a portion, the others leave afterwards.
    pub async fn exit_journeys(&self, app: AppId, exit: JourneyExit) -> Result<OperationId> {
        let entrances = exit.entrances();
        let mut is_more = self.is_any_waiting(app).await?;
        for entrance in &entrances {
            is_more = is_more || self.let_some_leave(app, entrance, Arc::new(|_, _| Ok(()))).await? == PORTION;
        }
        if is_more {
            return self.let_wait(app, Waiting::Leave { entrances }, RoaringBitmap::new(), None).await;
        }
        Ok(OperationId::at(self.0.clock.now()))
    }

    /// Forgets who has entered journeys long ago.
    pub async fn forget_old_entrances(&self, app: AppId) -> Result<()> {
        let oldest = self.0.clock.now().minus(KEPT_FOR);
        let forget = move |tx: &mut Tx<'_>| journeys::forget_before(tx, app, oldest, PORTION);
        while self.0.store.write(app, forget).await? == u64::from(PORTION) {}
        Ok(())
    }

    /// Lets channels enter all journeys of a request, in one transaction.
    async fn enter(
        &self,
        app: AppId,
        entering: &Entering,
        channels: Vec<Ordinal>,
        idempotency_key: Option<IdempotencyKey>,
        with: WithPortion,
    ) -> Result<OperationId> {
        let (channels, ids) = self.installed(app, channels).await?;
        let Entering { entrances, values } = entering.clone();
        let happened = entrances.iter().flat_map(|entrance| {
            let event = entrance.entered(&values);
            ids.iter().map(move |id| about(*id, event.clone()))
        });
        let events: Vec<CustomEvent> = happened.collect();
        let now = self.0.clock.now();
        let enter = move |tx: &mut Tx<'_>| -> Result<Chosen> {
            for entrance in &entrances {
                journeys::enter(tx, app, entrance.id(), &channels, now)?;
            }
            with(tx)?;
            Ok(Chosen::All)
        };
        let taken =
            self.0.events.take_custom_events_with(app, OneOrMany::Many(events), idempotency_key, Arc::new(enter));
        taken.await
    }

    /// Lets a portion of a journey leave, and returns how many were in it. A request that is repeated while it runs reads the same
    /// channels, but each of them leaves once.
    async fn let_some_leave(&self, app: AppId, entrance: &Entrance, with: WithWholeOrPart) -> Result<u32> {
        let id = entrance.id();
        let leaving = self.0.store.read(move |tx| journeys::entered(tx, app, id, PORTION)).await?;
        let n_leaving = u32::try_from(leaving.len()).map_err(Error::internal)?;
        let (installed, ids) = self.installed(app, leaving.clone()).await?;
        let event = entrance.exited();
        let events = ids.iter().map(|id| about(*id, event.clone())).collect();
        let leave = move |tx: &mut Tx<'_>| -> Result<Chosen> {
            let left: BTreeSet<Ordinal> = journeys::leave(tx, app, id, &leaving)?.into_iter().collect();
            with(tx, n_leaving == PORTION)?;
            let of_left = installed.iter().zip(&ids).filter(|(ordinal, _)| left.contains(*ordinal));
            Ok(Chosen::About(of_left.map(|(_, id)| *id).collect()))
        };
        self.0.events.take_custom_events_with(app, OneOrMany::Many(events), None, Arc::new(leave)).await?;
        Ok(n_leaving)
    }

    /// Those of some channels that are installed.
    async fn installed(&self, app: AppId, wanted: Vec<Ordinal>) -> Result<(Vec<Ordinal>, Vec<ChannelId>)> {
        let found = self.0.store.read(move |tx| channels::by_ordinals(tx, app, &wanted)).await?;
        Ok(found.into_iter().filter(|row| row.installed).map(|row| (row.ordinal, row.id)).unzip())
    }
}

fn about(id: ChannelId, event: Custom) -> CustomEvent {
    let about = About::Channel(ChannelRef { id, claimed: None });
    CustomEvent { occurred: None, about, event, unique_id: None }
}
