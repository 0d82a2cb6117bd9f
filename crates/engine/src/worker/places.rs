//! Who may run at once: so many jobs in all, only some of them deliveries, of which one app has only some, and only a few in any
//! one lane; so that slow platforms and busy apps hold up nobody else.

use std::collections::HashMap;

use model::ids::AppId;
use store::jobs::{Full, Lane};

use crate::job::{DELIVER, is_delivery};

/// Jobs running at once in one process. Each has many requests in flight of its own.
const IN_ALL: usize = 24;
/// The rest is for what is quick, such as finding out whom a push is for.
const DELIVERIES: usize = 20;
const DELIVERIES_PER_APP: usize = DELIVERIES / 2;
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

    /// What is not to be claimed now.
    pub(super) fn full(&self) -> Vec<Full> {
        if self.n_deliveries(|_| true) >= DELIVERIES {
            return self.full_lanes().chain([Full::Kind(DELIVER)]).collect();
        }
        let mut apps: Vec<AppId> = self.taken.keys().map(|lane| lane.app).collect();
        apps.sort_unstable_by_key(|app| app.0);
        apps.dedup();
        let full_apps = apps.into_iter().filter(|app| self.n_deliveries(|of| of == *app) >= DELIVERIES_PER_APP);
        self.full_lanes().chain(full_apps.map(|app| Full::App(app, DELIVER))).collect()
    }

    /// Whether there was a place.
    pub(super) fn take(&mut self, lane: &Lane) -> bool {
        let n = self.taken.get(lane).copied().unwrap_or(0);
        let is_too_much = is_delivery(lane)
            && (self.n_deliveries(|_| true) >= DELIVERIES
                || self.n_deliveries(|app| app == lane.app) >= DELIVERIES_PER_APP);
        if self.n_taken == IN_ALL || n == PER_LANE || is_too_much {
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

    fn full_lanes(&self) -> impl Iterator<Item = Full> {
        self.taken.iter().filter(|(_, n)| **n >= PER_LANE).map(|(lane, _)| Full::Lane(lane.clone()))
    }

    fn n_deliveries(&self, of: impl Fn(AppId) -> bool) -> usize {
        self.taken.iter().filter(|(lane, _)| is_delivery(lane) && of(lane.app)).map(|(_, n)| n).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_lane_leaves_room_for_others() {
        let lane = |app, name: &str| Lane { app: AppId(app), name: name.to_owned() };
        let mut places = Places::default();
        let slow = lane(1, "deliver/open::slow");
        assert!(places.take(&slow) && places.take(&slow));
        assert!(!places.take(&slow));
        assert_eq!(places.full(), [Full::Lane(slow.clone())]);
        assert!(places.take(&lane(2, "deliver/open::slow")), "another app's platform of the same name");
        assert!(places.take(&lane(1, "deliver/ios")));
        places.leave(&slow);
        assert!(places.full().is_empty() && places.take(&slow));
        assert_eq!(places.n_free(), IN_ALL - 4);
    }

    #[test]
    fn slow_platforms_of_one_app_leave_room_for_other_apps_and_other_jobs() {
        let lane = |app, name: String| Lane { app: AppId(app), name };
        let mut places = Places::default();
        let mut fill = |app| (0..24).filter(|n| places.take(&lane(app, format!("deliver/open::{n}")))).count();
        assert_eq!((fill(1), fill(2), fill(3)), (10, 10, 0));
        assert_eq!(places.full(), [Full::Kind(DELIVER)]);
        assert!(places.take(&lane(3, "resolve".to_owned())));
        places.leave(&lane(2, "deliver/open::0".to_owned()));
        assert_eq!(places.full(), [Full::App(AppId(1), DELIVER)]);
    }
}
