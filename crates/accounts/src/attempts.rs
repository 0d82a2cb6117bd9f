//! Pauses for people who guess: after some wrong passwords for an account, or from one neighbourhood of addresses, the next attempt
//! has to wait, longer every time. Counted in a table of fixed size on each node, so that guessing at random fills no memory.

use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::time::Duration;

use base::{Error, Result};
use model::account::Email;
use model::time::UtcMillis;
use parking_lot::Mutex;

const CELLS: usize = 1 << 14;
/// Wrong attempts before the first pause: for an account from one neighbourhood, for an account from anywhere, and from one
/// neighbourhood, where a whole company may sit. The second is high, because strangers can use it up for somebody.
const FREE: [u32; 3] = [5, 100, 20];
/// The longest pause. Somebody else may cause it for an account, so it must be bearable; nobody guesses a password at this pace.
const LONGEST: Duration = Duration::from_secs(60);
/// After this long without a wrong attempt all are forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(15 * 60);

const TEXT: &str = "There were too many wrong passwords; wait a moment before the next attempt.";

pub(crate) struct Attempts {
    /// Random, so that nobody outside can know who shares a cell.
    hashes: RandomState,
    cells: Mutex<Vec<Cell>>,
}

#[derive(Clone, Copy)]
struct Cell {
    n_wrong: u32,
    last: UtcMillis,
}

impl Default for Attempts {
    fn default() -> Self {
        let cell = Cell { n_wrong: 0, last: UtcMillis(0) };
        Self { hashes: RandomState::new(), cells: Mutex::new(vec![cell; CELLS]) }
    }
}

impl Attempts {
    /// Whether an attempt may be made now. It counts as a wrong one until it is taken back, so that many at once are not free.
    pub(crate) fn begin(&self, email: &Email, address: Option<IpAddr>, now: UtcMillis) -> Result<()> {
        let places = self.places(email, address);
        let mut cells = self.cells.lock();
        let waits =
            places.iter().zip(FREE).map(|(place, free)| cells[*place].pause(now, free)).max().unwrap_or_default();
        if !waits.is_zero() {
            return Err(Error::TooMany { text: TEXT, retry_after: waits });
        }
        for place in places {
            cells[place].count(now);
        }
        Ok(())
    }

    /// The attempt was a right one.
    pub(crate) fn succeed(&self, email: &Email, address: Option<IpAddr>) {
        let [account_there, account, neighbourhood] = self.places(email, address);
        let mut cells = self.cells.lock();
        cells[account_there].n_wrong = 0;
        // Somebody with an account of their own must not get free guesses at those of others, nor anybody else at this one.
        for place in [account, neighbourhood] {
            cells[place].n_wrong = cells[place].n_wrong.saturating_sub(1);
        }
    }

    /// The attempt could not be judged.
    pub(crate) fn take_back(&self, email: &Email, address: Option<IpAddr>) {
        let mut cells = self.cells.lock();
        for place in self.places(email, address) {
            cells[place].n_wrong = cells[place].n_wrong.saturating_sub(1);
        }
    }

    fn places(&self, email: &Email, address: Option<IpAddr>) -> [usize; 3] {
        let near = address.map(neighbourhood);
        [self.place(("account there", email, near)), self.place(("account", email)), self.place(("address", near))]
    }

    fn place(&self, what: impl Hash) -> usize {
        usize::try_from(self.hashes.hash_one(what) % CELLS as u64).unwrap_or(0)
    }
}

impl Cell {
    fn pause(&self, now: UtcMillis, free: u32) -> Duration {
        let since = Duration::from_millis(u64::try_from(now.0 - self.last.0).unwrap_or(0));
        if self.n_wrong < free || since >= FORGOTTEN_AFTER {
            return Duration::ZERO;
        }
        let pause = Duration::from_secs(1 << (self.n_wrong - free).min(6)).min(LONGEST);
        pause.saturating_sub(since)
    }

    fn count(&mut self, now: UtcMillis) {
        let since = Duration::from_millis(u64::try_from(now.0 - self.last.0).unwrap_or(0));
        self.n_wrong = if since >= FORGOTTEN_AFTER { 1 } else { self.n_wrong.saturating_add(1) };
        self.last = now;
    }
}

/// What one subscriber or household usually has: a /24 of IPv4, a /48 of IPv6.
fn neighbourhood(address: IpAddr) -> [u8; 6] {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, c, _] = v4.octets();
            [4, a, b, c, 0, 0]
        }
        IpAddr::V6(v6) => {
            let [a, b, c, d, e, f, ..] = v6.octets();
            [a, b, c, d, e, f]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    fn kim() -> Email {
        Email::new("kim@example.com").unwrap()
    }

    #[test]
    fn pauses_grow_and_end() {
        let (attempts, address) = (Attempts::default(), "10.1.2.3".parse().ok());
        let mut now = UtcMillis(1_000_000_000);
        for _ in 0..FREE[0] {
            attempts.begin(&kim(), address, now).unwrap();
        }
        for expected in [1, 2, 4, 8, 16, 32, 60, 60] {
            let Err(Error::TooMany { retry_after, .. }) = attempts.begin(&kim(), address, now) else {
                panic!("no pause of {expected}");
            };
            assert_eq!(retry_after, Duration::from_secs(expected));
            now = now.plus(retry_after);
            attempts.begin(&kim(), address, now).unwrap();
        }
        now = UtcMillis(now.0 + 15 * MINUTE);
        attempts.begin(&kim(), address, now).unwrap();
    }

    #[test]
    fn neighbours_are_counted_together_and_the_right_password_ends_it() {
        let (attempts, now) = (Attempts::default(), UtcMillis(1_000_000_000));
        for n in 0..FREE[2] {
            let email = Email::new(&format!("guess{n}@example.com")).unwrap();
            attempts.begin(&email, format!("10.1.2.{n}").parse().ok(), now).unwrap();
        }
        assert!(attempts.begin(&kim(), "10.1.2.99".parse().ok(), now).is_err());
        attempts.begin(&kim(), "10.1.3.1".parse().ok(), now).unwrap();
        attempts.succeed(&kim(), "10.1.3.1".parse().ok());
        for _ in 0..FREE[0] {
            attempts.begin(&kim(), "10.1.4.1".parse().ok(), now).unwrap();
        }
    }
}
