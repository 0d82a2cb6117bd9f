//! Finding the records that a page of events is made of.

use std::collections::BTreeMap;

use audience::codec;
use base::{Error, Result};
use model::event::{EventOffset, Many, RecordKind, Rejection};
use model::ids::{AppId, Offset, Ordinal, PushId};
use model::payload::extra::TextExtra;
use roaring::RoaringBitmap;
use store::Tx;
use store::log::{self, Record};

use super::bodies;
use super::filter::{EventClause, EventFilter};

/// Records looked through for one page, so that rare events do not keep a connection busy for long.
const WINDOW: i64 = 20_000;
/// Records read at first: one about many channels can fill the page. Every further read takes more.
const FIRST_PORTION: u32 = 16;
const MORE: u32 = 4;
const LARGEST_PORTION: u32 = 1024;
/// The size of all bodies of a page, apart from the last.
const MOST_BYTES: usize = 1 << 20;

pub(super) struct Gathered<'f> {
    pub(super) records: Vec<PageRecord<'f>>,
    pub(super) looked: EventOffset,
    pub(super) is_end: bool,
    pub(super) missed: u64,
}

/// A record, and which events of it are on the page.
pub(super) struct PageRecord<'f> {
    pub(super) record: Record,
    pub(super) content: Content,
    /// The clauses that accept the record. Whether one of them also accepts the device is checked later.
    pub(super) clauses: Vec<&'f EventClause>,
}

pub(super) enum Content {
    One(OneShape),
    /// Channels with their indexes within the record.
    Many(Shared, Vec<(u32, Ordinal)>),
}

/// The part of a record about many channels that all of them share.
pub(super) struct Shared {
    pub(super) shape: ManyShape,
    pub(super) many: Many,
    pub(super) rest: Rest,
}

impl Shared {
    /// Also the channels of the record.
    fn read(record: &Record, shape: ManyShape) -> Result<(Self, RoaringBitmap)> {
        let (many, rest): (Many, _) = postcard::take_from_bytes(&record.body).map_err(Error::internal)?;
        let rest = match shape {
            _ if rest.is_empty() => Rest::Nothing,
            ManyShape::SendRejected => Rest::Rejection(postcard::from_bytes(rest).map_err(Error::internal)?),
            ManyShape::Send | ManyShape::Control | ManyShape::RichDelivery => {
                Rest::Extra(postcard::from_bytes(rest).map_err(Error::internal)?)
            }
        };
        let all = codec::decode(&many.ordinals).map_err(Error::internal)?;
        Ok((Self { shape, many, rest }, all))
    }
}

/// What follows in the record.
pub(super) enum Rest {
    Nothing,
    /// Of a message.
    Extra(TextExtra),
    Rejection(Rejection),
}

/// How the body of an event of at most one channel is made from its record.
#[derive(Clone, Copy)]
pub(super) enum OneShape {
    /// As it is stored.
    Stored,
    /// From the push as it was submitted.
    Push,
    /// With the id of the contact.
    Contact,
    /// There is no body.
    Empty,
}

/// The events of a record about many channels.
#[derive(Clone, Copy)]
pub(super) enum ManyShape {
    Send,
    Control,
    RichDelivery,
    SendRejected,
}

enum Shape {
    One(OneShape),
    Many(ManyShape),
    Hidden,
}

