//! The custom events that caused automated messages, channel by channel, shown in their SEND events.

use std::collections::{BTreeMap, HashMap};

use audience::block::blocks;
use base::{Error, Result};
use model::ids::{AppId, EventId, PushId};
use roaring::RoaringBitmap;
use store::{Tx, push_causes};

/// Custom events by the ordinals of the channels that they triggered something for. Of several the last counts. Events come one
/// by one, so this is never larger than the events themselves. Channels triggered by anything else have no entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Causes(BTreeMap<u32, EventId>);

impl Causes {
    pub fn of(channels: &RoaringBitmap, event: EventId) -> Self {
        Self(channels.iter().map(|ordinal| (ordinal, event)).collect())
    }

    pub fn get(&self, ordinal: u32) -> Option<EventId> {
        self.0.get(&ordinal).copied()
    }

    pub fn add(&mut self, others: &Causes) {
        self.0.extend(&others.0);
    }

    pub fn remove(&mut self, channels: &RoaringBitmap) {
        self.0.retain(|ordinal, _| !channels.contains(*ordinal));
    }

    /// The entries of some channels.
    pub fn within(&self, channels: &RoaringBitmap) -> Self {
        Self(self.0.iter().filter(|(ordinal, _)| channels.contains(**ordinal)).map(|(key, id)| (*key, *id)).collect())
    }

    /// `None` when there are none.
    pub fn encode(&self) -> Result<Option<Vec<u8>>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        postcard::to_stdvec(&self.0).map(Some).map_err(Error::internal)
    }

    pub fn decode(bytes: Option<&[u8]>) -> Result<Self> {
        let decoded = bytes.map(postcard::from_bytes).transpose().map_err(Error::internal)?;
        Ok(Self(decoded.unwrap_or_default()))
    }

    /// Keeps them with a push that goes to some channels.
    pub fn keep(&self, tx: &mut Tx<'_>, app: AppId, push: PushId, channels: &RoaringBitmap) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        for (block, channels) in blocks(channels) {
            if let Some(causes) = self.within(&channels).encode()? {
                push_causes::insert(tx, app, push, block.0, causes)?;
            }
        }
        Ok(())
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
        assert_eq!(Causes::default().encode().unwrap(), None);
        assert_eq!(Causes::decode(None).unwrap(), Causes::default());
    }
}
