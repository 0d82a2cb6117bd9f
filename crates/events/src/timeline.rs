//! What happened to one channel or named user, newest first: what was sent to them, what they did, and how they changed.

mod changes;
mod entries;
mod follow;
mod person;
mod postings;
mod walk;

use std::collections::{BTreeSet, VecDeque};

use ::devices::ContactKey;
use base::{Error, Result};
use boxed::boxed;
use model::event::{EventOffset, RecordKind, TimelineKind, Told};
use model::ids::{AppId, ChannelId, NamedUserId, Offset};
use serde_json::value::RawValue;
use store::Tx;
use store::log::{self, Record};

use crate::stream::events_of;
use crate::{EventFilter, Events, PublicEvent};
use changes::Changes;
use entries::Entries;
use person::Person;
use walk::Walk;

pub(crate) use follow::NoteSection;

/// Records that are read at once, and for one page: some are about many channels, and not about the one that is asked for.
const PORTION: usize = 32;
const MOST_RECORDS: usize = 1_024;

/// Which part of a timeline is wanted.
#[derive(Clone, Debug)]
pub struct TimelineRequest {
    /// Only entries before this one.
    pub before: Option<EventOffset>,
    pub at_most: usize,
    pub kind: Option<TimelineKind>,
    /// Only events of these types.
    pub types: Option<BTreeSet<RecordKind>>,
}

/// Some entries, newest first.
pub struct TimelinePage {
    pub entries: Vec<Box<RawValue>>,
    /// Where to go on; `None` if there is nothing before. There may be fewer entries than were asked for, even none, although
    /// more follow.
    pub before: Option<EventOffset>,
}

struct Entry {
    offset: EventOffset,
    json: Box<RawValue>,
}

#[boxed]
impl Events {
    pub async fn channel_timeline(
        &self,
        app: AppId,
        channel: ChannelId,
        request: TimelineRequest,
    ) -> Result<TimelinePage> {
        self.timeline(app, request, move |tx| Person::of_channel(tx, app, channel)).await
    }

    /// Of the channels that are the user's and that were, while they were.
    pub async fn user_timeline(&self, app: AppId, user: NamedUserId, request: TimelineRequest) -> Result<TimelinePage> {
        self.timeline(app, request, move |tx| Person::of_user(tx, app, user.clone())).await
    }
}

impl Events {
    async fn timeline(
        &self,
        app: AppId,
        request: TimelineRequest,
        find: impl Fn(&mut Tx<'_>) -> Result<Person> + Send + 'static,
    ) -> Result<TimelinePage> {
        let contact_key = self.0.devices.contact_key(app).await?;
        let page = move |tx: &mut Tx<'_>| {
            let person = find(tx)?;
            let mut reading = Reading { app, contact_key: &contact_key, request: &request, n_unreadable: 0 };
            let page = reading.page(tx, &person)?;
            Ok::<_, Error>((page, reading.n_unreadable))
        };
        let (page, n_unreadable) = self.0.store.read(page).await?;
        self.report_unreadable(app, n_unreadable).await;
        Ok(page)
    }

    /// Counts and logs records that were passed over.
    async fn report_unreadable(&self, app: AppId, n_records: u64) {
        if n_records > 0 {
            self.0.metrics.records_unreadable(n_records);
            let key = self.0.tenancy.key_for_log(app).await;
            tracing::warn!(app = key, n_records, "records of the log cannot be read and are passed over");
        }
    }
}

struct Reading<'r> {
    app: AppId,
    contact_key: &'r ContactKey,
    request: &'r TimelineRequest,
    /// Records that were passed over.
    n_unreadable: u64,
}

/// The newest events of somebody.
struct Found {
    events: Vec<PublicEvent>,
    /// There may be more before this record; before the first of the log there is none.
    looked: Offset,
}

