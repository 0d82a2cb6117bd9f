//! Heads of requests that are under way: since when the caller owes the rest of one. hyper waits for it without end, and for as
//! long nothing else can come on the connection.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

const PREFACE_BYTES: usize = 24;
const FRAME_HEAD_BYTES: usize = 9;
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;

/// Reads the frames of a caller, as far as it takes to know where a head begins and ends.
#[derive(Clone, Default)]
pub(super) struct Heads(Arc<Mutex<Frames>>);

struct Frames {
    /// Bytes that say nothing about heads: of the preface, and what frames hold.
    n_to_skip: usize,
    frame: [u8; FRAME_HEAD_BYTES],
    n_of_frame: usize,
    /// Whether the head ends with the bytes that are skipped.
    is_last: bool,
    since: Option<Instant>,
}

impl Default for Frames {
    fn default() -> Self {
        let frame = [0; FRAME_HEAD_BYTES];
        Self { n_to_skip: PREFACE_BYTES, frame, n_of_frame: 0, is_last: false, since: None }
    }
}

impl Heads {
    /// Some bytes of the caller, in their order.
    pub(super) fn pass(&self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.0.lock().pass(bytes, Instant::now());
        }
    }

    pub(super) fn is_unfinished_for(&self, time: Duration) -> bool {
        self.0.lock().since.is_some_and(|since| since.elapsed() > time)
    }
}

impl Frames {
    fn pass(&mut self, mut bytes: &[u8], now: Instant) {
        while !bytes.is_empty() {
            let n_skipped = self.n_to_skip.min(bytes.len());
            self.n_to_skip -= n_skipped;
            bytes = &bytes[n_skipped..];
            if self.n_to_skip == 0 && self.is_last {
                (self.is_last, self.since) = (false, None);
            }
            let n_taken = (FRAME_HEAD_BYTES - self.n_of_frame).min(bytes.len());
            self.frame[self.n_of_frame..][..n_taken].copy_from_slice(&bytes[..n_taken]);
            self.n_of_frame += n_taken;
            bytes = &bytes[n_taken..];
            if self.n_of_frame == FRAME_HEAD_BYTES {
                self.begin_frame(now);
            }
        }
    }

    fn begin_frame(&mut self, now: Instant) {
        let [high, middle, low, kind, flags, ..] = self.frame;
        self.n_of_frame = 0;
        self.n_to_skip = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
        if kind == HEADERS || kind == CONTINUATION {
            self.since.get_or_insert(now);
            self.is_last = flags & END_HEADERS != 0;
            if self.is_last && self.n_to_skip == 0 {
                (self.is_last, self.since) = (false, None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        [&[0, 0, u8::try_from(payload.len()).unwrap(), kind, flags, 0, 0, 0, 1], payload].concat()
    }

    #[test]
    fn a_head_is_owed_from_its_first_frame_to_the_end_of_its_last() {
        let data = frame(0, 0, &[1; 40]);
        let whole = frame(HEADERS, END_HEADERS, &[2; 30]);
        let begun = frame(HEADERS, 0, &[3; 20]);
        let (more, end) = (frame(CONTINUATION, 0, &[4; 10]), frame(CONTINUATION, END_HEADERS, &[]));
        let start = [&[b'P'; PREFACE_BYTES][..], &data, &whole, &data].concat();
        for (bytes, is_owed) in [
            (vec![], false),
            (start.clone(), false),
            ([&start[..], &whole[..FRAME_HEAD_BYTES]].concat(), true),
            ([&start[..], &whole[..20]].concat(), true),
            ([&start[..], &begun].concat(), true),
            ([&start[..], &begun, &more].concat(), true),
            ([&start[..], &begun, &more, &end[..8]].concat(), true),
            ([&start[..], &begun, &more, &end].concat(), false),
            ([&start[..], &begun, &end, &data, &begun].concat(), true),
        ] {
            for piece in [1, 7, bytes.len().max(1)] {
                let (mut frames, now) = (Frames::default(), Instant::now());
                bytes.chunks(piece).for_each(|piece| frames.pass(piece, now));
                assert_eq!(frames.since.is_some(), is_owed, "{bytes:?} in pieces of {piece}");
            }
        }
    }
}
