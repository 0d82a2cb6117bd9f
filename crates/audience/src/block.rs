//! Blocks of 65,536 ordinals, the pieces in which the work of sending is handed out.

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
