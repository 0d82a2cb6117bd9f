//! Turns segments in an audience into the plans of their criteria, which may refer to further segments.

use std::collections::{BTreeSet, HashSet};

use audience::plan::Plan;
use base::Result;
use model::ids::SegmentId;
use model::selector::Selector;

use super::{Reached, references};
use crate::plan::{PlannedSegment, Planner};

/// A plan with more parts than this is evaluated at once. So plans stay small however segments refer to each other: each could
/// refer to a thousand others, which refer to a thousand others.
const MOST_PARTS: usize = 64;

impl Planner<'_, '_> {
    /// The members of any of the segments, all of which have plans by now.
    pub(crate) fn in_segments(&mut self, ids: &[SegmentId]) -> Plan {
        let ids: BTreeSet<SegmentId> = ids.iter().copied().collect();
        let mut parts = Vec::with_capacity(ids.len());
        for planned in ids.iter().filter_map(|id| self.segments.get(id)) {
            parts.push(planned.plan.clone());
            self.unknown.meet_all(&planned.unknown);
            self.unknown.has_push |= planned.has_unknown_push;
        }
        Plan::Or(parts).normalize()
    }

    /// Plans the segments that a selector reaches, each once.
    pub(crate) fn plan_segments(&mut self, selector: &Selector, reached: &Reached) -> Result<()> {
        references(selector).try_for_each(|id| self.plan_segment(id, reached))
    }

    /// Plans a segment after all that it refers to. Without recursion, since chains of segments may be long.
    fn plan_segment(&mut self, wanted: SegmentId, reached: &Reached) -> Result<()> {
        let mut begun: HashSet<SegmentId> = HashSet::new();
        let mut pending = vec![wanted];
        while let Some(id) = pending.last().copied() {
            if self.segments.contains_key(&id) {
                pending.pop();
                continue;
            }
            let Some(segment) = reached.get(&id).and_then(Option::as_ref) else {
                // Deleted, or of another app.
                self.segments.insert(id, unknown(id));
                continue;
            };
            if begun.insert(id) {
                let new = references(&segment.criteria).filter(|id| !self.segments.contains_key(id));
                // A segment that was begun and has no plan contains this one. Changes of segments refuse such circles; in a
                // database that has one all the same, the segment is unknown, and planning comes to an end.
                let (around, inside): (Vec<_>, Vec<_>) = new.partition(|other| begun.contains(other));
                self.segments.extend(around.into_iter().map(|id| (id, unknown(id))));
                pending.extend(inside);
                continue;
            }
            let outside = std::mem::take(&mut self.unknown);
            let plan = self.selector(&segment.criteria)?.normalize();
            let plan = if parts(&plan) > MOST_PARTS { Plan::Set(self.index.resolve(&plan)) } else { plan };
            let inside = std::mem::replace(&mut self.unknown, outside);
            let (unknown, has_unknown_push) = (inside.names, inside.has_push);
            self.segments.insert(id, PlannedSegment { plan, unknown, has_unknown_push });
        }
        Ok(())
    }
}

/// Nobody is in a segment that does not exist, but neither is everybody outside of it: see [`Planner::opposite`].
fn unknown(id: SegmentId) -> PlannedSegment {
    PlannedSegment { plan: Plan::Nobody, unknown: [format!("segment {id}")].into(), has_unknown_push: false }
}

fn parts(plan: &Plan) -> usize {
    match plan {
        Plan::Everyone | Plan::Nobody | Plan::Term(_) | Plan::Set(_) => 1,
        Plan::And(members) | Plan::Or(members) => 1 + members.iter().map(parts).sum::<usize>(),
        Plan::Not(inner) => 1 + parts(inner),
    }
}