impl Reading<'_> {
    fn page(&mut self, tx: &mut Tx<'_>, person: &Person) -> Result<TimelinePage> {
        let at_most = self.request.at_most;
        let before = self.request.before.unwrap_or_else(|| EventOffset::from_number(i64::MAX));
        let start = log::start(tx, self.app)?;
        let kinds = self.kinds();
        let Found { events, looked } = if kinds.is_empty() {
            Found { events: Vec::new(), looked: start }
        } else {
            self.events(tx, person, before, &kinds)?
        };
        let changes = if self.shows_changes() {
            changes::newest(tx, self.app, person, before, at_most)?
        } else {
            Changes { entries: Vec::new(), looked: start }
        };
        // What was looked at on both sides.
        let looked = looked.max(changes.looked).max(start);
        let writing = Entries::of(tx, self.app, person, &events)?;
        let mut entries = changes.entries;
        for event in events {
            entries.extend(passed_over(writing.write(&event), &mut self.n_unreadable)?);
        }
        entries.retain(|entry| entry.offset >= EventOffset::new(looked, 0));
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.offset));
        let is_cut = entries.len() > at_most;
        let before = match entries.get(at_most.wrapping_sub(1)).filter(|_| is_cut) {
            Some(last) => Some(last.offset),
            None => (looked > start).then(|| EventOffset::new(looked, 0)),
        };
        // Entries of one offset stay together.
        let rest =
            before.filter(|_| is_cut).map_or(entries.len(), |last| entries.partition_point(|e| e.offset >= last));
        entries.truncate(rest);
        Ok(TimelinePage { entries: entries.into_iter().map(|entry| entry.json).collect(), before })
    }

    /// Whether changes are wanted that no event tells of.
    fn shows_changes(&self) -> bool {
        let TimelineRequest { kind, types, .. } = self.request;
        types.is_none() && kind.is_none_or(|kind| kind == TimelineKind::Change)
    }

    fn kinds(&self) -> BTreeSet<RecordKind> {
        let TimelineRequest { kind, types, .. } = self.request;
        let all = RecordKind::NUMBERED.into_iter().map(|(_, kind)| kind);
        let is_wanted = |of: &RecordKind| {
            Told::by(*of).is_some_and(|told| kind.is_none_or(|wanted| wanted == told.kind()))
                && types.as_ref().is_none_or(|types| types.contains(of))
        };
        all.filter(is_wanted).collect()
    }

    fn events(
        &mut self,
        tx: &mut Tx<'_>,
        person: &Person,
        before: EventOffset,
        kinds: &BTreeSet<RecordKind>,
    ) -> Result<Found> {
        let (subjects, filter) = (person.subjects(), person.filter(kinds.clone()));
        let mut walk = Walk::new(tx, self.app, &subjects, before.record())?;
        let mut found =
            Found { events: Vec::new(), looked: Offset(before.record().0.min(log::head(tx, self.app)?.0) + 1) };
        let (mut waiting, mut n_read) = (VecDeque::new(), 0);
        // One more than is asked for tells whether there are more.
        while found.events.len() <= self.request.at_most && n_read < MOST_RECORDS {
            if waiting.is_empty() {
                found.looked = Offset(walk.next().map_or(0, |next| next.0 + 1));
                if walk.next().is_none() {
                    break;
                }
                let more = walk.step(tx)?;
                self.n_unreadable += walk.take_unreadable();
                match more {
                    Some(more) => waiting = more.into(),
                    None => break,
                }
                continue;
            }
            let portion: Vec<Offset> = waiting.drain(..waiting.len().min(PORTION)).collect();
            n_read += portion.len();
            found.looked = portion.last().copied().unwrap_or(found.looked);
            let mut records = log::at_offsets(tx, self.app, &portion)?;
            records.retain(|record| kinds.contains(&record.kind));
            let events = self.shown(tx, person, records, &filter)?;
            found.events.extend(events.into_iter().filter(|event| event.offset < before));
        }
        Ok(found)
    }

    /// The events of some records that are about the person.
    fn shown(
        &mut self,
        tx: &mut Tx<'_>,
        person: &Person,
        records: Vec<Record>,
        filter: &EventFilter,
    ) -> Result<Vec<PublicEvent>> {
        let is_without_channel = |record: &Record| record.ordinal.is_none() && record.kind == RecordKind::Custom;
        let (mut of_user, of_channels): (Vec<_>, Vec<_>) = records.into_iter().partition(is_without_channel);
        let mut n_unreadable = 0;
        of_user.retain(|record| match postings::customer(&record.body) {
            Ok(customer) => customer.is_some() && customer == person.user,
            Err(_) => {
                n_unreadable += 1;
                false
            }
        });
        self.n_unreadable += n_unreadable;
        let mut events = self.readable(tx, of_channels, filter)?;
        events.extend(self.readable(tx, of_user, &EventFilter::everything())?);
        Ok(events)
    }

    /// The events of some records. If one of them cannot be read, the others are read without it.
    fn readable(&mut self, tx: &mut Tx<'_>, records: Vec<Record>, filter: &EventFilter) -> Result<Vec<PublicEvent>> {
        match events_of(tx, self.app, records.clone(), filter, self.contact_key) {
            Err(Error::Internal(_)) if records.len() > 1 => {}
            read => return Ok(passed_over(read, &mut self.n_unreadable)?.unwrap_or_default()),
        }
        let mut events = Vec::new();
        for record in records {
            let read = events_of(tx, self.app, vec![record], filter, self.contact_key);
            events.extend(passed_over(read, &mut self.n_unreadable)?.unwrap_or_default());
        }
        Ok(events)
    }
}

/// `None` and one more for a record that cannot be read.
fn passed_over<T>(read: Result<T>, n_unreadable: &mut u64) -> Result<Option<T>> {
    match read {
        Err(Error::Internal(_)) => {
            *n_unreadable += 1;
            Ok(None)
        }
        read => read.map(Some),
    }
}
