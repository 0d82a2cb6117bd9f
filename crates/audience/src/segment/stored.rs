//! A segment as bytes, the body of its section in a snapshot.

use std::collections::HashMap;

use model::ids::{Offset, TermId};

use super::{SEGMENT_BITS, Segment};
use crate::bytes::{put_bitmap, put_count, put_number, take_bitmap, take_number};

/// A term takes at least its number and the head of its bitmap.
const LEAST_BYTES_OF_A_TERM: usize = 8;

impl Segment {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put_count(out, self.held.len());
        out.extend(self.held.iter().flat_map(|held| held.to_le_bytes()));
        put_bitmap(out, &self.everyone);
        put_count(out, self.terms.len());
        for (term, holders) in &self.terms {
            put_number(out, term.0);
            put_bitmap(out, holders);
        }
    }

    /// The reverse of [`Segment::write`]; `None` for bytes that it never writes.
    pub(crate) fn read(mut bytes: &[u8], since: Offset) -> Option<Self> {
        let input = &mut bytes;
        let ordinals = take_number(input)? as usize;
        if ordinals > 1 << SEGMENT_BITS {
            return None;
        }
        let held = input.split_off(..ordinals * size_of::<u16>())?;
        let held = held.as_chunks().0.iter().map(|held| u16::from_le_bytes(*held)).collect();
        let everyone = take_bitmap(input)?;
        let count = take_number(input)? as usize;
        let mut terms = HashMap::with_capacity(count.min(input.len() / LEAST_BYTES_OF_A_TERM));
        for _ in 0..count {
            terms.insert(TermId(take_number(input)?), take_bitmap(input)?);
        }
        input.is_empty().then_some(Self { terms, everyone, held, since })
    }
}
