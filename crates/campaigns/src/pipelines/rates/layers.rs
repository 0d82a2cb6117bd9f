//! How often each of some channels was sent to, as sets.

use roaring::RoaringBitmap;

/// The channels that were sent to at least once, those that were at least twice, and so on.
#[derive(Default)]
pub(super) struct Layers(Vec<RoaringBitmap>);

impl Layers {
    /// Counts channels once more, up to a number that is enough.
    pub(super) fn add(&mut self, channels: RoaringBitmap, enough: usize) {
        let mut more = channels;
        for number in 0..enough {
            if more.is_empty() {
                return;
            }
            if number == self.0.len() {
                self.0.push(more);
                return;
            }
            // A channel that is in a layer already is added to the next layer.
            let layer = &mut self.0[number];
            let again = &*layer & &more;
            *layer |= more;
            more = again;
        }
    }

    /// The channels that were sent to so often, or more.
    pub(super) fn at_least(&self, times: usize) -> Option<&RoaringBitmap> {
        self.0.get(times.checked_sub(1)?)
    }

    /// The sets, the first of which has all channels.
    pub(super) fn into_sets(self) -> Vec<RoaringBitmap> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_in_enough_sets_is_found() {
        let sets: [&[u32]; 4] = [&[1, 2, 3], &[2, 3], &[3, 9], &[2, 3]];
        let counted = |enough| {
            let mut layers = Layers::default();
            sets.iter().for_each(|set| layers.add(set.iter().copied().collect(), enough));
            layers
        };
        let found = |layers: &Layers, n| layers.at_least(n).map(|set| set.iter().collect::<Vec<_>>());
        let wanted = [vec![1, 2, 3, 9], vec![2, 3], vec![2, 3], vec![3]];
        for (n, wanted) in (1..).zip(&wanted) {
            assert_eq!(found(&counted(n), n).as_ref(), Some(wanted), "{n}");
            assert_eq!(found(&counted(n), n + 1), None, "no more than enough is counted");
        }
        let all: Vec<RoaringBitmap> = wanted.iter().map(|set| set.iter().copied().collect()).collect();
        assert_eq!(counted(usize::MAX).into_sets(), all);
    }
}
