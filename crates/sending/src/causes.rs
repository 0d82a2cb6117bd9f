//! The custom events that caused automated messages, channel by channel, shown in their SEND events.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use audience::block::blocks;
use base::{Error, Result};
use model::ids::{AppId, EntranceId, EventId, JourneyId, Offset, PushId};
use model::journey::EntranceIds;
use roaring::RoaringBitmap;
use serde::de::DeserializeOwned;
use store::{Tx, push_causes};

/// Custom events by the ordinals of the channels that they triggered something for. Of several the last counts. Events come one
/// by one, so this is never larger than the events themselves. Channels triggered by anything else have no entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Causes {
    events: BTreeMap<u32, EventId>,
    /// Where these events are in the log, if messages are filled in with their properties.
    offsets: BTreeMap<EventId, Offset>,
    /// The entrance of a journey, for channels whose event is that they entered it.
    entrances: BTreeMap<u32, EntranceIds>,
}

/// The stored form of entrances: their channels, by journey and entrance.
type ByJourney = BTreeMap<JourneyId, BTreeMap<EntranceId, Vec<u32>>>;

impl Causes {
    pub fn of(channels: &RoaringBitmap, event: EventId) -> Self {
        let events = channels.iter().map(|ordinal| (ordinal, event)).collect();
        Self { events, ..Self::default() }
    }

    /// The same with the place of the event in the log.
    pub fn at(self, offset: Offset) -> Self {
        let offsets = self.events.values().map(|event| (*event, offset)).collect();
        Self { offsets, ..self }
    }

    /// The same, if the event is that the channels have entered a journey.
    pub fn entering(self, entrance: EntranceIds) -> Self {
        let entrances = self.events.keys().map(|ordinal| (*ordinal, entrance)).collect();
        Self { entrances, ..self }
    }

    pub fn get(&self, ordinal: u32) -> Option<EventId> {
        self.events.get(&ordinal).copied()
    }

    /// Where an event is in the log, if that is kept.
    pub fn offset(&self, event: EventId) -> Option<Offset> {
        self.offsets.get(&event).copied()
    }

    /// By which entrance a channel has entered a journey, if that is its cause.
    pub fn entrance(&self, ordinal: u32) -> Option<EntranceIds> {
        self.entrances.get(&ordinal).copied()
    }

    pub fn add(&mut self, others: &Causes) {
        for ordinal in others.events.keys() {
            self.entrances.remove(ordinal);
        }
        self.entrances.extend(&others.entrances);
        self.events.extend(&others.events);
        self.offsets.extend(&others.offsets);
    }

    pub fn remove(&mut self, channels: &RoaringBitmap) {
        self.events.retain(|ordinal, _| !channels.contains(*ordinal));
        self.entrances.retain(|ordinal, _| !channels.contains(*ordinal));
        self.forget_offsets();
    }

    /// The entries of some channels.
    pub fn within(&self, channels: &RoaringBitmap) -> Self {
        let events = self.events.iter().filter(|(ordinal, _)| channels.contains(**ordinal));
        let events = events.map(|(ordinal, event)| (*ordinal, *event)).collect();
        let entrances = self.entrances.iter().filter(|(ordinal, _)| channels.contains(**ordinal));
        let entrances = entrances.map(|(ordinal, entrance)| (*ordinal, *entrance)).collect();
        let mut within = Self { events, offsets: self.offsets.clone(), entrances };
        within.forget_offsets();
        within
    }

    /// Forgets those of events that caused nothing any more.
    fn forget_offsets(&mut self) {
        if !self.offsets.is_empty() {
            let left: BTreeSet<EventId> = self.events.values().copied().collect();
            self.offsets.retain(|event, _| left.contains(event));
        }
    }

    /// `None` when there are none.
    pub fn encode(&self) -> Result<Option<Vec<u8>>> {
        if self.events.is_empty() {
            return Ok(None);
        }
        let mut bytes = postcard::to_stdvec(&self.events).map_err(Error::internal)?;
        // Behind what versions without offsets read, and what those without entrances read.
        if !self.offsets.is_empty() || !self.entrances.is_empty() {
            bytes.extend(postcard::to_stdvec(&self.offsets).map_err(Error::internal)?);
        }
        if !self.entrances.is_empty() {
            let mut journeys = ByJourney::new();
            for (ordinal, EntranceIds { journey, entrance }) in &self.entrances {
                journeys.entry(*journey).or_default().entry(*entrance).or_default().push(*ordinal);
            }
            bytes.extend(postcard::to_stdvec(&journeys).map_err(Error::internal)?);
        }
        Ok(Some(bytes))
    }

