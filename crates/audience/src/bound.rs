//! A plan bound to one shard: its terms replaced by the sets of their holders, the parts of each node in the order that
//! decides soonest, and an estimate of the cost of the two ways to evaluate it.

use roaring::RoaringBitmap;

use crate::plan::Plan;
use crate::shard::Shard;

/// The cost of looking one channel up in one set, relative to merging one member of a sorted list. Most of it is
/// waiting for memory, as it is at the beginning of a container of 2^16 ordinals and in one that is a bitmap.
const LOOKUP: f64 = 64.0;
const CONTAINER: f64 = 256.0;
const BITMAP_CONTAINER: f64 = 512.0;
const CONTAINERS: u64 = 16;
/// Above this, the containers of a set are bitmaps.
pub(crate) const MOST_IN_SORTED_LISTS: u64 = CONTAINERS * 4096;

pub(crate) struct Bound<'a> {
    pub(crate) node: Node<'a>,
    /// Whether the answer may name channels that are not part of everyone.
    pub(crate) strays: bool,
    /// The expected part of everyone, from 0 to 1.
    share: f64,
    /// In how many sets a channel is expected to be looked up until it is decided.
    lookups: f64,
    /// The expected cost of combining whole sets.
    work: f64,
}

/// In normal form: only the root can be `Everyone` or `Nobody`, and an `And` or `Or` has two parts or more.
pub(crate) enum Node<'a> {
    Everyone(&'a RoaringBitmap),
    Nobody,
    Term(&'a RoaringBitmap),
    Set(&'a RoaringBitmap),
    /// The rarest first. Excluded parts come last, when few channels are left, and are subtracted: no complement is
    /// ever made there.
    And(Vec<Bound<'a>>),
    /// The most popular first.
    Or(Vec<Bound<'a>>),
    Not(Box<Bound<'a>>),
}

impl<'a> Bound<'a> {
    pub(crate) fn new(plan: &'a Plan, shard: &'a Shard) -> Self {
        let everyone = &shard.everyone;
        match plan {
            Plan::Everyone => Self::everyone(everyone),
            Plan::Nobody => Self::nobody(),
            Plan::Term(term) => match (shard.present(*term), shard.apart(*term)) {
                (Some(holders), _) => Self::leaf(Node::Term(holders), holders.len(), everyone),
                (None, Some(holders)) => {
                    Self { strays: true, ..Self::leaf(Node::Term(holders), holders.len(), everyone) }
                }
                (None, None) => Self::nobody(),
            },
            Plan::Set(set) => match (everyone.min(), everyone.max()) {
                (Some(first), Some(last)) => Self::leaf(Node::Set(set), set.range_cardinality(first..=last), everyone),
                (None, _) | (_, None) => Self::nobody(),
            },
            Plan::And(parts) => Self::all_of(parts.iter().map(|part| Self::new(part, shard)), everyone),
            Plan::Or(parts) => Self::any_of(parts.iter().map(|part| Self::new(part, shard)), everyone),
            Plan::Not(inner) => Self::not(Self::new(inner, shard), everyone),
        }
    }

    /// Whether looking up each channel of a universe is cheaper than combining sets.
    pub(crate) fn is_worth_looking_up(&self, universe: &RoaringBitmap) -> bool {
        match self.node {
            // Intersecting with a bitmap is looking up, and faster.
            Node::Term(set) | Node::Set(set) if set.len() > MOST_IN_SORTED_LISTS => false,
            Node::Everyone(_)
            | Node::Nobody
            | Node::Term(_)
            | Node::Set(_)
            | Node::And(_)
            | Node::Or(_)
            | Node::Not(_) => universe.len() as f64 * self.lookups * LOOKUP < self.work,
        }
    }

    pub(crate) const fn work(&self) -> f64 {
        self.work
    }

    fn everyone(everyone: &'a RoaringBitmap) -> Self {
        Self { node: Node::Everyone(everyone), strays: false, share: 1.0, lookups: 0.0, work: 0.0 }
    }

    fn nobody() -> Self {
        Self { node: Node::Nobody, strays: false, share: 0.0, lookups: 0.0, work: 0.0 }
    }

    fn leaf(node: Node<'a>, members: u64, everyone: &RoaringBitmap) -> Self {
        if members == 0 || everyone.is_empty() {
            return Self::nobody();
        }
        let work = if members > MOST_IN_SORTED_LISTS {
            CONTAINERS as f64 * BITMAP_CONTAINER
        } else {
            members.min(CONTAINERS) as f64 * CONTAINER + members as f64
        };
        let share = (members as f64 / everyone.len() as f64).min(1.0);
        Self { node, strays: false, share, lookups: 1.0, work }
    }

    fn all_of(parts: impl Iterator<Item = Self>, everyone: &'a RoaringBitmap) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part.node {
                Node::Everyone(_) => {}
                Node::Nobody => return part,
                Node::Term(_) | Node::Set(_) | Node::And(_) | Node::Or(_) | Node::Not(_) => kept.push(part),
            }
        }
        let excluded = |part: &Self| matches!(part.node, Node::Not(_));
        kept.sort_by(|a, b| excluded(a).cmp(&excluded(b)).then(a.share.total_cmp(&b.share)));
        let (mut share, mut lookups, mut work) = (1.0, 0.0, 0.0);
        for part in &kept {
            let left = everyone.len() as f64 * share;
            work += part.work.min(left * part.lookups * LOOKUP);
            lookups += part.lookups * share;
            share *= part.share;
        }
        let several = |parts| Self { node: Node::And(parts), strays: false, share, lookups, work };
        Self::joined(kept, Self::everyone(everyone), several)
    }

    fn any_of(parts: impl Iterator<Item = Self>, everyone: &'a RoaringBitmap) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part.node {
                Node::Everyone(_) => return Self::everyone(everyone),
                Node::Nobody => {}
                Node::Term(_) | Node::Set(_) | Node::And(_) | Node::Or(_) | Node::Not(_) => kept.push(part),
            }
        }
        kept.sort_by(|a, b| b.share.total_cmp(&a.share));
        let (mut missing, mut lookups) = (1.0, 0.0);
        for part in &kept {
            lookups += part.lookups * missing;
            missing *= 1.0 - part.share;
        }
        let work = kept.iter().map(|part| part.work).sum();
        let strays = kept.iter().any(|part| part.strays);
        let several = |parts| Self { node: Node::Or(parts), strays, share: 1.0 - missing, lookups, work };
        Self::joined(kept, Self::nobody(), several)
    }

    fn not(inner: Self, everyone: &'a RoaringBitmap) -> Self {
        match inner.node {
            Node::Everyone(_) => Self::nobody(),
            Node::Nobody => Self::everyone(everyone),
            Node::Term(_) | Node::Set(_) | Node::And(_) | Node::Or(_) | Node::Not(_) => Self {
                strays: false,
                share: 1.0 - inner.share,
                lookups: inner.lookups,
                work: inner.work + CONTAINERS as f64 * BITMAP_CONTAINER,
                node: Node::Not(Box::new(inner)),
            },
        }
    }

    fn joined(mut parts: Vec<Self>, none: Self, several: impl FnOnce(Vec<Self>) -> Self) -> Self {
        if parts.len() > 1 { several(parts) } else { parts.pop().unwrap_or(none) }
    }
}
