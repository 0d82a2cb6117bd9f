//! Sets cut into blocks and written as bytes.

use audience::block::{Block, blocks};
use audience::codec::{CorruptBitmap, decode, encode};
use model::ids::Ordinal;
use proptest::collection::vec;
use proptest::prelude::*;
use roaring::RoaringBitmap;

use crate::arbitrary;

proptest! {
    #[test]
    fn blocks_cover_each_ordinal_once(set in arbitrary::set()) {
        let mut covered = Vec::new();
        let mut before = None;
        for (block, part) in blocks(&set) {
            prop_assert!(before < Some(block) && !part.is_empty());
            prop_assert!(part.iter().all(|ordinal| Block::of(Ordinal(ordinal)) == block));
            covered.extend(part);
            before = Some(block);
        }
        prop_assert_eq!(covered, set.iter().collect::<Vec<_>>());
    }

    #[test]
    fn sets_survive_storage(set in arbitrary::set(), cut in any::<prop::sample::Index>()) {
        let mut bytes = encode(&set);
        prop_assert_eq!(&decode(&bytes).unwrap(), &set);
        prop_assert!(matches!(decode(&bytes[..cut.index(bytes.len())]), Err(CorruptBitmap::Unreadable(_))));
        bytes.push(0);
        prop_assert!(matches!(decode(&bytes), Err(CorruptBitmap::TooLong(1))));
    }

    #[test]
    fn damaged_bytes_never_panic(
        set in arbitrary::set(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = encode(&set);
        for (index, byte) in damage {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        if let Ok(read) = decode(&bytes) {
            // What is accepted is a proper set: it can be written and read again.
            prop_assert_eq!(&decode(&encode(&read)).unwrap(), &read);
        }
    }
}

#[test]
fn blocks_at_both_ends_of_the_ordinals() {
    let set = RoaringBitmap::from([0, 65_535, 65_536, u32::MAX]);
    let parts: Vec<_> = blocks(&set).map(|(block, part)| (block.0, part.len())).collect();
    assert_eq!(parts, [(0, 2), (1, 1), (u16::MAX, 1)]);
    assert_eq!((Block(1).first(), Block(1).last()), (Ordinal(65_536), Ordinal(131_071)));
    assert_eq!(Block(u16::MAX).last(), Ordinal(u32::MAX));
    assert_eq!(blocks(&RoaringBitmap::new()).count(), 0);
}

#[test]
fn a_whole_block_takes_a_few_bytes() {
    let whole: RoaringBitmap = (0..65_536).collect();
    assert!(encode(&whole).len() < 20);
}
