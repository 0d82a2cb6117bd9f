//! What cancellations take out of what channels wait for. Those that reach up to the same instant are put together, so that what
//! waits is read and written once, however many there are.

use std::collections::{BTreeMap, BTreeSet};

use model::journey::EntranceIds;
use roaring::RoaringBitmap;

/// Channels that stop waiting, and for what.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cancellation {
    /// They stop waiting for everything.
    entirely: RoaringBitmap,
    /// They left journeys by these entrances, and stop waiting for what that ends: see [`EntranceIds::ends`]. What they wait for
    /// because of anything but a journey is among it. Events come one by one, so there are never more than events that were read.
    left: BTreeMap<u32, BTreeSet<EntranceIds>>,
}

impl Cancellation {
    /// Of channels that left a journey by an entrance, or that anything else cancels.
    pub(super) fn of(channels: &RoaringBitmap, left: Option<EntranceIds>) -> Self {
        match left {
            Some(left) => {
                let left = channels.iter().map(|number| (number, BTreeSet::from([left]))).collect();
                Self { left, ..Self::default() }
            }
            None => Self { entirely: channels.clone(), ..Self::default() },
        }
    }

    pub(super) fn add(&mut self, others: Self) {
        self.entirely |= others.entirely;
        for (number, left) in others.left {
            self.left.entry(number).or_default().extend(left);
        }
    }

    /// The channels that stop waiting for something.
    pub(super) fn channels(&self) -> RoaringBitmap {
        let left: RoaringBitmap = self.left.keys().copied().collect();
        left | &self.entirely
    }

    /// Those of some channels that stop waiting, by the entrance that each of them waits because of, if it does.
    pub(super) fn among(
        &self,
        channels: &RoaringBitmap,
        entrance: impl Fn(u32) -> Option<EntranceIds>,
    ) -> RoaringBitmap {
        let here = self.left.iter().filter(|(number, _)| channels.contains(**number));
        let ended = here
            .filter(|(number, left)| entrance(**number).is_none_or(|began| left.iter().any(|left| left.ends(began))));
        let ended: RoaringBitmap = ended.map(|(number, _)| *number).collect();
        ended | (channels & &self.entirely)
    }
}

#[cfg(test)]
mod tests {
    use model::ids::{EntranceId, JourneyId};

    use super::*;

    fn numbers<const N: usize>(numbers: [u32; N]) -> RoaringBitmap {
        RoaringBitmap::from_iter(numbers)
    }

    #[test]
    fn cancellations_that_are_put_together_take_out_what_each_does() {
        let journey = JourneyId::random();
        let [boots, hat, coat] = [(); 3].map(|()| EntranceIds { journey, entrance: EntranceId::random() });
        let elsewhere = EntranceIds { journey: JourneyId::random(), entrance: EntranceId::random() };
        let mut all = Cancellation::of(&numbers([1, 2]), Some(boots));
        all.add(Cancellation::of(&numbers([2]), Some(hat)));
        all.add(Cancellation::of(&numbers([3]), None));
        all.add(Cancellation::of(&numbers([3]), Some(hat)));
        all.add(Cancellation::of(&numbers([4]), Some(elsewhere)));
        assert_eq!(all.channels(), numbers([1, 2, 3, 4]));
        for (began, ended) in [
            (Some(boots), numbers([1, 2, 3, 4])),
            (Some(hat), numbers([2, 3, 4])),
            (Some(coat), numbers([3, 4])),
            (Some(elsewhere), numbers([1, 2, 3, 4])),
            (None, numbers([1, 2, 3, 4])),
        ] {
            assert_eq!(all.among(&numbers([1, 2, 3, 4, 5]), |_| began), ended, "{began:?}");
            assert_eq!(all.among(&numbers([4, 5]), |_| began), numbers([4]));
        }
    }
}