const fn shape(kind: RecordKind) -> Shape {
    match kind {
        RecordKind::Send => Shape::Many(ManyShape::Send),
        RecordKind::Control => Shape::Many(ManyShape::Control),
        RecordKind::RichDelivery => Shape::Many(ManyShape::RichDelivery),
        RecordKind::SendRejected => Shape::Many(ManyShape::SendRejected),
        RecordKind::FirstOpen | RecordKind::OpenOptIn => Shape::One(OneShape::Empty),
        RecordKind::ContactChange => Shape::One(OneShape::Contact),
        RecordKind::PushBody => Shape::One(OneShape::Push),
        RecordKind::Uninstall
        | RecordKind::TagChange
        | RecordKind::Open
        | RecordKind::Close
        | RecordKind::RichRead
        | RecordKind::RichDelete
        | RecordKind::Custom
        | RecordKind::Location
        | RecordKind::Region
        | RecordKind::ScreenViewed
        | RecordKind::InAppMessageDisplay
        | RecordKind::InAppMessageResolution
        | RecordKind::InAppMessageExpiration
        | RecordKind::InApp(_)
        | RecordKind::FlagInteraction
        | RecordKind::AttributeOperation
        | RecordKind::SubscriptionList
        | RecordKind::WebSession
        | RecordKind::WebClick => Shape::One(OneShape::Stored),
        RecordKind::Terms | RecordKind::Unrecognized | RecordKind::FirstOptIn | RecordKind::Live => Shape::Hidden,
    }
}

impl Gathered<'_> {
    /// The pushes on the page that pipelines sent to channels, and some others that are parts of a group.
    pub(super) fn automated_pushes(&self) -> BTreeMap<PushId, RoaringBitmap> {
        let mut pushes: BTreeMap<PushId, RoaringBitmap> = BTreeMap::new();
        for on_page in &self.records {
            match &on_page.content {
                Content::Many(Shared { shape: ManyShape::Send, many: Many { push, .. }, .. }, channels)
                    if push.group_id.is_some() && push.experiment_id.is_none() =>
                {
                    pushes.entry(push.push_id).or_default().extend(channels.iter().map(|(_, ordinal)| ordinal.0));
                }
                Content::Many(..) | Content::One(_) => {}
            }
        }
        pushes
    }

    /// The channels on the page, each with where in the log it is shown.
    pub(super) fn shown(&self) -> Vec<(Ordinal, Offset)> {
        let mut shown = Vec::new();
        for PageRecord { record, content, .. } in &self.records {
            match content {
                Content::One(_) => shown.extend(record.ordinal.map(|ordinal| (ordinal, record.offset))),
                Content::Many(_, channels) => {
                    shown.extend(channels.iter().map(|(_, ordinal)| (*ordinal, record.offset)));
                }
            }
        }
        shown
    }
}

pub(super) fn gather<'f>(
    tx: &mut Tx<'_>,
    app: AppId,
    after: EventOffset,
    at_most: usize,
    filter: &'f EventFilter,
) -> Result<Gathered<'f>> {
    let head = log::head(tx, app)?;
    let done = after.records_done();
    let mut from = done.max(Offset(log::start(tx, app)?.0 - 1));
    // A reader from the beginning starts with the oldest record that is kept.
    let is_behind = from > done && after != EventOffset::START && after < log::last_deleted(tx, app)?;
    let missed = if is_behind { u64::try_from(from.0 - done.0).unwrap_or(0) } else { 0 };
    let until = head.min(Offset(from.0 + WINDOW));
    if filter.kinds().is_empty() {
        let looked = EventOffset::end_of(head).max(after);
        return Ok(Gathered { records: Vec::new(), looked, is_end: true, missed });
    }
    let mut page = Page { after, room: at_most, records: Vec::new(), filter };
    let mut n_bytes = 0;
    let mut portion = FIRST_PORTION;
    let looked = loop {
        let (mut records, mut n_found) = (Vec::new(), 0);
        log::visit_kinds(tx, app, from, until, filter.kinds(), portion, |row| {
            n_found += 1;
            // The rest of the portion is not even copied: some bodies are large.
            if n_bytes < MOST_BYTES {
                n_bytes += row.body.len();
                records.push(Record::from(row));
            }
            Ok(())
        })?;
        let is_cut = records.len() < n_found;
        from = records.last().map_or(from, |last| last.offset);
        if let Some(looked) = records.into_iter().map(|record| page.take(record)).find_map(Result::transpose) {
            break looked?;
        }
        if is_cut {
            break EventOffset::end_of(from);
        }
        if n_found < portion as usize {
            break EventOffset::end_of(until);
        }
        portion = (portion * MORE).min(LARGEST_PORTION);
    };
    let looked = looked.max(after);
    Ok(Gathered { records: page.records, looked, is_end: looked.records_done() >= head, missed })
}

