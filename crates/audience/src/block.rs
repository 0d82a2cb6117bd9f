//! Blocks of 65,536 ordinals, the pieces in which the work of sending is handed out; and slices of 4,096, those in which sets are
//! kept that change one channel at a time.

use std::ops::RangeInclusive;

use model::ids::Ordinal;
use roaring::RoaringBitmap;

/// The number of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block(pub u16);

impl Block {
    pub fn of(ordinal: Ordinal) -> Self {
        Self(u16::try_from(ordinal.0 >> u16::BITS).expect("the upper half of 32 bits fits 16 bits"))
    }

    pub fn first(self) -> Ordinal {
        Ordinal(u32::from(self.0) << u16::BITS)
    }

    pub fn last(self) -> Ordinal {
        Ordinal(self.first().0 | u32::from(u16::MAX))
    }

    fn ordinals(self) -> RangeInclusive<u32> {
        self.first().0..=self.last().0
    }
}

/// Cuts a set into its blocks, in ascending order and without the empty ones.
pub fn blocks(channels: &RoaringBitmap) -> impl Iterator<Item = (Block, RoaringBitmap)> + '_ {
    let mut rest = channels.min();
    std::iter::from_fn(move || {
        let block = Block::of(Ordinal(rest?));
        rest = block.last().0.checked_add(1).and_then(|next| channels.range(next..).next());
        let mut all = RoaringBitmap::new();
        all.insert_range(block.ordinals());
        Some((block, channels & all))
    })
}

const SLICE_BITS: u32 = 12;

/// The number of the slice that a channel is in.
pub fn slice_of(channel: Ordinal) -> u32 {
    channel.0 >> SLICE_BITS
}

/// Cuts a set into its slices, in ascending order and without the empty ones.
pub fn slices(channels: &RoaringBitmap) -> Vec<(u32, RoaringBitmap)> {
    let mut slices = Vec::new();
    // By way of the blocks, each of which is small, because cutting takes as long as the set is large.
    for (_, block) in blocks(channels) {
        let mut rest = block.min();
        while let Some(channel) = rest {
            let slice = slice_of(Ordinal(channel));
            let (first, last) = (slice << SLICE_BITS, (slice << SLICE_BITS) | ((1 << SLICE_BITS) - 1));
            let mut all = RoaringBitmap::new();
            all.insert_range(first..=last);
            slices.push((slice, &block & all));
            rest = last.checked_add(1).and_then(|next| block.range(next..).next());
        }
    }
    slices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_the_set() {
        let set = RoaringBitmap::from_iter([0, 4_095, 4_096, 70_000, 70_001, u32::MAX]);
        let cut = slices(&set);
        let numbers: Vec<u32> = cut.iter().map(|(slice, _)| *slice).collect();
        assert_eq!(numbers, [0, 1, 17, u32::MAX >> SLICE_BITS]);
        assert_eq!(cut.into_iter().fold(RoaringBitmap::new(), |all, (_, part)| all | part), set);
        assert!(slices(&RoaringBitmap::new()).is_empty());
    }
}
