//! How many jobs may run at once: in all, of deliveries, of one app's deliveries, and in any one lane. So slow platforms, slow
//! webhooks and busy apps hold up nobody else. Webhooks have places of their own.

use std::collections::BTreeMap;

use model::ids::AppId;
use store::jobs::{DueJob, Full, Lane};

use crate::job::{DELIVER, FORWARD};
use crate::webhooks;

/// Jobs running at once in one process, apart from those of webhooks. Each has many requests in flight of its own.
const IN_ALL: usize = 40;
/// Jobs that wait for others, of one kind: how many of them in all, and how many of one app. What deliveries leave is for what is
/// quick, such as finding out whom a push is for.
const SLOW: [Slow; 2] = [DELIVERIES, FORWARDING];
const DELIVERIES: Slow = Slow { kind: DELIVER, pace: Pace::Delivery, in_all: 20, per_app: 10 };
/// Receivers answer when they like, and a job that waits for one costs next to nothing: every webhook of an app has a place, and
/// there are enough for many apps whose receivers are all slow.
const FORWARDING: Slow = Slow {
    kind: FORWARD,
    pace: Pace::Forwarding,
    in_all: 16 * webhooks::MOST_PER_APP,
    per_app: webhooks::MOST_PER_APP,
};
const PER_LANE: usize = 2;

struct Slow {
    kind: &'static str,
    pace: Pace,
    in_all: usize,
    per_app: usize,
}

/// What a job spends its time with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pace {
    Delivery,
    Forwarding,
    /// Work of our own.
    Quick,
}

impl Pace {
    fn of(kind: &str) -> Self {
        match kind {
            DELIVER => Pace::Delivery,
            FORWARD => Pace::Forwarding,
            _ => Pace::Quick,
        }
    }
}

/// The place of a job that runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    lane: Lane,
    pace: Pace,
}

#[derive(Default)]
pub(super) struct Places {
    taken: BTreeMap<Place, usize>,
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
        let mut apps: Vec<AppId> = self.taken.keys().map(|place| place.lane.app).collect();
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

    /// `None` when there is no place for the job.
    pub(super) fn take(&mut self, job: &DueJob) -> Option<Place> {
        let place = Place { lane: job.lane.clone(), pace: Pace::of(&job.kind) };
        let n = self.taken.get(&place).copied().unwrap_or(0);
        let is_too_much = SLOW.iter().filter(|slow| slow.pace == place.pace).any(|slow| {
            self.n_taken_by(slow, |_| true) >= slow.in_all
                || self.n_taken_by(slow, |app| app == job.app) >= slow.per_app
        });
        if n == PER_LANE || is_too_much || place.pace != Pace::Forwarding && self.n_taken == IN_ALL {
            return None;
        }
        self.taken.insert(place.clone(), n + 1);
        *self.count(place.pace) += 1;
        Some(place)
    }

    pub(super) fn leave(&mut self, place: &Place) {
        let Some(n) = self.taken.get_mut(place) else { return };
        *n -= 1;
        if *n == 0 {
            self.taken.remove(place);
        }
        *self.count(place.pace) -= 1;
    }

    fn count(&mut self, pace: Pace) -> &mut usize {
        match pace {
            Pace::Forwarding => &mut self.n_forwarding,
            Pace::Delivery | Pace::Quick => &mut self.n_taken,
        }
    }

    fn full_lanes(&self) -> impl Iterator<Item = Full> {
        self.taken.iter().filter(|(_, n)| **n >= PER_LANE).map(|(place, _)| Full::Lane(place.lane.clone()))
    }

    fn n_taken_by(&self, slow: &Slow, of: impl Fn(AppId) -> bool) -> usize {
        self.taken.iter().filter(|(place, _)| place.pace == slow.pace && of(place.lane.app)).map(|(_, n)| n).sum()
    }
}

#[cfg(test)]
mod tests {
    use model::ids::Id;

    use super::*;

    fn due(app: i64, kind: &str, rest: &str) -> DueJob {
        let app = AppId(app);
        let lane = Lane { app, name: format!("{kind}/{rest}") };
        DueJob { app, id: Id::random(), kind: kind.to_owned(), lane }
    }

    #[test]
    fn a_full_lane_leaves_room_for_others() {
        let mut places = Places::default();
        let slow = due(1, DELIVER, "open::slow");
        let place = places.take(&slow).unwrap();
        assert!(places.take(&slow).is_some() && places.take(&slow).is_none());
        assert_eq!(places.full(), [Full::Lane(slow.lane.clone())]);
        assert!(places.take(&due(2, DELIVER, "open::slow")).is_some(), "another app's platform of the same name");
        assert!(places.take(&due(1, DELIVER, "ios")).is_some());
        places.leave(&place);
        assert!(places.full().is_empty() && places.take(&slow).is_some());
        assert_eq!(places.n_free(), IN_ALL - 4 + FORWARDING.in_all);
    }

    #[test]
    fn slow_platforms_of_one_app_leave_room_for_other_apps_and_other_jobs() {
        let mut places = Places::default();
        let mut fill = |app| {
            let taken = (0..24).filter_map(|n| places.take(&due(app, DELIVER, &format!("open::{n}"))));
            taken.collect::<Vec<_>>()
        };
        let taken = [fill(1), fill(2), fill(3)];
        assert_eq!(taken.each_ref().map(Vec::len), [10, 10, 0]);
        assert_eq!(places.full(), [Full::Kind(DELIVER)]);
        assert!(places.take(&due(3, "resolve", "")).is_some());
        places.leave(&taken[1][0]);
        assert_eq!(places.full(), [Full::App(AppId(1), DELIVER)]);
    }

    #[test]
    fn webhooks_take_nothing_from_other_jobs_and_one_app_not_all_of_theirs() {
        let mut places = Places::default();
        let mut fill = |app| {
            let taken = (0..40).filter_map(|n| places.take(&due(app, FORWARD, &n.to_string())));
            taken.collect::<Vec<_>>()
        };
        let first = fill(1);
        assert!(first.len() == 20 && (2..=16).all(|app| fill(app).len() == 20) && fill(17).is_empty());
        assert_eq!((places.full(), places.n_free()), (vec![Full::Kind(FORWARD)], IN_ALL));
        let n_others = (0..60).filter(|n| places.take(&due(1, "tend_list", &n.to_string())).is_some()).count();
        assert_eq!((n_others, places.n_free()), (IN_ALL, 0));
        places.leave(&first[0]);
        assert_eq!(places.n_free(), 1);
        assert!(places.full().contains(&Full::AllBut(FORWARD)) && places.take(&due(1, "resolve", "")).is_none());
        assert!(places.take(&due(17, FORWARD, "0")).is_some());
    }
}
