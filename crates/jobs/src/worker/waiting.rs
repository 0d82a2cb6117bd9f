//! Chooses the next of the due jobs: one of the app with the fewest running jobs, so that a busy app does not get back every slot
//! it leaves; then one of the lane with the fewest; then the oldest. Within a lane, jobs of a lower turn may go first, so that a
//! push goes out between two parts of another.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use model::ids::AppId;
use model::time::UtcMillis;
use store::jobs::{DueJob, JobId};

use super::slots::{Slot, Slots, Track};
use crate::contract::Kinds;

/// The due jobs of every track.
#[derive(Default)]
pub(super) struct Waiting {
    tracks: BTreeMap<Track, Vec<DueJob>>,
    /// Every track once, with its rank when it was last looked at. Ranks only rise while slots are taken, so the lowest one is the
    /// lowest still if it has not changed.
    next: BinaryHeap<Reverse<(Rank, Track)>>,
}

/// The lowest is next: the numbers of running jobs of the app and of the lane, and the job.
type Rank = (usize, usize, UtcMillis, AppId, JobId);

/// The job that is to run next.
pub(super) struct Next {
    pub(super) job: DueJob,
    pub(super) track: Track,
    /// Whether the lane has an older one.
    pub(super) is_ahead: bool,
}

impl Waiting {
    pub(super) fn new(due: Vec<DueJob>, kinds: &Kinds, slots: &Slots) -> Self {
        let mut waiting = Self::default();
        for job in due {
            waiting.tracks.entry(Track::of(&job, kinds)).or_default().push(job);
        }
        waiting.rank(slots);
        waiting
    }

    /// To be called when slots were left.
    pub(super) fn rank(&mut self, slots: &Slots) {
        let ranked = self.tracks.iter().filter_map(|(track, jobs)| {
            let rank = rank(track, choose(track, jobs, slots)?, slots);
            Some(Reverse((rank, track.clone())))
        });
        self.next = ranked.collect();
    }

    /// Takes out the next job for which a slot is free.
    pub(super) fn pop(&mut self, slots: &Slots) -> Option<Next> {
        loop {
            let Reverse((known_rank, track)) = self.next.pop()?;
            let Some(jobs) = self.tracks.get_mut(&track).filter(|_| slots.has_room(&track)) else { continue };
            let Some(choice) = choose(&track, jobs, slots) else { continue };
            let rank = rank(&track, choice, slots);
            if rank != known_rank {
                self.next.push(Reverse((rank, track)));
                continue;
            }
            let Choice { index, is_ahead, .. } = choice;
            let job = jobs.swap_remove(index);
            // Its rank is put right when it comes up again.
            if !jobs.is_empty() {
                self.next.push(Reverse((rank, track.clone())));
            }
            return Some(Next { job, track, is_ahead });
        }
    }

    /// Whether a slot is free for any of the jobs.
    pub(super) fn has_room(&self, slots: &Slots) -> bool {
        self.tracks.iter().any(|(track, jobs)| !jobs.is_empty() && slots.has_room(track))
    }

    pub(super) fn has_jobs_for(&self, slot: &Slot) -> bool {
        self.tracks.get(slot.track()).is_some_and(|jobs| !jobs.is_empty())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tracks.values().all(Vec::is_empty)
    }
}

#[derive(Clone, Copy)]
struct Choice<'j> {
    index: usize,
    job: &'j DueJob,
    is_ahead: bool,
}

fn choose<'j>(track: &Track, jobs: &'j [DueJob], slots: &Slots) -> Option<Choice<'j>> {
    let all = || jobs.iter().enumerate();
    let oldest = all().min_by_key(|(_, job)| (job.due, job.turn, job.id))?;
    let lowest = all().min_by_key(|(_, job)| (job.turn, job.due, job.id))?;
    let (index, job) = if slots.may_go_ahead(track) { lowest } else { oldest };
    Some(Choice { index, job, is_ahead: job.due > oldest.1.due })
}

fn rank(track: &Track, Choice { job, .. }: Choice<'_>, slots: &Slots) -> Rank {
    (slots.n_of_app(track), slots.n_on(track), job.due, job.app, job.id)
}

#[cfg(test)]
mod tests {
    use base::Result;
    use model::ids::Id;
    use serde::{Deserialize, Serialize};
    use store::jobs::{ClaimedJob, Lane};

    use super::*;
    use crate::queue::turn_of;
    use crate::{Job, Kind, SlotKind, Stop};

    fn due(app: i64, lane: &str, due: i64, turn: u32) -> DueJob {
        let app = AppId(app);
        let lane = Lane { app, name: format!("deliver/{lane}") };
        DueJob { app, id: Id::random(), kind: "deliver".to_owned(), lane, turn, due: UtcMillis(due) }
    }

    #[derive(Serialize, Deserialize)]
    struct Delivery {}

    impl Job for Delivery {
        type Room = ();
        const NAME: &'static str = "deliver";
        const SLOTS: SlotKind = SlotKind::Delivery;

        async fn run(self, (): &(), _: &ClaimedJob, _: &Stop) -> Result<()> {
            Ok(())
        }
    }

    fn waiting(due: Vec<DueJob>, slots: &Slots) -> Waiting {
        Waiting::new(due, &Kinds::new([Kind::of::<Delivery>(&())]), slots)
    }

