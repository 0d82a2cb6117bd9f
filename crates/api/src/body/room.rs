//! Limits the memory that all request bodies take together.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::error::{Error, Result};

/// The unit in which room is counted.
const UNIT_BYTES: usize = 1024;
/// Every body has this much without a reservation; the number of requests in work bounds the sum. So a few large, slow requests
/// do not keep out small ones.
const FREE_BYTES: usize = 16 * 1024;

/// The room that bodies share.
#[derive(Clone)]
pub(crate) struct Room {
    units: Arc<Semaphore>,
    most_of_one: usize,
    /// How long a body waits for room.
    patience: Duration,
}

/// The room of one body, until it is dropped.
pub(crate) struct Reservation {
    room: Room,
    taken: Option<OwnedSemaphorePermit>,
}

impl Room {
    /// Room for `n_bytes` of all bodies together and `most_of_one` of each.
    pub(crate) fn new(n_bytes: usize, most_of_one: usize, patience: Duration) -> Self {
        Self { units: Arc::new(Semaphore::new(n_bytes / UNIT_BYTES)), most_of_one, patience }
    }

    pub(crate) fn reserve(&self) -> Reservation {
        Reservation { room: self.clone(), taken: None }
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
        let missing = wanted.saturating_sub(self.taken.as_ref().map_or(0, OwnedSemaphorePermit::num_permits));
        if missing == 0 {
            return Ok(());
        }
        let missing = u32::try_from(missing).map_err(Error::internal)?;
        let more = timeout(self.room.patience, self.room.units.clone().acquire_many_owned(missing)).await;
        let more = more.map_err(|_| Error::Busy)?.map_err(Error::internal)?;
        match &mut self.taken {
            Some(taken) => taken.merge(more),
            None => self.taken = Some(more),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1024;

    #[tokio::test]
    async fn a_body_waits_until_others_have_left() {
        let room = Room::new(64 * KIB, 1024 * KIB, Duration::from_secs(60));
        let mut first = room.reserve();
        first.grow_to(FREE_BYTES + 40 * KIB).await.unwrap();
        first.grow_to(FREE_BYTES + 60 * KIB).await.unwrap();
        first.grow_to(0).await.unwrap();
        let mut second = room.reserve();
        second.grow_to(FREE_BYTES + 4 * KIB).await.unwrap();
        let (grown, ()) = tokio::join!(biased; second.grow_to(FREE_BYTES + 4 * KIB + 1), async {
            assert_eq!(room.units.available_permits(), 0);
            drop(first);
        });
        grown.unwrap();
        assert_eq!(room.units.available_permits(), 59);
        drop(second);
        assert_eq!(room.units.available_permits(), 64);
    }

    #[tokio::test]
    async fn a_body_does_not_wait_for_long_and_small_ones_not_at_all() {
        let room = Room::new(64 * KIB, 1024 * KIB, Duration::from_millis(1));
        let mut first = room.reserve();
        first.grow_to(FREE_BYTES + 64 * KIB).await.unwrap();
        let mut second = room.reserve();
        second.grow_to(FREE_BYTES).await.unwrap();
        assert!(matches!(second.grow_to(FREE_BYTES + 1).await, Err(Error::Busy)));
        drop(first);
        second.grow_to(FREE_BYTES + 1).await.unwrap();
    }
}
