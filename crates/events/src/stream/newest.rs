//! The newest events first, a page at a time, for people who look at what has just happened.

use base::{Error, Result};
use boxed::boxed;
use model::event::{EventConditions, EventOffset};
use model::ids::AppId;
use store::Tx;

use super::feed::clause;
use super::{EventFilter, PublicEvent, gather, show};
use crate::Events;

/// Which events are wanted.
#[derive(Clone, Debug)]
pub struct NewestRequest {
    /// Only events before this one.
    pub before: Option<EventOffset>,
    pub at_most: usize,
    pub conditions: EventConditions,
}

/// Some events, newest first.
pub struct NewestEvents {
    pub events: Vec<PublicEvent>,
    /// Where to go on; `None` if there is nothing before. There may be fewer events than were asked for, even none, although more
    /// follow.
    pub before: Option<EventOffset>,
}

#[boxed]
impl Events {
    pub async fn newest_events(&self, app: AppId, request: NewestRequest) -> Result<NewestEvents> {
        let contact_key = self.0.devices.contact_key(app).await?;
        let read = move |tx: &mut Tx<'_>| {
            let filter = EventFilter::any_of(vec![clause(tx, app, &request.conditions)?]);
            let before = request.before.unwrap_or_else(|| EventOffset::from_number(i64::MAX));
            let gathered = gather::newest(tx, app, before, request.at_most, &filter)?;
            let (mut events, _) = show(tx, app, &gathered, &contact_key)?;
            events.reverse();
            let before = (!gathered.is_end).then_some(gathered.looked);
            Ok::<_, Error>(NewestEvents { events, before })
        };
        self.0.store.read(read).await
    }
}
