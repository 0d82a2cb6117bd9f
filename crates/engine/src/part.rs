//! The part of its audience that a push goes to, when several pushes share one.

use audience::codec;
use audience::plan::Plan;
use model::ids::PushId;
use model::origin::{Part, Provenance};
use model::property::{Clock, device_clocks};
use roaring::RoaringBitmap;
use store::{blocks, origins};

use crate::plan::Planner;
use crate::{Error, Result};

impl Planner<'_, '_> {
    /// Narrows an audience to the part that this push is for. Whoever got another push of the same run, because they
    /// have moved from one part into another since, is left out.
    pub(crate) fn part_for(&mut self, audience: Plan, push: PushId, provenance: &Provenance) -> Result<Plan> {
        let mut parts = vec![audience];
        match &provenance.part {
            Part::Everybody => {}
            Part::Clocks(names) => parts.push(self.clocks(names)),
        }
        if let Some(run) = &provenance.run {
            let mut served = RoaringBitmap::new();
            let others = origins::pushes_of_run(self.tx, self.app, provenance.origin, run)?;
            for other in others.into_iter().filter(|other| *other != push) {
                for set in blocks::recipients(self.tx, self.app, other)? {
                    served |= codec::decode(&set).map_err(Error::internal)?;
                }
            }
            parts.push(Plan::Not(Box::new(Plan::Set(served))));
        }
        Ok(Plan::And(parts).normalize())
    }

    fn clocks(&self, names: &[String]) -> Plan {
        let clocks = device_clocks().iter().filter(|clock| names.iter().any(|name| name == clock.name));
        Plan::Or(clocks.map(|clock| self.clock(clock)).collect())
    }

    fn clock(&self, clock: &Clock) -> Plan {
        let exceptions = clock.exceptions.iter().map(|exception| self.term(exception)).collect();
        Plan::And(vec![self.term(&clock.term), Plan::Not(Box::new(Plan::Or(exceptions)))])
    }
}
