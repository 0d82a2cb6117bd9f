//! The effects of a stretch of the log on pipelines: which channels start to wait for them, and which stop.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use audience::codec;
use audience::index::Index;
use base::{Result, UnreadableRecord};
use model::event::RecordKind;
use model::ids::{AppId, EventId, Offset, TermId};
use model::journey::Movement;
use model::pipeline::Happening;
use model::term::{Term, TermsRecord};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use sending::Causes;
use store::log::Record;
use store::{Tx, terms};
use targeting::{PastSets, Planner};

use super::cancellation::Cancellation;
use super::conditions::{AskedAudiences, all_hold, ask_about_audiences};
use super::heard::Heard;
use super::timers::{Canceling, StandIns, Waiting, WaitingList};
use super::watch::{Aim, Watch, Watched, Wish};

/// The effect of a stretch of the log on one pipeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Effect {
    /// By due time, which may have passed.
    pub(super) waiting: BTreeMap<UtcMillis, Waiting>,
    /// What channels stop waiting for, by the last due time that is canceled.
    pub(super) canceled: BTreeMap<UtcMillis, Cancellation>,
    /// When the pipeline ends, if ever. All waiting channels were due before.
    pub(super) until: Option<UtcMillis>,
    pub(super) canceling: Canceling,
}

pub(super) type Effects = BTreeMap<WaitingList, Effect>;

/// A message whose cause is recorded this long after the message was due is not sent any more: it would be old news.
const TOO_LATE: Duration = Duration::from_secs(24 * 60 * 60);
/// An event recorded within this time counts as recorded at once.
const PROMPT: Duration = Duration::from_secs(10);

/// When something happened and when it was recorded, which is never earlier.
#[derive(Clone, Copy)]
struct Moment {
    occurred: UtcMillis,
    recorded: UtcMillis,
    /// The custom event, if it was one.
    event: Option<EventId>,
    /// What it did to the channel in a journey.
    movement: Option<Movement>,
}

/// Reads a stretch of the log.
pub(super) struct Reading<'a, 'c> {
    tx: &'a mut Tx<'c>,
    app: AppId,
    /// Knows the names of most terms, which saves asking the database.
    index: &'a Index,
    watch: &'a Watch,
    now: UtcMillis,
    /// The wishes about a channel losing a term, and about gaining it, in this order. A number keeps its meaning.
    interests: HashMap<TermId, [Vec<Wish>; 2]>,
    /// The earlier pushes that conditions ask about.
    past: PastSets,
    /// The audiences that they ask about.
    audiences: AskedAudiences,
    effects: Effects,
    unreadable: Vec<UnreadableRecord>,
}

impl<'a, 'c> Reading<'a, 'c> {
    pub(super) fn new(tx: &'a mut Tx<'c>, app: AppId, index: &'a Index, watch: &'a Watch, now: UtcMillis) -> Self {
        Self {
            tx,
            app,
            index,
            watch,
            now,
            interests: HashMap::new(),
            past: PastSets::default(),
            audiences: AskedAudiences::default(),
            effects: Effects::new(),
            unreadable: Vec::new(),
        }
    }

    /// Also the records that cannot be read, which have none.
    pub(super) fn effects_of(mut self, records: &[Record]) -> Result<(Effects, Vec<UnreadableRecord>)> {
        if ask_about_audiences(self.watch.conditions.iter().flatten()) {
            self.audiences = AskedAudiences::expecting(self.with_conditions(records)?);
        }
        for record in records {
            self.read(record)?;
        }
        Ok((self.effects, self.unreadable))
    }

    /// The channels that conditions may ask about.
    fn with_conditions(&mut self, records: &[Record]) -> Result<RoaringBitmap> {
        let mut channels: RoaringBitmap =
            records.iter().filter_map(|record| record.ordinal).map(|ordinal| ordinal.0).collect();
        for record in records.iter().filter(|record| record.kind == RecordKind::Terms) {
            for ((number, gained), alike) in self.alike(record)?.into_iter().flatten() {
                if self.interests(number, gained)?.iter().any(|wish| wish.conditions.is_some()) {
                    channels |= alike;
                }
            }
        }
        Ok(channels)
    }

    /// A clock that was ahead may have written a time that is still to come.
    fn recorded(&self, record: &Record) -> UtcMillis {
        record.at.min(self.now)
    }

