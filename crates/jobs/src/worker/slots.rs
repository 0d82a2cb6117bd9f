//! How many jobs may run at once: of each kind of slot, of one app, and in any one lane. So slow platforms, slow webhooks and busy
//! apps do not hold up others. Some slots of each kind are reserved for apps that have none, because jobs may keep theirs for long.

use std::collections::BTreeMap;

use model::ids::AppId;
use model::limits::WEBHOOKS_PER_APP;
use store::jobs::{DueJob, Lane};

use crate::SlotKind;
use crate::contract::Kinds;

/// Each has many requests in flight of its own.
const DELIVERIES: Limits = Limits { in_all: 24, per_app: 10, for_apps_without: 4 };
/// Receivers may be slow, and a job that waits for one costs next to nothing: every webhook of an app has a slot, and there are
/// enough for many apps whose receivers are all slow.
const FORWARDING: Limits =
    Limits { in_all: 17 * WEBHOOKS_PER_APP, per_app: WEBHOOKS_PER_APP, for_apps_without: WEBHOOKS_PER_APP };
/// Such as resolving the audience of a push.
const QUICK: Limits = Limits { in_all: 20, per_app: 10, for_apps_without: 4 };
const PER_LANE: usize = 2;
/// The other slot of a lane is always for its oldest job.
const AHEAD_PER_LANE: usize = PER_LANE - 1;

/// How many slots of one kind there are.
struct Limits {
    in_all: usize,
    per_app: usize,
    /// Of all slots, those reserved for apps that have none of this kind.
    for_apps_without: usize,
}

impl SlotKind {
    const ALL: [SlotKind; 3] = [SlotKind::Delivery, SlotKind::Forwarding, SlotKind::Quick];

    const fn limits(self) -> Limits {
        match self {
            SlotKind::Delivery => DELIVERIES,
            SlotKind::Forwarding => FORWARDING,
            SlotKind::Quick => QUICK,
        }
    }
}

/// Jobs of one lane and kind of slot: they share the slots of the lane. What sends to many leaves slots to what sends to a few.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Track {
    kind: SlotKind,
    lane: Lane,
    /// Whether its jobs keep a thread busy for long.
    is_long: bool,
}

impl Track {
    pub(super) fn of(job: &DueJob, kinds: &Kinds) -> Self {
        let kind = kinds.slots(&job.kind);
        Self { kind, lane: job.lane.clone(), is_long: kind.is_long(job.turn) }
    }

    pub(super) const fn is_long(&self) -> bool {
        self.is_long
    }
}

/// The slot of a running job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    track: Track,
    is_ahead: bool,
}

impl Slot {
    pub(super) const fn track(&self) -> &Track {
        &self.track
    }
}

#[derive(Default)]
pub(super) struct Slots {
    kinds: BTreeMap<SlotKind, usize>,
    apps: BTreeMap<(SlotKind, AppId), usize>,
    tracks: BTreeMap<Track, OnTrack>,
}

#[derive(Clone, Copy, Default)]
struct OnTrack {
    n: usize,
    n_ahead: usize,
}

impl Slots {
    pub(super) fn n_free(&self) -> usize {
        SlotKind::ALL.iter().map(|kind| kind.limits().in_all - count(&self.kinds, kind)).sum()
    }

    pub(super) fn has_room(&self, track: &Track) -> bool {
        let limits = track.kind.limits();
        let (in_all, of_app) = (count(&self.kinds, &track.kind), self.n_of_app(track));
        let n_for_all = limits.in_all - if of_app == 0 { 0 } else { limits.for_apps_without };
        in_all < n_for_all && of_app < limits.per_app && self.n_on(track) < PER_LANE
    }

    /// How many slots of this kind the app has.
    pub(super) fn n_of_app(&self, track: &Track) -> usize {
        count(&self.apps, &(track.kind, track.lane.app))
    }

    pub(super) fn n_on(&self, track: &Track) -> usize {
        self.on(track).n
    }

    /// Whether the next job may go before an older one. If all could, a stream of small pushes would stop a large one.
    pub(super) fn may_go_ahead(&self, track: &Track) -> bool {
        self.on(track).n_ahead < AHEAD_PER_LANE
    }

    /// Only where there is room.
    pub(super) fn take(&mut self, track: Track, is_ahead: bool) -> Slot {
        *self.kinds.entry(track.kind).or_default() += 1;
        *self.apps.entry((track.kind, track.lane.app)).or_default() += 1;
        let on = self.tracks.entry(track.clone()).or_default();
        on.n += 1;
        on.n_ahead += usize::from(is_ahead);
        Slot { track, is_ahead }
    }

