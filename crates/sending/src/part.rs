//! The part of its audience that a push goes to, when several pushes share one.

use std::collections::BTreeSet;

use audience::codec;
use audience::plan::Plan;
use base::{Error, Result};
use model::experiment::{Assignment, Share};
use model::ids::{AppId, Ordinal, PushId};
use model::origin::{Part, Provenance};
use model::property::{DeviceClock, device_clocks};
use model::push_outcome::LeftOut;
use roaring::RoaringBitmap;
use store::{Tx, blocks, origins, push_audience};
use targeting::Planner;

use crate::inbox::holders;

/// The recipients of the other pushes of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Served {
    pub(crate) channels: RoaringBitmap,
    /// The pushes whose audience is fixed, as far as they have one.
    by: BTreeSet<PushId>,
}

impl Served {
    /// The channels that other pushes of the run have served by now.
    pub(crate) fn by_now(tx: &mut Tx<'_>, app: AppId, push: PushId, provenance: &Provenance) -> Result<Self> {
        Self::default().since(tx, app, push, provenance)
    }

    /// The channels served since this was looked up: the audiences of several pushes of a run may be resolved at once.
    pub(crate) fn since(&self, tx: &mut Tx<'_>, app: AppId, push: PushId, provenance: &Provenance) -> Result<Self> {
        let mut since = Self::default();
        let Some(run) = &provenance.run else { return Ok(since) };
        let others = origins::pushes_of_run(tx, app, provenance.origin, run)?;
        for other in others.into_iter().filter(|other| *other != push && !self.by.contains(other)) {
            let mut served = holders(tx, app, other)?;
            for set in blocks::recipients(tx, app, other)? {
                served |= codec::decode(&set).map_err(Error::internal)?;
            }
            // An audience is written in one transaction, so that it is there as a whole or not at all.
            if !served.is_empty() {
                since.channels |= served;
                since.by.insert(other);
            }
        }
        Ok(since)
    }
}

/// An audience, and the part of it that a push is for.
pub(crate) struct Narrowed {
    pub(crate) whole: Plan,
    /// `None` if that is all of it.
    pub(crate) part: Option<Plan>,
}

pub(crate) fn part_for(
    planner: &mut Planner<'_, '_>,
    audience: Plan,
    push: PushId,
    provenance: &Provenance,
) -> Result<Narrowed> {
    // The stored set is the audience of a triggered push; the selector of such a push selects nobody.
    let whole = match provenance.part {
        Part::Triggered => stored_audience(planner, push)?,
        Part::Everybody | Part::Clocks(_) | Part::Variant(_) => audience,
    };
    let whole = whole.normalize();
    let part = match &provenance.part {
        Part::Everybody | Part::Triggered => None,
        Part::Clocks(names) => Some(Plan::And(vec![whole.clone(), clocks(planner, names)]).normalize()),
        Part::Variant(part) => {
            let mut parts = vec![assigned(planner, whole.clone(), provenance, part.share)];
            parts.extend(part.clocks.as_ref().map(|names| clocks(planner, names)));
            Some(Plan::And(parts).normalize())
        }
    };
    Ok(Narrowed { whole, part })
}

/// Why channels of an audience are not in the part that a push is for.
pub(crate) fn held_back(provenance: &Provenance, channels: RoaringBitmap) -> Vec<(LeftOut, RoaringBitmap)> {
    match (&provenance.part, provenance.experiment()) {
        (Part::Variant(part), Some(experiment)) => {
            let assignment = Assignment::of(experiment);
            let of = |share: Share| -> RoaringBitmap {
                channels.iter().filter(|n| share.contains(assignment.position(Ordinal(*n)))).collect()
            };
            let control = part.withheld.or(part.control).map(of).unwrap_or_default();
            let own = of(part.share);
            let others = &(&channels - &control) - &own;
            vec![(LeftOut::ControlGroup, control), (LeftOut::OtherWave, own), (LeftOut::OtherVariant, others)]
        }
        (Part::Everybody | Part::Triggered | Part::Clocks(_) | Part::Variant(_), _) => {
            vec![(LeftOut::OtherWave, channels)]
        }
    }
}

