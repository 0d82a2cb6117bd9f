//! Evaluation: from a plan to the channels it describes, or only to their number.
//!
//! A sub-plan is evaluated for the channels that still matter, its *universe*: its answer is exact for those and free
//! to say anything about the others, because its parent drops them anyway. So a term is its own answer, borrowed.

use std::borrow::Cow;

use roaring::{MultiOps, RoaringBitmap};

use crate::index::{Index, UNPOISONED};
use crate::plan::Plan;
use crate::segment::Segment;

type Channels<'a> = Cow<'a, RoaringBitmap>;

/// A set is cut down to its universe before it is combined with others when it is this many times larger. Each channel
/// of the universe is looked up in it, which takes about as long as merging this many members of a sorted list.
const WORTH_LOOKING_UP: u64 = 32;

impl Index {
    /// The channels that a plan describes.
    pub fn resolve(&self, plan: &Plan) -> RoaringBitmap {
        let mut channels = RoaringBitmap::new();
        for segment in self.segments() {
            let segment = segment.read().expect(UNPOISONED);
            channels |= segment.resolve(plan, &segment.everyone).into_owned();
        }
        channels
    }

    /// How many channels a plan describes.
    pub fn count(&self, plan: &Plan) -> u64 {
        self.segments().iter().map(|segment| segment.read().expect(UNPOISONED).count(plan)).sum()
    }
}

impl Segment {
    fn resolve<'a>(&'a self, plan: &'a Plan, universe: &RoaringBitmap) -> Channels<'a> {
        match plan {
            Plan::Everyone => Cow::Borrowed(&self.everyone),
            Plan::Nobody => Cow::default(),
            Plan::Term(term) => self.terms.get(term).map(Cow::Borrowed).unwrap_or_default(),
            Plan::Set(set) => Cow::Owned(set & universe),
            Plan::And(parts) => self.conjunction(&self.smallest_first(parts), universe),
            Plan::Or(parts) => union(self.alternatives(parts, universe)),
            Plan::Not(inner) => Cow::Owned(universe - &*self.resolve(inner, universe)),
        }
    }

    /// Like [`Segment::resolve`], without making the last and largest set.
    fn count(&self, plan: &Plan) -> u64 {
        match plan {
            Plan::Everyone => self.everyone.len(),
            Plan::Nobody => 0,
            Plan::Term(term) => self.terms.get(term).map_or(0, RoaringBitmap::len),
            Plan::Set(set) => set.intersection_len(&self.everyone),
            Plan::And(parts) => self.count_conjunction(&self.smallest_first(parts)),
            Plan::Or(parts) => {
                let mut alternatives = self.alternatives(parts, &self.everyone);
                alternatives.sort_by_key(|alternative| alternative.len());
                let largest = alternatives.pop().unwrap_or_default();
                largest.union_len(&union(alternatives))
            }
            Plan::Not(inner) => self.everyone.len() - self.count(inner),
        }
    }

    fn conjunction<'a>(&'a self, parts: &[&'a Plan], universe: &RoaringBitmap) -> Channels<'a> {
        let Some((first, rest)) = parts.split_first() else { return Cow::Borrowed(&self.everyone) };
        let mut kept = narrow(self.resolve(first, universe), universe);
        for part in rest {
            if kept.is_empty() {
                break;
            }
            kept = if let Plan::Not(inner) = part {
                let dropped = self.resolve(inner, &kept);
                difference(kept, &dropped)
            } else {
                let other = self.resolve(part, &kept);
                intersection(kept, other)
            };
        }
        kept
    }

    fn count_conjunction(&self, parts: &[&Plan]) -> u64 {
        match parts {
            [] => self.everyone.len(),
            [only] => self.count(only),
            [most @ .., last] => {
                let kept = self.conjunction(most, &self.everyone);
                if kept.is_empty() {
                    0
                } else if let Plan::Not(inner) = last {
                    kept.difference_len(&self.resolve(inner, &kept))
                } else {
                    kept.intersection_len(&self.resolve(last, &kept))
                }
            }
        }
    }

    /// The answers of the parts of an `Or`, without the empty ones.
    fn alternatives<'a>(&'a self, parts: &'a [Plan], universe: &RoaringBitmap) -> Vec<Channels<'a>> {
        parts
            .iter()
            .map(|part| narrow(self.resolve(part, universe), universe))
            .filter(|channels| !channels.is_empty())
            .collect()
    }

    /// The order in which an `And` drops channels soonest. What is excluded comes last, when little is left of the
    /// rest, and is subtracted: no complement is ever made there.
    fn smallest_first<'a>(&self, parts: &'a [Plan]) -> Vec<&'a Plan> {
        let mut ordered: Vec<&Plan> = parts.iter().collect();
        ordered.sort_by_cached_key(|part| (matches!(part, Plan::Not(_)), self.at_most(part)));
        ordered
    }

    /// An upper bound of a plan's count that costs next to nothing.
    fn at_most(&self, plan: &Plan) -> u64 {
        match plan {
            Plan::Everyone | Plan::Not(_) => self.everyone.len(),
            Plan::Nobody => 0,
            Plan::Term(term) => self.terms.get(term).map_or(0, RoaringBitmap::len),
            Plan::Set(set) => set.len(),
            Plan::And(parts) => parts.iter().map(|part| self.at_most(part)).min().unwrap_or(self.everyone.len()),
            Plan::Or(parts) => parts.iter().map(|part| self.at_most(part)).sum(),
        }
    }
}

fn narrow<'a>(channels: Channels<'a>, universe: &RoaringBitmap) -> Channels<'a> {
    if channels.len() / WORTH_LOOKING_UP < universe.len() {
        return channels;
    }
    Cow::Owned(universe.iter().filter(|ordinal| channels.contains(*ordinal)).collect())
}

fn intersection<'a>(left: Channels<'a>, right: Channels<'a>) -> Channels<'a> {
    Cow::Owned(match (left, right) {
        (Cow::Owned(left), Cow::Owned(right)) => left & right,
        (Cow::Owned(owned), Cow::Borrowed(borrowed)) | (Cow::Borrowed(borrowed), Cow::Owned(owned)) => owned & borrowed,
        (Cow::Borrowed(left), Cow::Borrowed(right)) => left & right,
    })
}

fn difference<'a>(left: Channels<'a>, right: &RoaringBitmap) -> Channels<'a> {
    Cow::Owned(match left {
        Cow::Owned(left) => left - right,
        Cow::Borrowed(left) => left - right,
    })
}

fn union(mut parts: Vec<Channels<'_>>) -> Channels<'_> {
    if parts.len() > 1 { Cow::Owned(parts.iter().map(Cow::as_ref).union()) } else { parts.pop().unwrap_or_default() }
}
