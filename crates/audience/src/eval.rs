//! Evaluation: from a plan to the channels it describes, or only to their number.
//!
//! A part of a plan is evaluated for the channels that still matter, its *universe*: its answer is exact for those and
//! arbitrary for the others, because its parent drops them anyway. So a term is its own answer, borrowed.
//! When few channels matter, they are looked up one by one, and a rare term costs little whatever it is joined with.

use std::borrow::Cow;
use std::sync::{Arc, RwLock};
use std::thread;

use roaring::{MultiOps, RoaringBitmap};

use crate::bound::{Bound, MOST_IN_SORTED_LISTS, Node};
use crate::index::{Index, UNPOISONED};
use crate::plan::Plan;
use crate::shard::Shard;

type Channels<'a> = Cow<'a, RoaringBitmap>;

/// The work, as [`Bound::work`] counts it, compared with which starting a thread costs nothing: about a millisecond.
const WORTH_A_THREAD: f64 = 1_000_000.0;
/// Members of a shard from which on a sorted list is long.
const LONG: u64 = 4096;

impl Index {
    /// The channels that a plan describes.
    pub fn resolve(&self, plan: &Plan) -> RoaringBitmap {
        let mut channels = RoaringBitmap::new();
        for part in self.each_shard(plan, |bound, everyone| bound.answer(everyone)) {
            channels |= part;
        }
        channels
    }

    /// How many channels a plan describes.
    pub fn count(&self, plan: &Plan) -> u64 {
        self.each_shard(plan, |bound, everyone| bound.count(everyone)).into_iter().sum()
    }

    /// Asks all shards about a plan, on several threads when that takes long.
    fn each_shard<T: Send>(&self, plan: &Plan, ask: impl Fn(&Bound<'_>, &RoaringBitmap) -> T + Sync) -> Vec<T> {
        let shards = self.shards();
        let ask_some = &|shards: &[Arc<RwLock<Shard>>]| -> Vec<T> {
            let ask_one = |shard: &Arc<RwLock<Shard>>| {
                let shard = shard.read().expect(UNPOISONED);
                ask(&Bound::new(plan, &shard), &shard.everyone)
            };
            shards.iter().map(ask_one).collect()
        };
        let per_thread = shards.len().div_ceil(threads_for(plan, &shards));
        if per_thread == shards.len() {
            return ask_some(&shards);
        }
        thread::scope(|scope| {
            let start = |part| (part, thread::Builder::new().spawn_scoped(scope, move || ask_some(part)));
            let started: Vec<_> = shards.chunks(per_thread).map(start).collect();
            let finished = started.into_iter().map(|(part, thread)| match thread {
                Ok(thread) => thread.join().expect("evaluating a plan does not panic"),
                // The system has no threads to spare.
                Err(_) => ask_some(part),
            });
            finished.flatten().collect()
        })
    }
}

/// Judged by the first shard.
fn threads_for(plan: &Plan, shards: &[Arc<RwLock<Shard>>]) -> usize {
    let Some(first) = shards.first() else { return 1 };
    let work = Bound::new(plan, &first.read().expect(UNPOISONED)).work() * shards.len() as f64;
    if work < 2.0 * WORTH_A_THREAD {
        return 1;
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    (2..=cores).rev().find(|threads| *threads as f64 * WORTH_A_THREAD <= work).unwrap_or(1)
}

impl<'a> Bound<'a> {
    /// The channels of everyone that the plan describes.
    fn answer(&self, everyone: &RoaringBitmap) -> RoaringBitmap {
        let channels = self.resolve(everyone);
        if self.strays { &*channels & everyone } else { channels.into_owned() }
    }

    /// The answer for a universe.
    fn resolve(&self, universe: &RoaringBitmap) -> Channels<'a> {
        if self.is_worth_looking_up(universe) {
            let (inside, _) = self.split(universe.iter().collect());
            return Cow::Owned(RoaringBitmap::from_sorted_iter(inside).expect("both halves of a split ascend"));
        }
        match &self.node {
            Node::Everyone(everyone) => Cow::Borrowed(everyone),
            Node::Nobody => Cow::default(),
            Node::Term(holders) => Cow::Borrowed(holders),
            Node::Set(set) => Cow::Owned(*set & universe),
            Node::And(parts) => conjunction(parts, universe),
            Node::Or(parts) => union(parts, universe),
            Node::Not(inner) => Cow::Owned(universe - &*inner.resolve(universe)),
        }
    }

    /// The length of [`Bound::answer`], without making the last and largest set.
    fn count(&self, everyone: &RoaringBitmap) -> u64 {
        if self.strays {
            return self.resolve(everyone).intersection_len(everyone);
        }
        match &self.node {
            Node::Everyone(everyone) => everyone.len(),
            Node::Nobody => 0,
            Node::Term(holders) => holders.len(),
            Node::Set(set) => set.intersection_len(everyone),
            Node::And(parts) => {
                let Some((last, most)) = parts.split_last() else { return everyone.len() };
                let kept = conjunction(most, everyone);
                if kept.is_empty() {
                    0
                } else if let Node::Not(inner) = &last.node {
                    kept.difference_len(&inner.resolve(&kept))
                } else {
                    kept.intersection_len(&last.resolve(&kept))
                }
            }
            Node::Or(parts) => {
                let Some((largest, others)) = parts.split_first() else { return 0 };
                largest.resolve(everyone).union_len(&union(others, everyone))
            }
            Node::Not(inner) => everyone.len() - inner.count(everyone),
        }
    }

    /// Looks channels up, and returns those that the plan describes and those that it does not. All lists ascend.
    ///
    /// One set after the other, not one channel after the other, so that a set stays in the cache while it is needed.
    fn split(&self, channels: Vec<u32>) -> (Vec<u32>, Vec<u32>) {
        match &self.node {
            Node::Everyone(_) => (channels, Vec::new()),
            Node::Nobody => (Vec::new(), channels),
            Node::Term(set) | Node::Set(set) => partition(channels, set),
            Node::And(parts) => {
                let (mut inside, mut outside) = (channels, Vec::new());
                for part in parts {
                    let (kept, dropped) = part.split(inside);
                    inside = kept;
                    outside.extend(dropped);
                }
                outside.sort_unstable();
                (inside, outside)
            }
            Node::Or(parts) => {
                let (mut inside, mut outside) = (Vec::new(), channels);
                for part in parts {
                    let (found, left) = part.split(outside);
                    inside.extend(found);
                    outside = left;
                }
                inside.sort_unstable();
                (inside, outside)
            }
            Node::Not(inner) => {
                let (inside, outside) = inner.split(channels);
                (outside, inside)
            }
        }
    }
}

/// Writes each channel to both lists and advances in one of them: there is no branch to mispredict, so that the lookups
/// of several channels wait for memory at the same time.
fn partition(mut channels: Vec<u32>, set: &RoaringBitmap) -> (Vec<u32>, Vec<u32>) {
    let mut inside = vec![0; channels.len()];
    let (mut n_inside, mut n_outside) = (0, 0);
    for index in 0..channels.len() {
        let ordinal = channels[index];
        let is_inside = usize::from(set.contains(ordinal));
        inside[n_inside] = ordinal;
        channels[n_outside] = ordinal;
        n_inside += is_inside;
        n_outside += 1 - is_inside;
    }
    inside.truncate(n_inside);
    channels.truncate(n_outside);
    (inside, channels)
}

fn conjunction<'a>(parts: &[Bound<'a>], universe: &RoaringBitmap) -> Channels<'a> {
    let Some((first, rest)) = parts.split_first() else { return Cow::Owned(universe.clone()) };
    let mut kept = first.resolve(universe);
    // The kept channels are the universe of the next part, and a universe is always a part of everyone.
    if first.strays || kept.len() > universe.len() {
        kept = intersection(kept, Cow::Borrowed(universe));
    }
    for part in rest {
        if kept.is_empty() {
            break;
        }
        kept = if let Node::Not(inner) = &part.node {
            let dropped = inner.resolve(&kept);
            difference(kept, &dropped)
        } else {
            let other = part.resolve(&kept);
            if are_long_lists(&kept, &other) && universe.len() > MOST_IN_SORTED_LISTS {
                Cow::Owned(meeting_of_lists(&kept, &other, universe))
            } else {
                intersection(kept, other)
            }
        };
    }
    kept
}

