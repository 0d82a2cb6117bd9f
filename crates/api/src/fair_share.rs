//! Permits for long requests: few enough for the server, and shared fairly by the apps.

use std::collections::HashMap;
use std::sync::Arc;

use model::ids::AppId;
use parking_lot::Mutex;

/// An app gets another permit as long as it has fewer than are free. So an app that takes all it can get leaves half of them to
/// the others, the next one half of the rest, and an app that has none yet almost always gets one.
#[derive(Clone)]
pub(crate) struct FairShare(Arc<Mutex<Taken>>);

struct Taken {
    n_free: usize,
    by_app: HashMap<AppId, usize>,
}

/// One permit, until it is dropped.
pub(crate) struct Permit {
    of: FairShare,
    app: AppId,
}

impl FairShare {
    pub(crate) fn new(n_permits: usize) -> Self {
        Self(Arc::new(Mutex::new(Taken { n_free: n_permits, by_app: HashMap::new() })))
    }

    /// `None` when the app has its share.
    pub(crate) fn take(&self, app: AppId) -> Option<Permit> {
        let mut taken = self.0.lock();
        let n_own = taken.by_app.get(&app).copied().unwrap_or(0);
        if n_own >= taken.n_free {
            return None;
        }
        taken.n_free -= 1;
        taken.by_app.insert(app, n_own + 1);
        Some(Permit { of: self.clone(), app })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut taken = self.of.0.lock();
        taken.n_free += 1;
        match taken.by_app.get_mut(&self.app) {
            Some(n_own) if *n_own > 1 => *n_own -= 1,
            Some(_) | None => drop(taken.by_app.remove(&self.app)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_takes_everything() {
        let share = FairShare::new(128);
        let all = |app: i64| std::iter::from_fn(|| share.take(AppId(app))).collect::<Vec<Permit>>();
        let held: Vec<Vec<Permit>> = (1..=5).map(all).collect();
        assert_eq!(held.iter().map(Vec::len).collect::<Vec<_>>(), [64, 32, 16, 8, 4]);
        assert_eq!(all(1).len(), 0);
        let mut held = held.into_iter();
        drop(held.next());
        assert_eq!(all(6).len(), 34, "what was given back");
        drop(held);
        assert_eq!(all(1).len(), 64);
        let taken = share.0.lock();
        assert!(taken.n_free == 128 && taken.by_app.is_empty());
    }
}
