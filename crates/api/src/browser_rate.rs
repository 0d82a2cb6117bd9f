//! How many browsers may register from one address: the key of an app is no secret, and a program can claim to be a page.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use model::time::UtcMillis;
use parking_lot::Mutex;

use crate::error::{Error, Result};

/// Registrations from one address in a minute. People behind one proxy share it; those beyond it try again a minute later.
const MOST_PER_MINUTE: u32 = 20;
/// Addresses that are counted in a minute. Any others share one count.
const MOST_ADDRESSES: usize = 10_000;
const OTHERS: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);
const MINUTE_MILLIS: i64 = 60_000;

#[derive(Default)]
pub(crate) struct BrowserRate(Mutex<Minute>);

#[derive(Default)]
struct Minute {
    number: i64,
    by_address: HashMap<IpAddr, u32>,
}

impl BrowserRate {
    /// Counts a registration; one whose address is not known counts among all such.
    pub(crate) fn admit(&self, address: Option<IpAddr>, now: UtcMillis) -> Result<()> {
        let mut minute = self.0.lock();
        let number = now.0.div_euclid(MINUTE_MILLIS);
        if number != minute.number {
            *minute = Minute { number, by_address: HashMap::new() };
        }
        let address = address.unwrap_or(OTHERS);
        let has_room = minute.by_address.len() < MOST_ADDRESSES || minute.by_address.contains_key(&address);
        let count = minute.by_address.entry(if has_room { address } else { OTHERS }).or_default();
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
    fn addresses_have_their_own_counts_as_far_as_there_is_room() {
        let (rate, now) = (BrowserRate::default(), UtcMillis(MINUTE_MILLIS));
        let address = |n: usize| Some(IpAddr::from(u32::try_from(n).unwrap().to_be_bytes()));
        for _ in 0..MOST_PER_MINUTE {
            assert!(rate.admit(address(1), now).is_ok());
        }
        assert!(rate.admit(address(1), now).is_err());
        assert!(rate.admit(address(2), now).is_ok());
        assert!(rate.admit(address(1), UtcMillis(2 * MINUTE_MILLIS)).is_ok());
        let admitted =
            (2..2 * MOST_ADDRESSES).filter(|n| rate.admit(address(*n), UtcMillis(2 * MINUTE_MILLIS)).is_ok());
        assert_eq!(admitted.count(), MOST_ADDRESSES - 1 + usize::try_from(MOST_PER_MINUTE).unwrap());
        assert!(rate.0.lock().by_address.len() <= MOST_ADDRESSES + 1);
    }
}
