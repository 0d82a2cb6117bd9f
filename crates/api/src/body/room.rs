//! How much of all request bodies may be in memory at once.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::error::{Error, Result};

/// What room is counted in.
const UNIT_BYTES: usize = 1024;
/// What every body has without asking: the number of requests in work bounds it, and so a few who send slowly and much cannot
/// keep everybody else from sending little.
const FREE_BYTES: usize = 16 * 1024;

/// The room that bodies share.
#[derive(Clone)]
pub(crate) struct Room {
    units: Arc<Semaphore>,
    most_of_one: usize,
    /// How long a body waits for others to leave.
    patience: Duration,
}

/// The room that one body takes up, until it is dropped.
pub(crate) struct Place {
    room: Room,
    taken: Option<OwnedSemaphorePermit>,
}

impl Room {
    /// Room for so many bytes of all bodies together and of each.
    pub(crate) fn new(n_bytes: usize, most_of_one: usize, patience: Duration) -> Self {
        Self { units: Arc::new(Semaphore::new(n_bytes / UNIT_BYTES)), most_of_one, patience }
    }

    pub(crate) fn enter(&self) -> Place {
        Place { room: self.clone(), taken: None }
    }
}

impl Place {
    /// How large its body may be, packed or unpacked.
    pub(crate) const fn most_bytes(&self) -> usize {
        self.room.most_of_one
    }

    /// Makes room for so many bytes in all.
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
        let mut first = room.enter();
        first.grow_to(FREE_BYTES + 40 * KIB).await.unwrap();
        first.grow_to(FREE_BYTES + 60 * KIB).await.unwrap();
        first.grow_to(0).await.unwrap();
        let mut second = room.enter();
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
        let mut first = room.enter();
        first.grow_to(FREE_BYTES + 64 * KIB).await.unwrap();
        let mut second = room.enter();
        second.grow_to(FREE_BYTES).await.unwrap();
        assert!(matches!(second.grow_to(FREE_BYTES + 1).await, Err(Error::Busy)));
        drop(first);
        second.grow_to(FREE_BYTES + 1).await.unwrap();
    }
}
