//! The follower of the log that notes which channels the records of each full section are about: one per app with a long log.

use base::Result;
use jobs::{ClaimedJob, Job, JobId, Stop};
use model::event::EventOffset;
use model::ids::{AppId, Id, Offset};
use serde::{Deserialize, Serialize};
use store::postings::{self, Section};
use store::{Tx, followers, log};
use uuid::Uuid;

use super::postings::Postings;
use crate::Events;

/// An app has one follower of this kind, so its id can be the same in all.
const NOTING: JobId = Id::from_uuid(Uuid::from_u128(0x716e));

/// Notes which channels the records of a section are about.
#[derive(Serialize, Deserialize)]
pub(crate) struct NoteSection {}

impl Job for NoteSection {
    type Room = Events;
    const NAME: &'static str = "note_section";

    /// Running it twice is harmless: the transaction that notes a section moves the follower to the next one, and does nothing if
    /// another run has done so.
    async fn run(self, events: &Events, claimed: &ClaimedJob, _: &Stop) -> Result<()> {
        let app = claimed.app;
        let read = move |tx: &mut Tx<'_>| {
            let (head, start) = (log::head(tx, app)?, log::start(tx, app)?);
            let Some(position) = followers::position(tx, app, NOTING)? else { return Ok(None) };
            // Sections that were deleted meanwhile are passed over.
            let section = awaited_by(position).max(Section::of(start));
            let is_full = section.last() <= head;
            let noted = is_full.then(|| Postings::of_log(tx, app, (section.first(), section.last())));
            Ok::<_, base::Error>(Some((position, section, noted.transpose()?)))
        };
        let Some((position, section, noted)) = events.0.store.read(read).await? else {
            return jobs::settle_alone(&events.0.store, claimed).await;
        };
        let (buckets, n_unreadable) = match noted {
            Some((postings, n_unreadable)) => (Some(postings.buckets(section)?), n_unreadable),
            None => (None, 0),
        };
        events.report_unreadable(app, n_unreadable).await;
        let (claimed, now) = (claimed.clone(), events.0.clock.now());
        let write = move |tx: &mut Tx<'_>| {
            let is_unmoved = followers::position(tx, app, NOTING)? == Some(position);
            if let Some(buckets) = buckets.clone().filter(|_| is_unmoved) {
                postings::insert(tx, app, buckets)?;
                followers::advance(tx, app, NOTING, awaiting(section.next()))?;
            }
            Ok::<_, base::Error>(followers::rest(tx, &claimed, now)?)
        };
        events.0.store.write(app, write).await
    }
}

impl Events {
    /// Begins to note the sections of an app, if its log has a full one and nobody does so far.
    pub async fn ensure_timelines(&self, app: AppId) -> Result<()> {
        let is_missing = move |tx: &mut Tx<'_>| {
            let (head, start) = (log::head(tx, app)?, log::start(tx, app)?);
            let is_long = Section::of(start).last() <= head;
            Ok::<_, base::Error>(is_long && followers::position(tx, app, NOTING)?.is_none())
        };
        if !self.0.store.read(is_missing).await? {
            return Ok(());
        }
        let now = self.0.clock.now();
        let begin = move |tx: &mut Tx<'_>| {
            let first = Section::of(log::start(tx, app)?);
            if followers::position(tx, app, NOTING)?.is_none() {
                followers::start(tx, app, NOTING, awaiting(first))?;
                jobs::enqueue_as(tx, app, NOTING, now, &NoteSection {})?;
            }
            Ok::<_, base::Error>(())
        };
        self.0.store.write(app, begin).await
    }
}

/// The position of a follower that waits until a section is full: right before its last record, so that nothing else wakes it.
const fn awaiting(section: Section) -> EventOffset {
    EventOffset::end_of(Offset(section.last().0 - 1))
}

const fn awaited_by(position: EventOffset) -> Section {
    Section::of(position.record())
}
