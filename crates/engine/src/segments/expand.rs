//! From segments in an audience to the plans of their criteria, which may refer to further segments.

use std::collections::{BTreeSet, HashSet};

use audience::plan::Plan;
use model::ids::SegmentId;
use model::selector::Selector;

use super::{Reached, references};
use crate::Result;
use crate::plan::{PlannedSegment, Planner};

/// A plan with more parts than this is evaluated where it is met. So plans stay small however segments refer to each other:
/// each could refer to a thousand others, which refer to a thousand others.
const MOST_PARTS: usize = 64;
const NOBODY: PlannedSegment = PlannedSegment { plan: Plan::Nobody, unknown_places: Vec::new() };

impl Planner<'_, '_> {
    /// Whoever is in one of the segments, all of which have plans by now.
    pub(crate) fn in_segments(&mut self, ids: &[SegmentId]) -> Plan {
        let ids: BTreeSet<SegmentId> = ids.iter().copied().collect();
        let mut parts = Vec::with_capacity(ids.len());
        for planned in ids.iter().filter_map(|id| self.segments.get(id)) {
            parts.push(planned.plan.clone());
            self.unknown_places.extend_from_slice(&planned.unknown_places);
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
                // Deleted, or of another app: nobody is in it.
                self.segments.insert(id, NOBODY);
                continue;
            };
            if begun.insert(id) {
                let new = references(&segment.criteria).filter(|id| !self.segments.contains_key(id));
                // What has begun and has no plan is around this segment. Whoever changes a segment makes sure that there is no
                // such circle; in a database that says otherwise, nobody is in it, and planning comes to an end.
                let (around, inside): (Vec<_>, Vec<_>) = new.partition(|other| begun.contains(other));
                self.segments.extend(around.into_iter().map(|id| (id, NOBODY)));
                pending.extend(inside);
                continue;
            }
            let n_unknown = self.unknown_places.len();
            let plan = self.selector(&segment.criteria)?.normalize();
            let plan = if parts(&plan) > MOST_PARTS { Plan::Set(self.index.resolve(&plan)) } else { plan };
            let unknown_places = self.unknown_places.split_off(n_unknown);
            self.segments.insert(id, PlannedSegment { plan, unknown_places });
        }
        Ok(())
    }
}

fn parts(plan: &Plan) -> usize {
    match plan {
        Plan::Everyone | Plan::Nobody | Plan::Term(_) | Plan::Set(_) => 1,
        Plan::And(members) | Plan::Or(members) => 1 + members.iter().map(parts).sum::<usize>(),
        Plan::Not(inner) => 1 + parts(inner),
    }
}