/// The part of the control group of an experiment that is withheld when this push is sent, if there is one.
pub fn withheld(planner: &Planner<'_, '_>, audience: Plan, provenance: &Provenance) -> Option<Plan> {
    match &provenance.part {
        Part::Everybody | Part::Clocks(_) | Part::Triggered => None,
        Part::Variant(part) => {
            let mut parts = vec![assigned(planner, audience, provenance, part.control?)];
            parts.extend(part.clocks.as_ref().map(|names| clocks(planner, names)));
            Some(Plan::And(parts).normalize())
        }
    }
}

/// The channels of an audience whose position in the experiment is within a share.
fn assigned(planner: &Planner<'_, '_>, audience: Plan, provenance: &Provenance, share: Share) -> Plan {
    let Some(experiment) = provenance.experiment() else { return Plan::Nobody };
    let assignment = Assignment::of(experiment);
    let everybody = planner.index.resolve(&audience.normalize());
    Plan::Set(everybody.iter().filter(|n| share.contains(assignment.position(Ordinal(*n)))).collect())
}

fn stored_audience(planner: &mut Planner<'_, '_>, push: PushId) -> Result<Plan> {
    let mut members = RoaringBitmap::new();
    for part in push_audience::parts(planner.tx, planner.app, push)? {
        members |= codec::decode(&part).map_err(Error::internal)?;
    }
    Ok(Plan::Set(members))
}

fn clocks(planner: &Planner<'_, '_>, names: &[String]) -> Plan {
    let clocks = device_clocks().iter().filter(|clock| names.iter().any(|name| name == clock.name));
    Plan::Or(clocks.map(|clock| channels_using(planner, clock)).collect())
}

/// The channels that use a clock.
pub fn channels_using(planner: &Planner<'_, '_>, clock: &DeviceClock) -> Plan {
    let exceptions = clock.exceptions.iter().map(|exception| planner.term(exception)).collect();
    Plan::And(vec![planner.term(&clock.term), Plan::Not(Box::new(Plan::Or(exceptions)))])
}

#[cfg(test)]
mod tests {
    use model::app::{AppKey, Mode};
    use model::device_type::DeviceType;
    use model::ids::{Id, ScheduleId};
    use model::origin::Origin;
    use model::time::UtcMillis;
    use store::apps::{NewApp, SecretHashes};
    use store::blocks::{BlockKey, BlockProgress};
    use store::{DatabaseUrl, Store};

    use super::*;

    /// Two waves read the recipients of the others before either has written its own.
    #[tokio::test]
    async fn a_wave_that_was_fixed_meanwhile_is_seen_before_the_next_one_is() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&DatabaseUrl::Sqlite(folder.path().join("test.db"))).await.unwrap();
        let origin = Origin::Schedule(ScheduleId::random());
        let wave = Provenance { origin, run: Some("r".to_owned()), part: Part::Clocks(Vec::new()) };
        let pushes: [PushId; 3] = [1, 2, 3].map(|n| Id::from_uuid(uuid::Uuid::from_u128(n)));
        let seen = store.write(store::apps::OPERATOR, move |tx| -> Result<_> {
            let secrets = SecretHashes { app: [1; 32], master: [2; 32] };
            let key = AppKey::new("0123456789012345678901").ok_or(Error::NotFound("key"))?;
            let new = NewApp { key, name: "A".to_owned(), mode: Mode::Development, created: UtcMillis(1), secrets };
            let app = store::apps::insert(tx, &new)?.id;
            for push in pushes {
                origins::insert(tx, app, push, &wave)?;
            }
            let fix = |tx: &mut Tx<'_>, push, channels: [u32; 2]| {
                let nobody = codec::encode(&RoaringBitmap::new());
                let progress = BlockProgress {
                    settled: false,
                    tries: 0,
                    pending: codec::encode(&RoaringBitmap::from(channels)),
                    delivered: nobody.clone(),
                    gone: nobody.clone(),
                    failed: nobody,
                };
                blocks::insert(tx, app, &BlockKey { push, device_type: DeviceType::Ios, number: 0 }, progress.clone())
            };
            fix(tx, pushes[0], [1, 2])?;
            let first_look = Served::by_now(tx, app, pushes[2], &wave)?;
            fix(tx, pushes[1], [3, 4])?;
            fix(tx, pushes[2], [5, 6])?;
            Ok((first_look.channels.clone(), first_look.since(tx, app, pushes[2], &wave)?.channels))
        });
        let seen = seen.await.unwrap();
        assert_eq!(seen, (RoaringBitmap::from([1, 2]), RoaringBitmap::from([3, 4])));
        store.close().await;
    }
}
