//! Journeys: servers let channels enter and leave them, which pipelines hear of as custom events.

use std::sync::Arc;
use std::time::Duration;

use base::{Error, Result};
use boxed::boxed;
use model::channel::ChannelRef;
use model::custom_event::{About, CustomEvent};
use model::event::Custom;
use model::ids::{AppId, ChannelId, OperationId, Ordinal};
use model::journey::{Entrance, JourneyExit, JourneyTrigger};
use model::json::OneOrMany;
use model::limits;
use store::{Tx, channels, journeys};
use tenancy::IdempotencyKey;

use crate::Campaigns;

/// Channels that leave a journey in one transaction.
const PORTION: u32 = 1000;
/// Whoever entered a journey longer ago has come to its end.
const KEPT_FOR: Duration = Duration::from_secs(90 * 24 * 60 * 60);

#[boxed]
impl Campaigns {
    /// Lets the channels of an audience enter journeys, all of them or none.
    pub async fn enter_journeys(
        &self,
        app: AppId,
        trigger: JourneyTrigger,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<OperationId> {
        let found = self.0.targeting.channels_of(app, trigger.audience.clone()).await?;
        if found.len() > limits::JOURNEY_CHANNELS {
            let (n_channels, most) = (found.len(), limits::JOURNEY_CHANNELS);
            let text =
                format!("The audience has {n_channels} channels, and a request is for {most} at most; name fewer.");
            return Err(Error::invalid("audience", text));
        }
        let (entering, ids) = self.installed(app, found.iter().map(Ordinal).collect()).await?;
        let entrances = trigger.entrances();
        let happened = entrances.iter().flat_map(|entrance| {
            let event = entrance.entered(&trigger.global_attributes);
            ids.iter().map(move |id| about(*id, event.clone()))
        });
        let events: Vec<CustomEvent> = happened.collect();
        let now = self.0.clock.now();
        let enter = move |tx: &mut Tx<'_>| -> Result<()> {
            for entrance in &entrances {
                journeys::enter(tx, app, entrance.id(), &entering, now)?;
            }
            Ok(())
        };
        let taken =
            self.0.events.take_custom_events_with(app, OneOrMany::Many(events), idempotency_key, Arc::new(enter));
        taken.await
    }

    /// Lets everybody leave who has entered journeys, some at a time. Saying so again finds those who are left.
    pub async fn exit_journeys(&self, app: AppId, exit: JourneyExit) -> Result<OperationId> {
        for entrance in exit.entrances() {
            while self.let_some_leave(app, &entrance).await? == PORTION {}
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

    /// Returns how many have left.
    async fn let_some_leave(&self, app: AppId, entrance: &Entrance) -> Result<u32> {
        let id = entrance.id();
        let leaving = self.0.store.read(move |tx| journeys::entered(tx, app, id, PORTION)).await?;
        let n_leaving = u32::try_from(leaving.len()).map_err(Error::internal)?;
        if leaving.is_empty() {
            return Ok(n_leaving);
        }
        let (_, ids) = self.installed(app, leaving.clone()).await?;
        let event = entrance.exited();
        let events = ids.into_iter().map(|id| about(id, event.clone())).collect();
        let leave = move |tx: &mut Tx<'_>| -> Result<()> { Ok(journeys::leave(tx, app, id, &leaving)?) };
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