    pub(super) fn leave(&mut self, Slot { track, is_ahead }: &Slot) {
        lower(&mut self.kinds, &track.kind);
        lower(&mut self.apps, &(track.kind, track.lane.app));
        let Some(on) = self.tracks.get_mut(track) else { return };
        on.n -= 1;
        on.n_ahead -= usize::from(*is_ahead);
        if on.n == 0 {
            self.tracks.remove(track);
        }
    }

    fn on(&self, track: &Track) -> OnTrack {
        self.tracks.get(track).copied().unwrap_or_default()
    }
}

fn count<K: Ord>(counts: &BTreeMap<K, usize>, key: &K) -> usize {
    counts.get(key).copied().unwrap_or(0)
}

fn lower<K: Ord>(counts: &mut BTreeMap<K, usize>, key: &K) {
    let Some(n) = counts.get_mut(key) else { return };
    *n -= 1;
    if *n == 0 {
        counts.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(app: i64, kind: SlotKind, rest: &str) -> Track {
        Track { kind, lane: Lane { app: AppId(app), name: format!("{kind:?}/{rest}") }, is_long: false }
    }

    fn take(slots: &mut Slots, app: i64, kind: SlotKind, rest: &str) -> Option<Slot> {
        let track = track(app, kind, rest);
        slots.has_room(&track).then(|| slots.take(track, false))
    }

    fn fill(slots: &mut Slots, app: i64, kind: SlotKind) -> Vec<Slot> {
        (0..40).filter_map(|n| take(slots, app, kind, &n.to_string())).collect()
    }

    #[test]
    fn a_full_lane_leaves_room_for_others() {
        let mut slots = Slots::default();
        let n_free = slots.n_free();
        let first = take(&mut slots, 1, SlotKind::Delivery, "open::slow").unwrap();
        assert!(take(&mut slots, 1, SlotKind::Delivery, "open::slow").is_some());
        assert!(take(&mut slots, 1, SlotKind::Delivery, "open::slow").is_none());
        assert!(
            take(&mut slots, 2, SlotKind::Delivery, "open::slow").is_some(),
            "another app's platform of the same name"
        );
        assert!(take(&mut slots, 1, SlotKind::Delivery, "ios").is_some());
        slots.leave(&first);
        assert!(take(&mut slots, 1, SlotKind::Delivery, "open::slow").is_some());
        assert_eq!(slots.n_free(), n_free - 4);
    }

    #[test]
    fn busy_apps_leave_room_for_other_apps_and_other_jobs() {
        for (kind, another, n_second) in
            [(SlotKind::Delivery, SlotKind::Quick, 10), (SlotKind::Quick, SlotKind::Delivery, 6)]
        {
            let mut slots = Slots::default();
            let busy = [fill(&mut slots, 1, kind), fill(&mut slots, 2, kind)];
            assert_eq!(busy.each_ref().map(Vec::len), [10, n_second]);
            let late = [3, 4, 5, 6, 7].map(|app| fill(&mut slots, app, kind).len());
            assert_eq!(late, [1, 1, 1, 1, 0], "however long the busy ones keep theirs");
            assert_eq!(fill(&mut slots, 1, another).len(), 10);
            slots.leave(&busy[0][0]);
            assert!(take(&mut slots, 1, kind, "0").is_none() && take(&mut slots, 7, kind, "0").is_some());
        }
    }

    #[test]
    fn webhooks_take_nothing_from_other_jobs_and_one_app_not_all_of_theirs() {
        let mut slots = Slots::default();
        assert!((1..=16).all(|app| fill(&mut slots, app, SlotKind::Forwarding).len() == 20));
        assert_eq!(fill(&mut slots, 17, SlotKind::Forwarding).len(), 1);
        assert!(
            (18..=36).all(|app| fill(&mut slots, app, SlotKind::Forwarding).len() == 1)
                && fill(&mut slots, 37, SlotKind::Forwarding).is_empty()
        );
        assert_eq!(slots.n_free(), DELIVERIES.in_all + QUICK.in_all);
        assert_eq!(fill(&mut slots, 1, SlotKind::Quick).len(), QUICK.per_app);
    }

    #[test]
    fn one_slot_of_a_lane_is_for_the_job_that_has_waited_longest() {
        let (mut slots, lane) = (Slots::default(), track(1, SlotKind::Delivery, "ios"));
        assert!(slots.may_go_ahead(&lane));
        let ahead = slots.take(lane.clone(), true);
        assert!(!slots.may_go_ahead(&lane));
        slots.take(lane.clone(), false);
        slots.leave(&ahead);
        assert!(slots.may_go_ahead(&lane));
    }
}
