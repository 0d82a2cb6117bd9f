//! Who may run at once: so many jobs in all, and only a few of them in any one lane, so that a slow platform of one app holds
//! up nobody else.

use std::collections::HashMap;

use store::jobs::Lane;

/// Jobs running at once in one process. Each has many requests in flight of its own.
const IN_ALL: usize = 24;
const PER_LANE: usize = 2;

#[derive(Default)]
pub(super) struct Places {
    taken: HashMap<Lane, usize>,
    n_taken: usize,
}

impl Places {
    pub(super) fn n_free(&self) -> usize {
        IN_ALL - self.n_taken
    }

    pub(super) fn full_lanes(&self) -> Vec<Lane> {
        self.taken.iter().filter(|(_, n)| **n >= PER_LANE).map(|(lane, _)| lane.clone()).collect()
    }

    /// Whether there was a place.
    pub(super) fn take(&mut self, lane: &Lane) -> bool {
        let n = self.taken.get(lane).copied().unwrap_or(0);
        if self.n_taken == IN_ALL || n == PER_LANE {
            return false;
        }
        self.taken.insert(lane.clone(), n + 1);
        self.n_taken += 1;
        true
    }

    pub(super) fn leave(&mut self, lane: &Lane) {
        let Some(n) = self.taken.get_mut(lane) else { return };
        *n -= 1;
        self.n_taken -= 1;
        if *n == 0 {
            self.taken.remove(lane);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ids::AppId;

    #[test]
    fn a_full_lane_leaves_room_for_others() {
        let lane = |app, name: &str| Lane { app: AppId(app), name: name.to_owned() };
        let mut places = Places::default();
        let slow = lane(1, "deliver/open::slow");
        assert!(places.take(&slow) && places.take(&slow));
        assert!(!places.take(&slow));
        assert_eq!(places.full_lanes(), std::slice::from_ref(&slow));
        assert!(places.take(&lane(2, "deliver/open::slow")), "another app's platform of the same name");
        assert!(places.take(&lane(1, "deliver/ios")));
        places.leave(&slow);
        assert!(places.full_lanes().is_empty() && places.take(&slow));
        assert_eq!(places.n_free(), IN_ALL - 4);
    }
}