/// The newest events before an offset, oldest first. `looked` is where to go on backwards, and `is_end` says that nothing is left.
pub(super) fn newest<'f>(
    tx: &mut Tx<'_>,
    app: AppId,
    before: EventOffset,
    at_most: usize,
    filter: &'f EventFilter,
) -> Result<Gathered<'f>> {
    let (start, head) = (log::start(tx, app)?, log::head(tx, app)?);
    let mut last = before.record().min(head);
    let first = start.max(Offset(last.0 - WINDOW + 1));
    let mut page = Page { after: EventOffset::START, room: at_most, records: Vec::new(), filter };
    let (mut portion, mut n_bytes) = (FIRST_PORTION, 0);
    let looked = 'reading: loop {
        let records = log::newest_of_kinds(tx, app, (first, last), filter.kinds(), portion)?;
        let is_last = records.len() < portion as usize;
        for record in records {
            n_bytes += record.body.len();
            let offset = record.offset;
            last = Offset(offset.0 - 1);
            if let Some(reached) = page.take_last(record, before)? {
                break 'reading reached;
            }
            if n_bytes >= MOST_BYTES {
                break 'reading EventOffset::new(offset, 0);
            }
        }
        if is_last {
            break EventOffset::new(first, 0);
        }
        portion = (portion * MORE).min(LARGEST_PORTION);
    };
    page.records.reverse();
    Ok(Gathered { records: page.records, looked, is_end: looked <= EventOffset::new(start, 0), missed: 0 })
}

/// All events of some records that a filter accepts.
pub(super) fn of_records(records: Vec<Record>, filter: &EventFilter) -> Result<Gathered<'_>> {
    let mut page = Page { after: EventOffset::START, room: usize::MAX, records: Vec::new(), filter };
    let mut looked = EventOffset::START;
    for record in records {
        looked = looked.max(EventOffset::end_of(record.offset));
        page.take(record)?;
    }
    Ok(Gathered { records: page.records, looked, is_end: false, missed: 0 })
}

struct Page<'f> {
    after: EventOffset,
    room: usize,
    records: Vec<PageRecord<'f>>,
    filter: &'f EventFilter,
}

