//! What a stretch of the log means for pipelines: who waits for them from then on, and who no longer does.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use audience::codec;
use audience::index::Index;
use model::event::{Custom, Event, RecordKind, Region};
use model::ids::{AppId, PipelineId, TermId};
use model::pipeline::{EventSelector, Subject};
use model::term::{Term, TermsRecord};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use serde::Deserialize;
use store::log::Record;
use store::{Tx, terms};

use super::watch::{Aim, Watch, Wish};
use crate::{Error, Result};

/// What a stretch of the log means for one pipeline. Whoever is canceled leaves what they have waited for before the stretch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Effect {
    pub(super) waiting: BTreeMap<UtcMillis, RoaringBitmap>,
    pub(super) canceled: RoaringBitmap,
}

pub(super) type Effects = BTreeMap<PipelineId, Effect>;

/// Reads a stretch of the log.
pub(super) struct Reading<'a, 'c> {
    tx: &'a mut Tx<'c>,
    app: AppId,
    /// Knows the names of most terms, which saves asking the database.
    index: &'a Index,
    watch: &'a Watch,
    now: UtcMillis,
    /// Who wants to know when a channel gains a term, and when it loses it. A number keeps its meaning.
    interests: HashMap<TermId, [Vec<Wish>; 2]>,
    effects: Effects,
}

impl<'a, 'c> Reading<'a, 'c> {
    pub(super) fn new(tx: &'a mut Tx<'c>, app: AppId, index: &'a Index, watch: &'a Watch, now: UtcMillis) -> Self {
        Self { tx, app, index, watch, now, interests: HashMap::new(), effects: Effects::new() }
    }

    pub(super) fn effects_of(mut self, records: &[Record]) -> Result<Effects> {
        for record in records {
            self.read(record)?;
        }
        Ok(self.effects)
    }

    fn read(&mut self, record: &Record) -> Result<()> {
        if record.kind == RecordKind::Terms {
            return self.read_terms(record);
        }
        let Some(ordinal) = record.ordinal else { return Ok(()) };
        let channel = RoaringBitmap::from_iter([ordinal.0]);
        for wish in self.wishes(record)? {
            self.grant(wish, record, &channel);
        }
        Ok(())
    }

    /// Who wants to know of a record about one channel.
    fn wishes(&self, record: &Record) -> Result<Vec<Wish>> {
        Ok(match record.kind {
            RecordKind::Open => self.watch.opens.clone(),
            RecordKind::FirstOpen => self.watch.first_opens.clone(),
            RecordKind::Custom => self.wishes_for_event(&record.body)?,
            RecordKind::Region => {
                let event: Event<Region> = serde_json::from_slice(&record.body).map_err(Error::internal)?;
                let is_meant = |selector: &Option<EventSelector>| {
                    selector.as_ref().is_none_or(|selector| selector.matches(Subject::Region(&event.body)))
                };
                let meant = self.watch.regions.iter();
                let meant = meant.filter(|(action, selector, _)| *action == event.body.action && is_meant(selector));
                meant.map(|(_, _, wish)| *wish).collect()
            }
            RecordKind::Terms
            | RecordKind::PushBody
            | RecordKind::Send
            | RecordKind::Uninstall
            | RecordKind::TagChange
            | RecordKind::Control
            | RecordKind::Close
            | RecordKind::RichDelivery
            | RecordKind::RichRead
            | RecordKind::RichDelete
            | RecordKind::Location
            | RecordKind::ScreenViewed
            | RecordKind::InAppMessageDisplay
            | RecordKind::InAppMessageResolution
            | RecordKind::InAppMessageExpiration
            | RecordKind::Unrecognized => Vec::new(),
        })
    }

    fn wishes_for_event(&self, body: &[u8]) -> Result<Vec<Wish>> {
        let EventName { body: Name { name } } = serde_json::from_slice(body).map_err(Error::internal)?;
        let named = self.watch.named_events.get(&name);
        if named.is_none() && self.watch.other_events.is_empty() {
            return Ok(Vec::new());
        }
        let event: Event<Custom> = serde_json::from_slice(body).map_err(Error::internal)?;
        let wanted = named.into_iter().flatten().chain(&self.watch.other_events);
        let wanted = wanted.filter(|(selector, _)| selector.matches(Subject::Custom(&event.body)));
        Ok(wanted.map(|(_, wish)| *wish).collect())
    }

    fn read_terms(&mut self, record: &Record) -> Result<()> {
        let TermsRecord { changes, sets, .. } = postcard::from_bytes(&record.body).map_err(Error::internal)?;
        // Thousands of channels may change alike in one record, and are granted together.
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
                    *alike.entry((set.term, gained)).or_default() |=
                        codec::decode(channels).map_err(Error::internal)?;
                }
            }
        }
        let mut granted = Vec::new();
        for ((number, gained), channels) in &alike {
            granted.extend(self.interests(*number, *gained)?.iter().map(|wish| (*wish, channels)));
        }
        // Of what happens at the same moment, cancellations come last.
        granted.sort_by_key(|(wish, _)| matches!(wish.aim, Aim::Cancel));
        for (wish, channels) in granted {
            self.grant(wish, record, channels);
        }
        Ok(())
    }

    fn interests(&mut self, number: TermId, gained: bool) -> Result<&[Wish]> {
        if !self.interests.contains_key(&number) {
            let term = match self.index.name(number).and_then(|(group, tag)| Term::from_key(&group, &tag)) {
                Some(term) => term,
                None => terms::name(self.tx, self.app, number)?,
            };
            let of = |gained: bool| {
                let meant = self.watch.changes.iter().filter(|(change, _)| change.is_change_of(&term, gained));
                meant.map(|(_, wish)| *wish).collect()
            };
            self.interests.insert(number, [of(false), of(true)]);
        }
        Ok(&self.interests[&number][usize::from(gained)])
    }

    /// Notes that channels did what a pipeline waits for, if it does at that time.
    fn grant(&mut self, wish: Wish, record: &Record, channels: &RoaringBitmap) {
        let pipeline = &self.watch.pipelines[wish.pipeline];
        let counts =
            record.offset > pipeline.since && wish.active.contains(record.at) && pipeline.active.contains(record.at);
        if !counts {
            return;
        }
        let effect = self.effects.entry(pipeline.id).or_default();
        match wish.aim {
            Aim::SetOff => *effect.waiting.entry(due(pipeline.delay, record.at, self.now)).or_default() |= channels,
            Aim::Cancel => {
                effect.waiting.values_mut().for_each(|waiting| *waiting -= channels);
                effect.canceled |= channels;
            }
        }
    }
}

/// The name of a custom event, for those that interest nobody otherwise.
#[derive(Deserialize)]
struct EventName {
    body: Name,
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

/// When something is to be sent: in whole seconds, so that many are sent together; at once if that has passed.
fn due(delay: Duration, at: UtcMillis, now: UtcMillis) -> UtcMillis {
    if delay.is_zero() {
        return now;
    }
    let exact = at.plus(delay).0;
    UtcMillis(exact.saturating_add(999).div_euclid(1000).saturating_mul(1000)).max(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up_to_seconds_and_never_past() {
        let second = Duration::from_secs(1);
        for (delay, at, now, wanted) in [
            (Duration::ZERO, 1_500, 1_700, 1_700),
            (second, 1_000, 1_001, 2_000),
            (second, 1_001, 1_001, 3_000),
            (second, 1_001, 3_000, 3_000),
            (second, 1_001, 9_123, 9_123),
        ] {
            assert_eq!(due(delay, UtcMillis(at), UtcMillis(now)), UtcMillis(wanted), "{at} {now}");
        }
    }
}
