//! Which signed requests were seen, so that nobody can send one again.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::time::UtcMillis;

use crate::signatures::MOST_SKEW;

/// A signed request is good for this long at most: its time may lie ahead of ours by the skew, and then age by as much.
const LIFETIME: Duration = Duration::from_secs(2 * MOST_SKEW.as_secs());
/// Signatures remembered per generation: some 20 megabytes. Only who has an app's secret can make them up, so that when there
/// are more, forgetting early is better than refusing devices.
const MOST: usize = 1 << 20;

/// Remembers for at least [`LIFETIME`], by way of two generations. Every node remembers for itself.
#[derive(Default)]
pub(crate) struct Nonces(Mutex<Generations>);

#[derive(Default)]
struct Generations {
    since: UtcMillis,
    current: HashSet<u64>,
    previous: HashSet<u64>,
}

impl Nonces {
    /// Whether this signature comes for the first time. It covers the nonce, and its bits are as good as random.
    pub(crate) fn is_new(&self, signature: &[u8; 32], now: UtcMillis) -> bool {
        let [a, b, c, d, e, f, g, h, ..] = *signature;
        let seen = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        generations.turn(now);
        !generations.previous.contains(&seen) && generations.current.insert(seen)
    }
}

impl Generations {
    fn turn(&mut self, now: UtcMillis) {
        if now < self.since.plus(LIFETIME) && self.current.len() < MOST {
            return;
        }
        self.previous = std::mem::take(&mut self.current);
        if now >= self.since.plus(2 * LIFETIME) {
            self.previous = HashSet::new();
        }
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(n: usize) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&n.to_be_bytes());
        bytes
    }

    #[test]
    fn what_was_seen_is_known_as_long_as_it_could_be_sent_again() {
        let nonces = Nonces::default();
        let start = UtcMillis(1_714_564_800_000);
        for minute in 0..100_usize {
            let now = start.plus(Duration::from_secs(60 * minute as u64));
            assert!(nonces.is_new(&signature(minute), now));
            let n_known = usize::try_from(LIFETIME.as_secs() / 60).unwrap();
            for earlier in minute.saturating_sub(n_known)..=minute {
                assert!(!nonces.is_new(&signature(earlier), now), "{earlier} in minute {minute}");
            }
        }
        assert!(nonces.is_new(&signature(99), start.plus(Duration::from_secs(60 * 60 * 24))));
    }

    #[test]
    fn memory_is_bounded() {
        let (nonces, now) = (Nonces::default(), UtcMillis(1_714_564_800_000));
        for n in 0..3 * MOST {
            nonces.is_new(&signature(n), now);
        }
        let generations = nonces.0.lock().unwrap();
        assert!(generations.current.len() + generations.previous.len() <= 2 * MOST);
    }
}
