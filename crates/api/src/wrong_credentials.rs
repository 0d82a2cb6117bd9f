//! Slows down callers that guess. Requests with right credentials are never held up, wherever they come from: many callers may
//! share the address of a proxy.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::error::{Error, Result};
use crate::serve::CallerAddress;

/// A refusal beyond the free ones takes this long.
const DELAY: Duration = Duration::from_secs(1);
/// Refusals of one address that wait at once. More are refused at once, without saying whether the credentials are right.
const MOST_WAITING: u32 = 32;
const WINDOW: Duration = Duration::from_secs(60);
/// Addresses that are remembered. With more of them the oldest windows are forgotten.
const MOST_ADDRESSES: usize = 10_000;

#[derive(Clone)]
pub(crate) struct WrongCredentials(Arc<Parts>);

struct Parts {
    free_per_minute: u32,
    by_address: Mutex<HashMap<IpAddr, Guesses>>,
}

struct Guesses {
    since: Instant,
    n_guesses: u32,
    n_waiting: u32,
}

enum Verdict {
    Free,
    Wait,
    Refuse,
}

impl WrongCredentials {
    pub(crate) fn new(free_per_minute: u32) -> Self {
        Self(Arc::new(Parts { free_per_minute, by_address: Mutex::default() }))
    }

    /// Returns when the refusal of a request may be answered; fails when too many refusals wait already.
    pub(crate) async fn slow_down(&self, address: Option<CallerAddress>) -> Result<()> {
        let Some(CallerAddress(address)) = address else { return Ok(()) };
        match self.count(address, Instant::now()) {
            Verdict::Free => Ok(()),
            Verdict::Wait => {
                let _waiting = Waiting { of: self, address };
                tokio::time::sleep(DELAY).await;
                Ok(())
            }
            Verdict::Refuse => {
                let text = "Too many requests with wrong credentials come from this address; try again later.";
                Err(Error::TooMany { text, retry_after: WINDOW })
            }
        }
    }

    fn count(&self, address: IpAddr, now: Instant) -> Verdict {
        let mut by_address = self.0.by_address.lock();
        let is_over = |guesses: &Guesses| guesses.n_waiting == 0 && now.duration_since(guesses.since) >= WINDOW;
        if by_address.len() >= MOST_ADDRESSES && !by_address.contains_key(&address) {
            by_address.retain(|_, guesses| !is_over(guesses));
            if by_address.len() >= MOST_ADDRESSES {
                by_address.retain(|_, guesses| guesses.n_waiting > 0);
            }
        }
        let guesses = by_address.entry(address).or_insert(Guesses { since: now, n_guesses: 0, n_waiting: 0 });
        if now.duration_since(guesses.since) >= WINDOW {
            (guesses.since, guesses.n_guesses) = (now, 0);
        }
        guesses.n_guesses = guesses.n_guesses.saturating_add(1);
        if guesses.n_guesses <= self.0.free_per_minute {
            return Verdict::Free;
        }
        if guesses.n_waiting >= MOST_WAITING {
            return Verdict::Refuse;
        }
        guesses.n_waiting += 1;
        Verdict::Wait
    }
}

/// One refusal that waits.
struct Waiting<'a> {
    of: &'a WrongCredentials,
    address: IpAddr,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(guesses) = self.of.0.by_address.lock().get_mut(&self.address) {
            guesses.n_waiting = guesses.n_waiting.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_beyond_the_free_ones_wait_and_a_minute_later_do_not() {
        let guard = WrongCredentials::new(2);
        let (mine, other, now) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]), Instant::now());
        for _ in 0..2 {
            assert!(matches!(guard.count(mine, now), Verdict::Free));
        }
        for _ in 0..MOST_WAITING {
            assert!(matches!(guard.count(mine, now), Verdict::Wait));
        }
        assert!(matches!(guard.count(mine, now), Verdict::Refuse));
        assert!(matches!(guard.count(other, now), Verdict::Free), "others have their own");
        drop(Waiting { of: &guard, address: mine });
        assert!(matches!(guard.count(mine, now), Verdict::Wait));
        assert!(matches!(guard.count(mine, now + WINDOW), Verdict::Free));
    }

    #[test]
    fn the_memory_of_addresses_is_bounded() {
        let (guard, now) = (WrongCredentials::new(1), Instant::now());
        for n in 0..3 * u32::try_from(MOST_ADDRESSES).unwrap() {
            guard.count(IpAddr::from(n.to_be_bytes()), now);
        }
        assert!(guard.0.by_address.lock().len() <= MOST_ADDRESSES);
    }
}