    pub fn decode(bytes: Option<&[u8]>) -> Result<Self> {
        let Some(bytes) = bytes else { return Ok(Self::default()) };
        let (events, rest) = first_part(bytes)?;
        let (offsets, rest) = first_part(rest)?;
        let (journeys, _) = first_part::<ByJourney>(rest)?;
        let mut entrances = BTreeMap::new();
        for (journey, of_journey) in journeys {
            for (entrance, channels) in of_journey {
                let ids = EntranceIds { journey, entrance };
                entrances.extend(channels.into_iter().map(|ordinal| (ordinal, ids)));
            }
        }
        Ok(Self { events, offsets, entrances })
    }

    /// Keeps them with a push that goes to some channels. Nothing depends on entrances any more once a push is made.
    pub fn keep(&self, tx: &mut Tx<'_>, app: AppId, push: PushId, channels: &RoaringBitmap) -> Result<()> {
        if self.events.is_empty() {
            return Ok(());
        }
        for (block, channels) in blocks(channels) {
            let causes = Self { entrances: BTreeMap::new(), ..self.within(&channels) };
            if let Some(causes) = causes.encode()? {
                push_causes::insert(tx, app, push, block.0, causes)?;
            }
        }
        Ok(())
    }
}

/// The part that bytes begin with, and the rest; an empty one at their end.
fn first_part<T: DeserializeOwned + Default>(bytes: &[u8]) -> Result<(T, &[u8])> {
    match bytes.is_empty() {
        true => Ok((T::default(), bytes)),
        false => postcard::take_from_bytes(bytes).map_err(Error::internal),
    }
}

/// The stored causes of pushes, for some of their channels.
pub fn of_pushes(
    tx: &mut Tx<'_>,
    app: AppId,
    pushes: &BTreeMap<PushId, RoaringBitmap>,
) -> Result<HashMap<PushId, Causes>> {
    let mut found: HashMap<PushId, Causes> = HashMap::new();
    for (push, channels) in pushes {
        for (block, channels) in blocks(channels) {
            if let Some(part) = push_causes::of(tx, app, *push, block.0)? {
                found.entry(*push).or_default().add(&Causes::decode(Some(&part))?.within(&channels));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_survive_storage() {
        let [first, second] = [EventId::random(), EventId::random()];
        let mut causes = Causes::of(&[1, 70_000].into_iter().collect(), first);
        causes.add(&Causes::of(&[70_000, 3].into_iter().collect(), second));
        causes.remove(&[3].into_iter().collect());
        let bytes = causes.encode().unwrap();
        assert_eq!(Causes::decode(bytes.as_deref()).unwrap(), causes);
        assert_eq!((causes.get(1), causes.get(3), causes.get(70_000)), (Some(first), None, Some(second)));
        let few = causes.within(&[1, 2].into_iter().collect());
        assert_eq!((few.get(1), few.get(70_000)), (Some(first), None));
        assert_eq!(few.offset(first), None);
        let told = Causes::of(&[1, 2].into_iter().collect(), first).at(Offset(300));
        let bytes = told.encode().unwrap().unwrap();
        assert_eq!(Causes::decode(Some(&bytes)).unwrap(), told);
        let known_before: BTreeMap<u32, EventId> = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(known_before, told.events, "versions before read what they know");
        let journey = JourneyId::random();
        let [one, other] = [(); 2].map(|()| EntranceIds { journey, entrance: EntranceId::random() });
        let elsewhere = EntranceIds { journey: JourneyId::random(), ..one };
        let mut entered = Causes::of(&[1, 2].into_iter().collect(), first).entering(one);
        entered.add(&Causes::of(&[2, 3].into_iter().collect(), second).entering(other));
        entered.add(&Causes::of(&[5].into_iter().collect(), second).entering(elsewhere));
        let bytes = entered.encode().unwrap().unwrap();
        let read = Causes::decode(Some(&bytes)).unwrap();
        assert_eq!(read, entered);
        assert_eq!([1, 2, 3, 4].map(|number| read.entrance(number)), [Some(one), Some(other), Some(other), None]);
        assert_eq!(read.entrance(5), Some(elsewhere));
        let (known_before, rest): (BTreeMap<u32, EventId>, _) = postcard::take_from_bytes(&bytes).unwrap();
        let offsets: BTreeMap<EventId, Offset> = postcard::from_bytes(rest).unwrap();
        assert_eq!(
            (&known_before, offsets),
            (&entered.events, BTreeMap::new()),
            "as versions without entrances read it"
        );
        entered.add(&Causes::of(&[1].into_iter().collect(), second));
        entered.remove(&[3].into_iter().collect());
        assert_eq!([1, 2, 3].map(|number| entered.entrance(number)), [None, Some(other), None]);
        causes.add(&told);
        assert_eq!(causes.offset(first), Some(Offset(300)));
        causes.remove(&[1, 2].into_iter().collect());
        assert_eq!((causes.get(70_000), causes.offset(first)), (Some(second), None));
        assert_eq!(Causes::default().encode().unwrap(), None);
        assert_eq!(Causes::decode(None).unwrap(), Causes::default());
    }
}