    fn take_all(waiting: &mut Waiting, slots: &mut Slots) -> Vec<(DueJob, Slot)> {
        let mut taken = Vec::new();
        while let Some(Next { job, track, is_ahead }) = waiting.pop(slots) {
            taken.push((job, slots.take(track, is_ahead)));
        }
        taken
    }

    #[test]
    fn a_slot_that_is_left_goes_to_the_app_that_has_the_fewest() {
        let backlog = |app| (0..60).map(move |n| due(app, &(n % 8).to_string(), n, 0));
        let mut slots = Slots::default();
        let mut busy = waiting(backlog(1).chain(backlog(2)).collect(), &slots);
        let taken = take_all(&mut busy, &mut slots);
        let n_of = |app| taken.iter().filter(|(job, _)| job.app == AppId(app)).count();
        assert_eq!((n_of(1), n_of(2)), (10, 10));
        // Six apps come, of which four get what is left for those who have none.
        let late = |app| due(app, "ios", 1000, 0);
        let all = backlog(1).chain(backlog(2)).chain((3..=8).map(late)).collect();
        let mut all = waiting(all, &slots);
        let apps = |taken: &[(DueJob, Slot)]| taken.iter().map(|(job, _)| job.app.0).collect::<Vec<_>>();
        assert_eq!(apps(&take_all(&mut all, &mut slots)), [3, 4, 5, 6]);
        for (slot, expected) in taken.iter().map(|(_, slot)| slot).zip([7, 8]) {
            slots.leave(slot);
            let mut all = waiting(backlog(1).chain(backlog(2)).chain((7..=8).map(late)).collect(), &slots);
            assert_eq!(apps(&take_all(&mut all, &mut slots)), [expected]);
        }
    }

    #[test]
    fn jobs_that_found_no_slot_take_the_ones_that_are_left() {
        let mut slots = Slots::default();
        let mut all = waiting((0..4).map(|n| due(1, "ios", n, 0)).collect(), &slots);
        let first = take_all(&mut all, &mut slots);
        assert_eq!((first.len(), all.has_room(&slots), all.has_jobs_for(&first[0].1)), (2, false, true));
        slots.leave(&first[0].1);
        assert!(all.has_room(&slots));
        all.rank(&slots);
        let next = take_all(&mut all, &mut slots);
        assert_eq!(next.iter().map(|(job, _)| job.due.0).collect::<Vec<_>>(), [2]);
        slots.leave(&first[1].1);
        slots.leave(&next[0].1);
        all.rank(&slots);
        assert_eq!(take_all(&mut all, &mut slots).len(), 1);
        assert!(all.is_empty() && !all.has_jobs_for(&first[0].1));
    }

    #[test]
    fn lanes_of_an_app_share_what_it_may_have() {
        let mut slots = Slots::default();
        let jobs = (0..20).map(|n| due(1, "first", n, 0)).chain((0..12).map(|n| due(1, &n.to_string(), 100 + n, 0)));
        let taken = take_all(&mut waiting(jobs.collect(), &slots), &mut slots);
        let in_first = taken.iter().filter(|(job, _)| job.lane.name.ends_with("first")).count();
        assert_eq!((in_first, taken.len()), (1, 10));
    }

    #[test]
    fn a_push_to_a_few_has_slots_beside_one_to_many() {
        let mut slots = Slots::default();
        let large: Vec<_> = (0..20).map(|n| due(1, "ios", 0, turn_of(65_536, n))).collect();
        assert_eq!(take_all(&mut waiting(large.clone(), &slots), &mut slots).len(), 2);
        assert_eq!(take_all(&mut waiting(large[2..].to_vec(), &slots), &mut slots).len(), 0);
        let small = [due(1, "ios", 1, turn_of(999, 0)), due(1, "ios", 1, turn_of(999, 1)), due(1, "ios", 1, 0)];
        let jobs = large[2..].iter().cloned().chain(small).collect();
        let taken = take_all(&mut waiting(jobs, &slots), &mut slots);
        assert_eq!(taken.iter().map(|(job, _)| job.turn).collect::<Vec<_>>(), [0, 0]);
    }

    #[test]
    fn a_push_goes_out_between_two_parts_of_another_and_does_not_stop_it() {
        let mut slots = Slots::default();
        let mut large: Vec<_> = (0..20).map(|n| due(1, "ios", 0, turn_of(999, n))).collect();
        let mut running = take_all(&mut waiting(large.clone(), &slots), &mut slots);
        assert_eq!(running.iter().map(|(job, _)| job.turn).collect::<Vec<_>>(), [0, 1], "in the order of its blocks");
        let mut n_small = 0;
        for round in 1..=8 {
            let (_, slot) = running.remove(0);
            slots.leave(&slot);
            large.retain(|job| running.iter().all(|(other, _)| other.id != job.id));
            let small = [due(1, "ios", round, 0), due(1, "ios", round, 0)];
            let jobs = large.iter().cloned().chain(small).collect();
            let next = take_all(&mut waiting(jobs, &slots), &mut slots);
            assert_eq!(next.len(), 1);
            n_small += usize::from(next[0].0.due.0 > 0);
            running.extend(next);
        }
        assert_eq!(n_small, 4, "by turns, also while small ones keep coming");
    }
}
