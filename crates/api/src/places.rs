//! Places for what goes on for long: few enough for the server, and shared fairly by the apps.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::ids::AppId;

/// An app gets another place as long as it has fewer than are free. So one that takes all it can get leaves half of them to
/// others, the next one half of that, and an app that has none yet finds one almost always.
#[derive(Clone)]
pub(crate) struct Places(Arc<Mutex<Taken>>);

struct Taken {
    n_free: usize,
    by_app: HashMap<AppId, usize>,
}

/// One place, until it is dropped.
pub(crate) struct Place {
    places: Places,
    app: AppId,
}

impl Places {
    pub(crate) fn new(n_places: usize) -> Self {
        Self(Arc::new(Mutex::new(Taken { n_free: n_places, by_app: HashMap::new() })))
    }

    /// `None` when the app has its share.
    pub(crate) fn take(&self, app: AppId) -> Option<Place> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let n_own = taken.by_app.get(&app).copied().unwrap_or(0);
        if n_own >= taken.n_free {
            return None;
        }
        taken.n_free -= 1;
        taken.by_app.insert(app, n_own + 1);
        Some(Place { places: self.clone(), app })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.0.lock().unwrap_or_else(PoisonError::into_inner);
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
        let places = Places::new(128);
        let all = |app: i64| std::iter::from_fn(|| places.take(AppId(app))).collect::<Vec<Place>>();
        let held: Vec<Vec<Place>> = (1..=5).map(all).collect();
        assert_eq!(held.iter().map(Vec::len).collect::<Vec<_>>(), [64, 32, 16, 8, 4]);
        assert_eq!(all(1).len(), 0);
        let mut held = held.into_iter();
        drop(held.next());
        assert_eq!(all(6).len(), 34, "what was given back");
        drop(held);
        assert_eq!(all(1).len(), 64);
        let taken = places.0.lock().unwrap();
        assert!(taken.n_free == 128 && taken.by_app.is_empty());
    }
}
