//! The log as customers see it: whole events in the order in which they were recorded, a page at a time.

mod bodies;
mod devices;
mod feed;
mod filter;
mod gather;
mod newest;
mod write;

use ::devices::ContactKey;
use base::{Error, Result};
use boxed::boxed;
use bytes::Bytes;
use model::event::{EventOffset, RecordKind};
use model::ids::{AppId, ChannelId, EventId, Ordinal};
use sending::causes;
use store::Tx;
use store::log::Record;

use crate::Events;

pub use feed::EventFeed;
pub use filter::{EventClause, EventFilter};
pub use newest::{NewestEvents, NewestRequest};

/// Some events, oldest first.
pub struct EventPage {
    pub events: Vec<PublicEvent>,
    /// How far the log was read: a reader that continues from here misses nothing and gets nothing twice.
    pub looked: EventOffset,
    /// Whether that was all there is by now.
    pub is_end: bool,
    /// How many records were deleted for their age before they were read, of those after the offset that was asked for.
    pub missed: u64,
    lines: Bytes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicEvent {
    pub offset: EventOffset,
    pub kind: RecordKind,
    pub id: EventId,
    /// The channel that the event is about, if it is about one.
    pub channel: Option<ChannelId>,
    pub ordinal: Option<Ordinal>,
    /// The whole event as JSON. Part of the memory of its page.
    pub json: Bytes,
}

impl EventPage {
    /// All the events as text, one a line.
    pub fn lines(&self) -> &Bytes {
        &self.lines
    }
}

#[boxed]
impl Events {
    /// Up to `at_most` events after an offset. There may be fewer although more follow: then `is_end` is false and `looked` is
    /// where to continue.
    pub async fn read_events(
        &self,
        app: AppId,
        after: EventOffset,
        at_most: usize,
        filter: &EventFilter,
    ) -> Result<EventPage> {
        let filter = filter.clone();
        let contact_key = self.0.devices.contact_key(app).await?;
        let page = self
            .0
            .store
            .read(move |tx| {
                let gathered = gather::gather(tx, app, after, at_most, &filter)?;
                let (events, lines) = show(tx, app, &gathered, &contact_key)?;
                let gather::Gathered { looked, is_end, missed, .. } = gathered;
                Ok::<_, Error>(EventPage { events, looked, is_end, missed, lines })
            })
            .await?;
        if page.missed > 0 {
            // Logged once for each reader, which continues after the gap.
            let key = self.0.tenancy.key_for_log(app).await;
            tracing::warn!(app = key, records = page.missed, "events were deleted before somebody had read them");
        }
        Ok(page)
    }
}

/// The events that some records tell of and a filter accepts, as the stream shows them.
pub(crate) fn events_of(
    tx: &mut Tx<'_>,
    app: AppId,
    records: Vec<Record>,
    filter: &EventFilter,
    contact_key: &ContactKey,
) -> Result<Vec<PublicEvent>> {
    let gathered = gather::of_records(records, filter)?;
    Ok(show(tx, app, &gathered, contact_key)?.0)
}

/// The events of a page, and all of them together with a line break after each.
fn show(
    tx: &mut Tx<'_>,
    app: AppId,
    gathered: &gather::Gathered<'_>,
    contact_key: &ContactKey,
) -> Result<(Vec<PublicEvent>, Bytes)> {
    let mut devices = devices::read(tx, app, &gathered.shown(), contact_key.clone())?;
    let causes = causes::of_pushes(tx, app, &gathered.automated_pushes())?;
    write::write(contact_key, &gathered.records, &mut devices, &causes)
}
