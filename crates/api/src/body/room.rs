//! Limits the memory that all request bodies take together, in fair shares.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use crate::error::{Error, Result};
use crate::fair_share::{FairShare, Permit};
use crate::holder::Holder;

/// The unit in which room is counted.
const UNIT_BYTES: usize = 1024;
/// Every body has this much without a reservation; the number of requests in work bounds the sum. So a few large, slow requests
/// do not keep out small ones.
const FREE_BYTES: usize = 16 * 1024;

/// The room that bodies share.
#[derive(Clone)]
pub(crate) struct Room {
    units: FairShare<Holder>,
    released: Arc<Notify>,
    most_of_one: usize,
    /// How long a body waits for room.
    patience: Duration,
}

/// The room of one body, until it is dropped.
pub(crate) struct Reservation {
    room: Room,
    taken: Permit<Holder>,
}

impl Room {
    /// Room for `n_bytes` of all bodies together and `most_of_one` of each.
    pub(crate) fn new(n_bytes: usize, most_of_one: usize, patience: Duration) -> Self {
        Self { units: FairShare::new(n_bytes / UNIT_BYTES), released: Arc::default(), most_of_one, patience }
    }

    pub(crate) fn reserve(&self, holder: Holder) -> Reservation {
        Reservation { room: self.clone(), taken: self.units.none(holder) }
    }
}

impl Reservation {
    /// How large its body may be, packed or unpacked.
    pub(crate) const fn most_bytes(&self) -> usize {
        self.room.most_of_one
    }

    /// Reserves room for `n_bytes` in all.
    pub(crate) async fn grow_to(&mut self, n_bytes: usize) -> Result<()> {
        let wanted = n_bytes.saturating_sub(FREE_BYTES).div_ceil(UNIT_BYTES);
        let missing = wanted.saturating_sub(self.taken.n_units());
        if missing == 0 || self.taken.grow(missing) {
            return Ok(());
        }
        let Self { room, taken } = self;
        let grown = async {
            loop {
                // From here on a release is noticed, also one before the wait.
                let released = room.released.notified();
                if taken.grow(missing) {
                    return;
                }
                released.await;
            }
        };
        timeout(room.patience, grown).await.map_err(|_| Error::Busy)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.taken.n_units() > 0 {
            self.taken = self.room.units.none(Holder::Public);
            self.room.released.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ids::AppId;

    const KIB: usize = 1024;
    const DEVICES: Holder = Holder::Devices(AppId(1));
    const SERVERS: Holder = Holder::Servers(AppId(1));

    #[tokio::test]
    async fn a_body_waits_until_others_have_left() {
        let room = Room::new(64 * KIB, 1024 * KIB, Duration::from_secs(60));
        let mut first = room.reserve(DEVICES);
        first.grow_to(FREE_BYTES + 20 * KIB).await.unwrap();
        first.grow_to(FREE_BYTES + 32 * KIB).await.unwrap();
        first.grow_to(0).await.unwrap();
        let mut second = room.reserve(DEVICES);
        second.grow_to(FREE_BYTES).await.unwrap();
        let (grown, ()) = tokio::join!(biased; second.grow_to(FREE_BYTES + 1), async {
            assert_eq!(room.units.n_free(), 32);
            drop(first);
        });
        grown.unwrap();
        assert_eq!(room.units.n_free(), 63);
        drop(second);
        assert_eq!(room.units.n_free(), 64);
    }

    #[tokio::test]
    async fn a_body_does_not_wait_for_long_small_ones_not_at_all_and_others_have_their_share() {
        let room = Room::new(64 * KIB, 1024 * KIB, Duration::from_millis(1));
        let mut first = room.reserve(DEVICES);
        first.grow_to(FREE_BYTES + 32 * KIB).await.unwrap();
        let mut second = room.reserve(DEVICES);
        second.grow_to(FREE_BYTES).await.unwrap();
        assert!(matches!(second.grow_to(FREE_BYTES + 1).await, Err(Error::Busy)));
        let mut of_server = room.reserve(SERVERS);
        of_server.grow_to(FREE_BYTES + 16 * KIB).await.unwrap();
        drop(first);
        second.grow_to(FREE_BYTES + 1).await.unwrap();
    }
}