/// Whether both sets are sorted lists, with so many members that merging them takes long.
fn are_long_lists(left: &RoaringBitmap, right: &RoaringBitmap) -> bool {
    let (left, right) = (left.len(), right.len());
    left.max(right) <= MOST_IN_SORTED_LISTS && left.min(right) >= LONG
}

/// The intersection by way of the rest of the universe without the second set. The rest is a bitmap, and testing the
/// bits of a list is several times as fast as merging two lists, where nearly every step is mispredicted.
fn meeting_of_lists(left: &RoaringBitmap, right: &RoaringBitmap, universe: &RoaringBitmap) -> RoaringBitmap {
    (left & universe) - (universe - right)
}

fn union<'a>(parts: &[Bound<'a>], universe: &RoaringBitmap) -> Channels<'a> {
    match parts {
        [only] => only.resolve(universe),
        several => {
            let answers: Vec<_> = several.iter().map(|part| part.resolve(universe)).collect();
            Cow::Owned(answers.iter().map(Cow::as_ref).union())
        }
    }
}

fn intersection<'a>(left: Channels<'a>, right: Channels<'_>) -> Channels<'a> {
    Cow::Owned(match (left, right) {
        (Cow::Owned(left), Cow::Owned(right)) => left & right,
        (Cow::Owned(owned), Cow::Borrowed(borrowed)) => owned & borrowed,
        (Cow::Borrowed(borrowed), Cow::Owned(owned)) => owned & borrowed,
        (Cow::Borrowed(left), Cow::Borrowed(right)) => left & right,
    })
}

fn difference<'a>(left: Channels<'a>, right: &RoaringBitmap) -> Channels<'a> {
    Cow::Owned(match left {
        Cow::Owned(left) => left - right,
        Cow::Borrowed(left) => left - right,
    })
}
