//! Turns that holders wait for, and take fairly: one holder has half of them at most, whoever else waits, so that the turn of
//! another comes as soon as any ends.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

pub(crate) struct Turns<K> {
    all: Arc<Semaphore>,
    most_of_one: usize,
    /// What each holder may take, as long as it has or awaits a turn.
    by_holder: Mutex<HashMap<K, Weak<Semaphore>>>,
}

/// Until it is dropped.
pub(crate) struct Turn {
    _of_all: OwnedSemaphorePermit,
    _of_holder: OwnedSemaphorePermit,
}

impl<K: Eq + Hash + Copy> Turns<K> {
    pub(crate) fn new(n_turns: usize) -> Self {
        let all = Arc::new(Semaphore::new(n_turns));
        Self { all, most_of_one: (n_turns / 2).max(1), by_holder: Mutex::default() }
    }

    /// Waits among the requests of the holder first, so that only as many as it may have at once wait among those of all.
    pub(crate) async fn wait(&self, holder: K) -> Result<Turn, AcquireError> {
        let of_holder = self.of(holder).acquire_owned().await?;
        let of_all = self.all.clone().acquire_owned().await?;
        Ok(Turn { _of_all: of_all, _of_holder: of_holder })
    }

    fn of(&self, holder: K) -> Arc<Semaphore> {
        let mut by_holder = self.by_holder.lock();
        if let Some(known) = by_holder.get(&holder).and_then(Weak::upgrade) {
            return known;
        }
        by_holder.retain(|_, other| other.strong_count() > 0);
        let new = Arc::new(Semaphore::new(self.most_of_one));
        by_holder.insert(holder, Arc::downgrade(&new));
        new
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn one_holder_takes_half_and_waits_for_its_own() {
        let turns = Turns::new(4);
        let take = |holder: i64| turns.wait(holder).now_or_never().map(|turn| turn.expect("turns are never closed"));
        let of_one = [take(1), take(1)];
        assert!(of_one.iter().all(Option::is_some), "half of them");
        let mut more = [Box::pin(turns.wait(1)), Box::pin(turns.wait(1))];
        assert!(more.iter_mut().all(|turn| turn.as_mut().now_or_never().is_none()));
        // Those that wait for the first holder's own keep nobody out.
        let of_others = [take(2), take(3)];
        assert!(of_others.iter().all(Option::is_some));
        let mut fourth = Box::pin(turns.wait(4));
        assert!(fourth.as_mut().now_or_never().is_none(), "all are taken");
        drop(of_one);
        assert!(
            fourth.as_mut().now_or_never().is_some(),
            "its turn comes before those that have waited longer for their own"
        );
        drop((more, fourth, of_others));
        drop(take(5));
        assert_eq!(turns.by_holder.lock().len(), 1, "nobody else has a turn, or waits for one");
    }
}
