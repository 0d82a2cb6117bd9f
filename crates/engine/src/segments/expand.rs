//! From segments in an audience to the plans of their criteria, which may refer to further segments.

use std::collections::{BTreeSet, HashMap};

use audience::plan::Plan;
use model::ids::SegmentId;
use model::selector::Selector;

use super::{references, stored};
use crate::Result;
use crate::plan::{PlannedSegment, Planner};

/// A plan with more parts than this is evaluated where it is met. So plans stay small however segments refer to each other:
/// each could refer to a thousand others, which refer to a thousand others.
const MOST_PARTS: usize = 64;
const NOBODY: PlannedSegment = PlannedSegment { plan: Plan::Nobody, unknown_places: Vec::new() };

impl Planner<'_, '_> {
    /// Whoever is in one of the segments.
    pub(crate) fn in_segments(&mut self, ids: &[SegmentId]) -> Result<Plan> {
        let ids: BTreeSet<SegmentId> = ids.iter().copied().collect();
        let mut parts = Vec::with_capacity(ids.len());
        for id in ids {
            if !self.segments.contains_key(&id) {
                self.expand(id)?;
            }
            if let Some(planned) = self.segments.get(&id).cloned() {
                parts.push(planned.plan);
                self.unknown_places.extend(planned.unknown_places);
            }
        }
        Ok(Plan::Or(parts).normalize())
    }

    /// Plans a segment after all that it refers to, each once. Without recursion, since chains of segments may be long.
    fn expand(&mut self, wanted: SegmentId) -> Result<()> {
        let mut begun: HashMap<SegmentId, Selector> = HashMap::new();
        let mut pending = vec![wanted];
        while let Some(id) = pending.last().copied() {
            if self.segments.contains_key(&id) {
                pending.pop();
                continue;
            }
            let Some(criteria) = begun.get(&id) else {
                match stored(self.tx, self.app, id)? {
                    // Deleted, or of another app: nobody is in it.
                    None => drop(self.segments.insert(id, NOBODY)),
                    Some(segment) => {
                        let new = references(&segment.criteria).filter(|id| !self.segments.contains_key(id));
                        // What has begun and has no plan is around this segment: a circle, which nobody is in. Changes of
                        // segments refuse circles, but two nodes can close one together.
                        let (around, inside): (Vec<_>, Vec<_>) =
                            new.partition(|other| *other == id || begun.contains_key(other));
                        self.segments.extend(around.into_iter().map(|id| (id, NOBODY)));
                        pending.extend(inside);
                        begun.insert(id, segment.criteria);
                    }
                }
                continue;
            };
            let n_unknown = self.unknown_places.len();
            let plan = self.selector(criteria)?.normalize();
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