    fn read(&mut self, record: &Record) -> Result<()> {
        if record.kind == RecordKind::Terms {
            return self.read_terms(record);
        }
        let Some(ordinal) = record.ordinal else { return Ok(()) };
        let Heard { occurred, event, movement, wishes } = match self.watch.hear(record) {
            Ok(heard) => heard,
            Err(error) => {
                self.unreadable.push(UnreadableRecord::of_json(record.offset, record.kind, &error));
                return Ok(());
            }
        };
        let recorded = self.recorded(record);
        let moment = Moment { occurred: occurred.min(recorded), recorded, event, movement };
        let channel = RoaringBitmap::from_iter([ordinal.0]);
        for wish in wishes {
            self.grant(wish, record.offset, moment, &channel)?;
        }
        Ok(())
    }

    /// The channels of a record by the terms that they have gained or lost, as far as a pipeline waits for that. Thousands may
    /// change alike in one record, and are granted together. `None` if it cannot be read.
    fn alike(&mut self, record: &Record) -> Result<Option<BTreeMap<(TermId, bool), RoaringBitmap>>> {
        let Ok(TermsRecord { changes, sets, .. }) = postcard::from_bytes(&record.body) else { return Ok(None) };
        let mut alike: BTreeMap<(TermId, bool), RoaringBitmap> = BTreeMap::new();
        for change in &changes {
            for (gained, numbers) in [(true, &change.added), (false, &change.removed)] {
                for number in numbers {
                    if !self.interests(*number, gained)?.is_empty() {
                        alike.entry((*number, gained)).or_default().insert(change.ordinal.0);
                    }
                }
            }
        }
        for set in &sets {
            for (gained, channels) in [(true, &set.added), (false, &set.removed)] {
                if !channels.is_empty() && !self.interests(set.term, gained)?.is_empty() {
                    let Ok(channels) = codec::decode(channels) else { return Ok(None) };
                    *alike.entry((set.term, gained)).or_default() |= channels;
                }
            }
        }
        Ok(Some(alike))
    }

    fn read_terms(&mut self, record: &Record) -> Result<()> {
        let Some(alike) = self.alike(record)? else {
            self.unreadable.push(UnreadableRecord::of_form(record.offset, record.kind));
            return Ok(());
        };
        let mut granted = Vec::new();
        for ((number, gained), channels) in &alike {
            granted.extend(self.interests(*number, *gained)?.iter().map(|wish| (*wish, channels)));
        }
        // Of the changes at the same moment, cancellations come last.
        granted.sort_by_key(|(wish, _)| matches!(wish.aim, Aim::Cancel));
        let recorded = self.recorded(record);
        let moment = Moment { occurred: recorded, recorded, event: None, movement: None };
        for (wish, channels) in granted {
            self.grant(wish, record.offset, moment, channels)?;
        }
        Ok(())
    }

    fn interests(&mut self, number: TermId, gained: bool) -> Result<&[Wish]> {
        if !self.interests.contains_key(&number) {
            // A term that this version does not know is none that a pipeline waits for.
            let term = match self.index.name_of(number).and_then(|(group, tag)| Term::from_key(&group, &tag)) {
                Some(term) => Some(term),
                None => terms::find_name(self.tx, self.app, number)?,
            };
            let of = |gained: bool| {
                let is_meant = |change: &Happening| term.as_ref().is_some_and(|term| change.is_change_of(term, gained));
                let meant = self.watch.changes.iter().filter(|(change, _)| is_meant(change));
                meant.map(|(_, wish)| *wish).collect()
            };
            self.interests.insert(number, [of(false), of(true)]);
        }
        Ok(&self.interests[&number][usize::from(gained)])
    }

    /// Notes that a trigger or cancellation of a pipeline happened to channels, if it counts at that time.
    fn grant(&mut self, wish: Wish, offset: Offset, moment: Moment, channels: &RoaringBitmap) -> Result<()> {
        let watch = self.watch;
        let pipeline = &watch.pipelines[wish.pipeline];
        let Moment { occurred, recorded, event, movement } = moment;
        let counts = offset > pipeline.since
            && (occurred == recorded || occurred >= pipeline.since_time.whole_second())
            && wish.active.contains(occurred)
            && pipeline.active.contains(occurred);
        if !counts {
            return Ok(());
        }
        let channels = self.for_whom_it_holds(wish, channels)?;
        let effect = self.effects.entry(pipeline.list).or_default();
        match wish.aim {
            Aim::SetOff => {
                let due = due(pipeline.delay, occurred);
                if recorded <= due.plus(TOO_LATE) && pipeline.active.contains(due.max(recorded)) {
                    (effect.until, effect.canceling) = (pipeline.active.until, pipeline.canceling);
                    let causes = event.map(|event| Causes::of(&channels, event)).unwrap_or_default();
                    let causes = if pipeline.is_personalized { causes.at(offset) } else { causes };
                    let causes = match movement {
                        Some(Movement::Enters(entrance)) => causes.entering(entrance),
                        Some(Movement::Leaves(_)) | None => causes,
                    };
                    effect.let_wait(due, Waiting { channels, causes });
                }
            }
            Aim::Cancel => {
                // Including channels whose trigger was recorded late and that are about to be sent to.
                let last = last_canceled(pipeline, moment).max(self.now);
                let left = match movement {
                    Some(Movement::Leaves(entrance)) => Some(entrance),
                    Some(Movement::Enters(_)) | None => None,
                };
                effect.cancel(last, Cancellation::of(&channels, left));
            }
        }
        Ok(())
    }

