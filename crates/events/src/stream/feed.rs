//! Events as they happen, for a client that reads at its own pace.

use base::{Error, Result};
use boxed::boxed;
use model::channel::ChannelRef;
use model::event::{EventConditions, EventOffset, EventRequest, EventStart};
use model::ids::AppId;
use store::{Tx, channels, log};
use tenancy::{Caller, News};

use super::{EventClause, EventFilter, EventPage};
use crate::Events;

const TOO_OLD: &str = "The events after this offset are not all kept any more; begin with the earliest that are.";

pub struct EventFeed {
    events: Events,
    caller: Caller,
    filter: EventFilter,
    position: EventOffset,
    news: News,
}

#[boxed]
impl Events {
    /// Opens a feed. Invalid filters are refused now.
    pub async fn event_feed(&self, caller: Caller, request: EventRequest) -> Result<EventFeed> {
        let app = caller.app().id;
        let news = self.0.tenancy.news(app);
        let prepare = move |tx: &mut Tx<'_>| {
            let clauses = request.filters.iter().map(|filter| clause(tx, app, filter)).collect::<Result<Vec<_>>>()?;
            let filter = if clauses.is_empty() { EventFilter::everything() } else { EventFilter::any_of(clauses) };
            let filter = filter.within(request.subset);
            Ok::<_, Error>((filter, position(tx, app, request.start)?))
        };
        let (filter, position) = self.0.store.read(prepare).await?;
        Ok(EventFeed { events: self.clone(), caller, filter, position, news })
    }
}

#[boxed]
impl EventFeed {
    /// Up to `at_most` events; waits until there are some. `None` once the caller has lost the right to them.
    pub async fn next(&mut self, at_most: usize) -> Result<Option<EventPage>> {
        while self.events.0.tenancy.is_current(&self.caller).await? {
            let page = self.read(at_most).await?;
            if !page.events.is_empty() {
                return Ok(Some(page));
            }
            self.events.0.tenancy.something_new(&mut self.news).await;
        }
        Ok(None)
    }

    /// Up to `at_most` events, without waiting. Fails when some were deleted before they could be read.
    pub async fn read(&mut self, at_most: usize) -> Result<EventPage> {
        loop {
            let app = self.caller.app().id;
            let page = self.events.read_events(app, self.position, at_most, &self.filter).await?;
            if page.missed > 0 {
                return Err(Error::Conflict(TOO_OLD.to_owned()));
            }
            self.position = page.looked;
            if page.is_end || !page.events.is_empty() {
                return Ok(page);
            }
        }
    }

    /// A client that resumes from here misses nothing.
    pub fn position(&self) -> EventOffset {
        self.position
    }
}

fn position(tx: &mut Tx<'_>, app: AppId, start: EventStart) -> Result<EventOffset> {
    let end = EventOffset::end_of(log::head(tx, app)?);
    match start {
        EventStart::Earliest => Ok(EventOffset::START),
        EventStart::Latest => Ok(end),
        EventStart::After(offset) if offset > end => {
            Err(Error::invalid("offset", "There has not been an event with this offset yet."))
        }
        EventStart::After(offset) => {
            if offset != EventOffset::START && offset < log::last_deleted(tx, app)? {
                return Err(Error::invalid("offset", TOO_OLD));
            }
            Ok(offset)
        }
    }
}

pub(super) fn clause(tx: &mut Tx<'_>, app: AppId, conditions: &EventConditions) -> Result<EventClause> {
    let channels = conditions.channels.as_ref().map(|named| {
        let ordinal = |named: &ChannelRef| {
            let found = channels::by_id(tx, app, named.id)?.filter(|channel| named.fits(&channel.device_type));
            let unknown = || Error::invalid("channel", format!("There is no channel {} in this app.", named.id));
            found.map(|channel| channel.ordinal.0).ok_or_else(unknown)
        };
        named.iter().map(ordinal).collect::<Result<_>>()
    });
    let users = conditions.named_users.as_ref();
    Ok(EventClause {
        kinds: conditions.kinds.clone(),
        channels: channels.transpose()?,
        device_types: conditions.device_types.clone(),
        named_users: users.map(|users| users.iter().map(|user| user.as_str().to_owned()).collect()),
        pushes: conditions.pushes.clone(),
        latency: conditions.latency,
        predicates: conditions.predicates.clone(),
    })
}