impl Page<'_> {
    /// Takes the events of a record as far as there is room. If there was not enough, returns up to where they were taken.
    fn take(&mut self, record: Record) -> Result<Option<EventOffset>> {
        match shape(record.kind) {
            Shape::One(shape) => self.take_one(record, shape),
            Shape::Many(shape) => self.take_many(record, shape),
            Shape::Hidden => Ok(None),
        }
    }

    fn take_one(&mut self, record: Record, shape: OneShape) -> Result<Option<EventOffset>> {
        if EventOffset::new(record.offset, 0) <= self.after {
            return Ok(None);
        }
        let mut clauses = self.filter.accepting(record.kind);
        if clauses.iter().any(|clause| clause.pushes.is_some()) {
            let mentioned = bodies::mentioned_pushes(&record.body)?;
            clauses.retain(|clause| clause.accepts_pushes(mentioned.iter().copied()));
        }
        if clauses.iter().any(|clause| clause.latency.is_some()) {
            let occurred = bodies::occurred(&record.body)?;
            clauses.retain(|clause| clause.accepts_latency(occurred, record.at));
        }
        clauses.retain(|clause| match (record.ordinal, &clause.channels) {
            (Some(ordinal), Some(channels)) => channels.contains(ordinal.0),
            (Some(_), None) => true,
            (None, _) => clause.accepts_no_channel(),
        });
        let own_number = || u32::try_from(record.offset.0 & i64::from(u32::MAX)).unwrap_or_default();
        let number = record.ordinal.map_or_else(own_number, |ordinal| ordinal.0);
        if clauses.is_empty() || !self.filter.is_in_subset(number) {
            return Ok(None);
        }
        if self.room == 0 {
            return Ok(Some(before(record.offset, 0)));
        }
        self.room -= 1;
        self.records.push(PageRecord { record, content: Content::One(shape), clauses });
        Ok(None)
    }

    fn take_many(&mut self, record: Record, shape: ManyShape) -> Result<Option<EventOffset>> {
        let (shared, all) = Shared::read(&record, shape)?;
        let mut clauses = self.filter.accepting(record.kind);
        let (push, occurred) = (&shared.many.push, shared.many.occurred);
        clauses.retain(|clause| {
            clause.accepts_pushes(bodies::pushes_of(push)) && clause.accepts_latency(occurred, record.at)
        });
        let next_index = self.after.next_index_in(record.offset);
        let Some(first) = all.select(next_index) else { return Ok(None) };
        let wanted = self.filter.among(&all, &clauses);
        let is_all = wanted.len() == all.len();
        let mut channels = Vec::new();
        let mut full = None;
        for (index_of_all, ordinal) in (next_index..).zip(wanted.range(first..)) {
            // Counting is quick for all of them, ranks (which begin with 1) for a few.
            let rank = || u32::try_from(all.rank(ordinal).saturating_sub(1)).unwrap_or(u32::MAX);
            let index = if is_all { index_of_all } else { rank() };
            if self.room == 0 {
                full = Some(before(record.offset, index));
                break;
            }
            self.room -= 1;
            channels.push((index, Ordinal(ordinal)));
        }
        if !channels.is_empty() {
            self.records.push(PageRecord { record, content: Content::Many(shared, channels), clauses });
        }
        Ok(full)
    }

    /// Takes the last events of a record before an offset. If there is no room left after that, returns the first that was taken.
    fn take_last(&mut self, record: Record, before: EventOffset) -> Result<Option<EventOffset>> {
        let offset = record.offset;
        let first_index = match shape(record.kind) {
            Shape::One(shape) => {
                if EventOffset::new(offset, 0) < before {
                    self.take_one(record, shape)?;
                }
                0
            }
            Shape::Many(shape) => self.take_last_of_many(record, shape, before)?,
            Shape::Hidden => 0,
        };
        Ok((self.room == 0).then(|| EventOffset::new(offset, first_index)))
    }

    /// The index of the first that was taken.
    fn take_last_of_many(&mut self, record: Record, shape: ManyShape, before: EventOffset) -> Result<u32> {
        let (shared, all) = Shared::read(&record, shape)?;
        let mut clauses = self.filter.accepting(record.kind);
        let (push, occurred) = (&shared.many.push, shared.many.occurred);
        clauses.retain(|clause| {
            clause.accepts_pushes(bodies::pushes_of(push)) && clause.accepts_latency(occurred, record.at)
        });
        let n_before = match record.offset == before.record() {
            true => before.next_index_in(record.offset).saturating_sub(1),
            false => u32::MAX,
        };
        let wanted = self.filter.among(&all, &clauses);
        let end = all.select(n_before).map_or(u64::from(u32::MAX) + 1, u64::from);
        let last = wanted.iter().rev().filter(|ordinal| u64::from(*ordinal) < end).take(self.room);
        // Ranks begin with 1.
        let index = |ordinal: u32| u32::try_from(all.rank(ordinal).saturating_sub(1)).unwrap_or(u32::MAX);
        let mut channels: Vec<(u32, Ordinal)> = last.map(|ordinal| (index(ordinal), Ordinal(ordinal))).collect();
        channels.reverse();
        let first_index = channels.first().map_or(0, |(index, _)| *index);
        self.room -= channels.len();
        if !channels.is_empty() {
            self.records.push(PageRecord { record, content: Content::Many(shared, channels), clauses });
        }
        Ok(first_index)
    }
}

/// The offset after everything before an index in a record.
const fn before(record: Offset, index: u32) -> EventOffset {
    if index == 0 { EventOffset::end_of(Offset(record.0 - 1)) } else { EventOffset::new(record, index - 1) }
}