    /// The channels for which the conditions of a trigger hold.
    fn for_whom_it_holds(&mut self, wish: Wish, channels: &RoaringBitmap) -> Result<RoaringBitmap> {
        let watch = self.watch;
        let Some(conditions) = wish.conditions.and_then(|index| watch.conditions.get(index)) else {
            return Ok(channels.clone());
        };
        let mut planner = Planner::new(self.tx, self.app, self.index, self.now, Vec::new());
        planner.past = std::mem::take(&mut self.past);
        let held = all_hold(&mut planner, &mut self.audiences, conditions, channels)?;
        self.past = planner.past;
        Ok(held)
    }
}

impl Effect {
    /// Lets channels wait for an instant, or for one that stands in for it.
    fn let_wait(&mut self, due: UtcMillis, new: Waiting) {
        let mut apart = new;
        for instant in StandIns::Before.with(due) {
            apart = self.waiting.entry(instant).or_default().join(apart);
            if apart.channels.is_empty() {
                return;
            }
        }
        self.waiting.entry(due).or_default().add(&apart);
    }

    /// Lets channels stop waiting for what is due by an instant, here and in what has waited before.
    fn cancel(&mut self, last: UtcMillis, cancellation: Cancellation) {
        self.waiting.range_mut(..=last).for_each(|(_, waiting)| waiting.cancel(&cancellation));
        self.canceled.entry(last).or_default().add(cancellation);
    }
}

/// The due time of a message: in whole seconds, so that many are sent together.
fn due(delay: Duration, occurred: UtcMillis) -> UtcMillis {
    if delay.is_zero() {
        return occurred;
    }
    let exact = occurred.plus(delay).0;
    UtcMillis(exact.saturating_add(999).div_euclid(1000).saturating_mul(1000))
}

/// The last due time that a cancellation still cancels. A cancellation that is recorded late must not cancel channels that were
/// triggered after it happened. If every channel waits for exactly the delay of the pipeline, these are the channels that are due
/// later than one triggered at that moment. If channels may wait longer, the due time does not show it, and all are canceled: a
/// missing message does less harm than a wrong one.
fn last_canceled(pipeline: &Watched, Moment { occurred, recorded, .. }: Moment) -> UtcMillis {
    if recorded <= occurred.plus(PROMPT) || pipeline.waits_otherwise {
        return UtcMillis(i64::MAX);
    }
    due(pipeline.delay, occurred)
}

#[cfg(test)]
mod tests {
    use model::ids::{EntranceId, JourneyId};
    use model::journey::EntranceIds;

    use super::*;

    #[test]
    fn what_waits_is_looked_through_once_for_all_who_leave() {
        let journey = JourneyId::random();
        let mut effect = Effect::default();
        for number in 0..1_000 {
            let left = EntranceIds { journey, entrance: EntranceId::random() };
            effect.cancel(UtcMillis(i64::MAX), Cancellation::of(&RoaringBitmap::from_iter([number % 10]), Some(left)));
        }
        let canceled: Vec<_> = effect.canceled.values().map(Cancellation::channels).collect();
        assert_eq!(canceled, [RoaringBitmap::from_iter(0..10)]);
    }

    #[test]
    fn times_are_rounded_up_to_seconds() {
        let second = Duration::from_secs(1);
        for (delay, occurred, wanted) in
            [(Duration::ZERO, 1_500, 1_500), (second, 1_000, 2_000), (second, 1_001, 3_000), (second, 2_000, 3_000)]
        {
            assert_eq!(due(delay, UtcMillis(occurred)), UtcMillis(wanted), "{occurred}");
        }
    }
}
