//! How many browsers may register from one address: the key of an app is no secret, and a program can claim to be a page.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::time::Duration;

use model::ids::AppId;
use model::time::UtcMillis;
use parking_lot::Mutex;

use crate::error::{Error, Result};

/// Registrations in an app from one address in a minute. People behind one proxy share it; those beyond it try again a minute
/// later.
const MOST_PER_MINUTE: u8 = 20;
/// An app and an address have one of so many counts, by chance, so that whoever has many addresses cannot keep others out: that
/// takes more requests than there are counts, twenty times over. Nobody else can tell who shares a count with whom.
const COUNTS: usize = 1 << u16::BITS;
const MINUTE_MILLIS: i64 = 60_000;

#[derive(Default)]
pub(crate) struct BrowserRate {
    hasher: RandomState,
    minute: Mutex<Minute>,
}

#[derive(Default)]
struct Minute {
    number: i64,
    /// Empty until somebody comes.
    counts: Vec<u8>,
}

impl BrowserRate {
    /// Counts a registration in an app; one whose address is not known counts among all such of the app.
    pub(crate) fn admit(&self, app: AppId, address: Option<IpAddr>, now: UtcMillis) -> Result<()> {
        let [first, second, ..] = self.hasher.hash_one((app, address)).to_ne_bytes();
        let share = usize::from(u16::from_ne_bytes([first, second]));
        let mut minute = self.minute.lock();
        let number = now.0.div_euclid(MINUTE_MILLIS);
        if number != minute.number || minute.counts.is_empty() {
            *minute = Minute { number, counts: vec![0; COUNTS] };
        }
        let count = &mut minute.counts[share];
        if *count >= MOST_PER_MINUTE {
            let left = MINUTE_MILLIS - now.0.rem_euclid(MINUTE_MILLIS);
            let text = "Too many browsers register from this address; try again later.";
            return Err(Error::TooMany { text, retry_after: Duration::from_millis(left.unsigned_abs()) });
        }
        *count += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apps_and_addresses_have_their_own_counts_which_others_cannot_use_up() {
        let (rate, now) = (BrowserRate::default(), UtcMillis(MINUTE_MILLIS));
        let address = |n: u32| Some(IpAddr::from(n.to_be_bytes()));
        for _ in 0..MOST_PER_MINUTE {
            assert!(rate.admit(AppId(1), address(1), now).is_ok());
        }
        assert!(rate.admit(AppId(1), address(1), now).is_err());
        assert!(rate.admit(AppId(1), address(1), UtcMillis(2 * MINUTE_MILLIS)).is_ok());
        // Ten thousand callers who use up theirs leave nearly all others theirs.
        let later = UtcMillis(3 * MINUTE_MILLIS);
        for n in 0..10_000 {
            for _ in 0..MOST_PER_MINUTE {
                _ = rate.admit(AppId(1), address(n), later);
            }
        }
        let admitted = (10_000..11_000).filter(|n| rate.admit(AppId(2), address(*n), later).is_ok()).count();
        assert!(admitted > 700, "{admitted} of 1,000");
    }
}
