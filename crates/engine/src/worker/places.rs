//! Who may run at once: so many jobs in all, only some of them deliveries, of which one app has only some, and only a few in any one
//! lane; so that slow platforms, slow webhooks and busy apps hold up nobody else. Webhooks have places of their own.

use std::collections::HashMap;

use model::ids::AppId;
use store::jobs::{Full, Lane};

use crate::job::{DELIVER, FORWARD, is_delivery, is_forwarding};
use crate::webhooks;

/// Jobs running at once in one process, apart from those of webhooks. Each has many requests in flight of its own.
const IN_ALL: usize = 40;
/// Jobs that wait for others, of one kind: how many of them in all, and how many of one app. What deliveries leave is for what is
/// quick, such as finding out whom a push is for.
const SLOW: [Slow; 2] = [DELIVERIES, FORWARDING];
const DELIVERIES: Slow = Slow { kind: DELIVER, is_one: is_delivery, in_all: 20, per_app: 10 };
/// Receivers answer when they like, and whoever waits for one costs next to nothing: every webhook of an app has a place, and
/// there are enough for many apps whose receivers are all slow.
const FORWARDING: Slow =
    Slow { kind: FORWARD, is_one: is_forwarding, in_all: 16 * webhooks::MOST_PER_APP, per_app: webhooks::MOST_PER_APP };
const PER_LANE: usize = 2;

struct Slow {
    kind: &'static str,
    is_one: fn(&Lane) -> bool,
    in_all: usize,
    per_app: usize,
}

#[derive(Clone, Default)]
pub(super) struct Places {
    taken: HashMap<Lane, usize>,
    n_forwarding: usize,
    /// All others.
    n_taken: usize,
}

impl Places {
    pub(super) fn n_free(&self) -> usize {
        IN_ALL - self.n_taken + FORWARDING.in_all - self.n_forwarding
    }

    /// What is not to be claimed now.
    pub(super) fn full(&self) -> Vec<Full> {
        let mut apps: Vec<AppId> = self.taken.keys().map(|lane| lane.app).collect();
        apps.sort_unstable_by_key(|app| app.0);
        apps.dedup();
        let mut full: Vec<Full> = self.full_lanes().collect();
        if self.n_taken >= IN_ALL {
            full.push(Full::AllBut(FORWARD));
        }
        for slow in &SLOW {
            if self.n_taken_by(slow, |_| true) >= slow.in_all {
                full.push(Full::Kind(slow.kind));
                continue;
            }
            let full_apps = apps.iter().filter(|app| self.n_taken_by(slow, |of| of == **app) >= slow.per_app);
            full.extend(full_apps.map(|app| Full::App(*app, slow.kind)));
        }
        full
    }

    /// Whether there was a place.
    pub(super) fn take(&mut self, lane: &Lane) -> bool {
        let n = self.taken.get(lane).copied().unwrap_or(0);
        let is_too_much = SLOW.iter().filter(|slow| (slow.is_one)(lane)).any(|slow| {
            self.n_taken_by(slow, |_| true) >= slow.in_all
                || self.n_taken_by(slow, |app| app == lane.app) >= slow.per_app
        });
        let is_forwarding = is_forwarding(lane);
        if n == PER_LANE || is_too_much || !is_forwarding && self.n_taken == IN_ALL {
            return false;
        }
        self.taken.insert(lane.clone(), n + 1);
        *self.count(is_forwarding) += 1;
        true
    }

    pub(super) fn leave(&mut self, lane: &Lane) {
        let Some(n) = self.taken.get_mut(lane) else { return };
        *n -= 1;
        if *n == 0 {
            self.taken.remove(lane);
        }
        *self.count(is_forwarding(lane)) -= 1;
    }

    fn count(&mut self, is_forwarding: bool) -> &mut usize {
        if is_forwarding { &mut self.n_forwarding } else { &mut self.n_taken }
    }

    fn full_lanes(&self) -> impl Iterator<Item = Full> {
        self.taken.iter().filter(|(_, n)| **n >= PER_LANE).map(|(lane, _)| Full::Lane(lane.clone()))
    }

    fn n_taken_by(&self, slow: &Slow, of: impl Fn(AppId) -> bool) -> usize {
        self.taken.iter().filter(|(lane, _)| (slow.is_one)(lane) && of(lane.app)).map(|(_, n)| n).sum()
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
        assert_eq!(places.n_free(), IN_ALL - 4 + FORWARDING.in_all);
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

    #[test]
    fn webhooks_take_nothing_from_other_jobs_and_one_app_not_all_of_theirs() {
        let lane = |app, name: String| Lane { app: AppId(app), name };
        let mut places = Places::default();
        let mut fill = |app| (0..40).filter(|n| places.take(&lane(app, format!("forward_events/{n}")))).count();
        assert!((1..=16).all(|app| fill(app) == 20) && fill(17) == 0);
        assert_eq!((places.full(), places.n_free()), (vec![Full::Kind(FORWARD)], IN_ALL));
        let n_others = (0..60).filter(|n| places.take(&lane(1, format!("tend_list/{n}")))).count();
        assert_eq!((n_others, places.n_free()), (IN_ALL, 0));
        places.leave(&lane(1, "forward_events/0".to_owned()));
        assert_eq!(places.n_free(), 1);
        assert!(places.full().contains(&Full::AllBut(FORWARD)) && !places.take(&lane(1, "resolve".to_owned())));
        assert!(places.take(&lane(17, "forward_events/0".to_owned())));
    }
}
