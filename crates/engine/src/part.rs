//! The part of its audience that a push goes to, when several pushes share one.

use audience::codec;
use audience::plan::Plan;
use model::experiment::{Assignment, Share};
use model::ids::{Ordinal, PushId};
use model::origin::{Part, Provenance};
use model::property::{Clock, device_clocks};
use roaring::RoaringBitmap;
use store::{blocks, origins, push_audience};

use crate::inbox::holders;
use crate::plan::Planner;
use crate::{Error, Result};

impl Planner<'_, '_> {
    /// Narrows an audience to the part that this push is for. Whoever got another push of the same run, because they
    /// have moved from one part into another since, is left out.
    pub(crate) fn part_for(&mut self, audience: Plan, push: PushId, provenance: &Provenance) -> Result<Plan> {
        let mut parts = Vec::new();
        match &provenance.part {
            Part::Everybody => parts.push(audience),
            Part::Clocks(names) => parts.extend([audience, self.clocks(names)]),
            Part::Variant(part) => {
                parts.push(self.assigned(audience, provenance, part.share));
                parts.extend(part.clocks.as_ref().map(|names| self.clocks(names)));
            }
            // They are the audience; the word for them means nobody by itself.
            Part::Triggered => parts.push(self.stored_audience(push)?),
        }
        if let Some(run) = &provenance.run {
            let mut served = RoaringBitmap::new();
            let others = origins::pushes_of_run(self.tx, self.app, provenance.origin, run)?;
            for other in others.into_iter().filter(|other| *other != push) {
                for set in blocks::recipients(self.tx, self.app, other)? {
                    served |= codec::decode(&set).map_err(Error::internal)?;
                }
                served |= holders(self.tx, self.app, other)?;
            }
            parts.push(Plan::Not(Box::new(Plan::Set(served))));
        }
        Ok(Plan::And(parts).normalize())
    }

    /// The part of the control group of an experiment that is held back when this push is sent, if there is one.
    pub(crate) fn held_back(&self, audience: Plan, provenance: &Provenance) -> Option<Plan> {
        match &provenance.part {
            Part::Everybody | Part::Clocks(_) | Part::Triggered => None,
            Part::Variant(part) => {
                let mut parts = vec![self.assigned(audience, provenance, part.control?)];
                parts.extend(part.clocks.as_ref().map(|names| self.clocks(names)));
                Some(Plan::And(parts).normalize())
            }
        }
    }

    /// Those of an audience whose place in the experiment is within a share.
    fn assigned(&self, audience: Plan, provenance: &Provenance, share: Share) -> Plan {
        let Some(experiment) = provenance.experiment() else { return Plan::Set(RoaringBitmap::new()) };
        let assignment = Assignment::of(experiment);
        let everybody = self.index.resolve(&audience.normalize());
        Plan::Set(everybody.iter().filter(|n| share.contains(assignment.place(Ordinal(*n)))).collect())
    }

    fn stored_audience(&mut self, push: PushId) -> Result<Plan> {
        let mut members = RoaringBitmap::new();
        for part in push_audience::parts(self.tx, self.app, push)? {
            members |= codec::decode(&part).map_err(Error::internal)?;
        }
        Ok(Plan::Set(members))
    }

    fn clocks(&self, names: &[String]) -> Plan {
        let clocks = device_clocks().iter().filter(|clock| names.iter().any(|name| name == clock.name));
        Plan::Or(clocks.map(|clock| self.clock(clock)).collect())
    }

    /// Those who go by a clock.
    pub(crate) fn clock(&self, clock: &Clock) -> Plan {
        let exceptions = clock.exceptions.iter().map(|exception| self.term(exception)).collect();
        Plan::And(vec![self.term(&clock.term), Plan::Not(Box::new(Plan::Or(exceptions)))])
    }
}
