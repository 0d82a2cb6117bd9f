//! Resolving a push: who gets it, on which platform, in which blocks.

use audience::block::blocks;
use audience::codec;
use audience::index::Index;
use audience::plan::Plan;
use model::event::{RecordKind, SharedPush};
use model::ids::{AppId, ExperimentId, PushId};
use model::payload::Push;
use model::payload::device_types::DeviceTypes;
use model::platform::DeviceType;
use model::term::Term;
use roaring::RoaringBitmap;
use store::blocks::{self as block_rows, BlockKey, Progress};
use store::counters::{self, Metric};
use store::jobs::{self, ClaimedJob};
use store::pushes::{self, PushState, Tally};
use store::{Tx, origins, push_audience};

use crate::inbox::Mailing;
use crate::job::Job;
use crate::journal::Journal;
use crate::plan::Planner;
use crate::push::stored_push;
use crate::{Engine, Result, experiments, reach};

/// Who gets a push, by platform.
struct Resolved {
    push: PushId,
    /// What events say about it.
    told: SharedPush,
    audiences: PerPlatform,
    /// The control group of the experiment that begins with this push.
    held_back: PerPlatform,
    /// Its message and those who find it in their inboxes.
    mailing: Option<Mailing>,
}

type PerPlatform = Vec<(DeviceType, RoaringBitmap)>;

impl Engine {
    /// Running it twice is harmless: a push is resolved only while it is in the state `accepted`, and the transaction that
    /// writes its blocks ends that state.
    pub(crate) async fn resolve(&self, claimed: &ClaimedJob, push: PushId) -> Result<()> {
        let app = claimed.app;
        let read =
            move |tx: &mut Tx<'_>| -> Result<_> { Ok((pushes::by_id(tx, app, push)?, origins::of(tx, app, push)?)) };
        let (row, provenance) = self.0.store.read(read).await?;
        let Some(row) = row.filter(|row| row.state == PushState::Accepted) else { return self.settle(claimed).await };
        let Some(content) = stored_push(&row)? else { return self.settle(claimed).await };
        let index = self.index_at(app, row.accepted_at).await?;
        let (now, known) = (self.clock().now(), index.clone());
        let told = provenance.shared_push(push, &content);
        let resolved = self
            .0
            .store
            .read(move |tx| -> Result<_> {
                let mut planner = Planner::new(tx, app, &index, now, open_types(&content.device_types, &index));
                let audience = planner.audience(&content.audience)?;
                let held_back = planner.held_back(&audience, &provenance);
                let audience = planner.part_for(audience, push, &provenance)?;
                let held_back = held_back.map(|held_back| audience_per_platform(&mut planner, &content, &held_back).0);
                let (audiences, holders) = audience_per_platform(&mut planner, &content, &audience);
                let mailing = Mailing::new(&row, &content, told.clone(), holders);
                Ok(Resolved { push, told, audiences, held_back: held_back.unwrap_or_default(), mailing })
            })
            .await?;
        let (engine, claimed) = (self.clone(), claimed.clone());
        self.0.store.write(app, move |tx| engine.write_blocks(tx, &claimed, &known, &resolved)).await
    }

    fn write_blocks(&self, tx: &mut Tx<'_>, claimed: &ClaimedJob, index: &Index, resolved: &Resolved) -> Result<()> {
        let (app, push) = (claimed.app, resolved.push);
        let still_accepted = pushes::by_id(tx, app, push)?.is_some_and(|row| row.state == PushState::Accepted);
        if !jobs::settle(tx, claimed)? || !still_accepted {
            return Ok(());
        }
        if let Some(mailing) = &resolved.mailing {
            mailing.write(tx, app, index, self.clock().now())?;
        }
        let mut n_blocks = 0;
        for (device_type, audience) in &resolved.audiences {
            let platform = device_type.to_string();
            let tally = Tally { targeted: audience.len(), ..Tally::default() };
            pushes::add_tally(tx, app, push, &platform, &tally)?;
            for (block, recipients) in blocks(audience) {
                let number = u32::from(block.0);
                let key = BlockKey { push, platform: platform.clone(), number };
                block_rows::insert(tx, app, &key, &untouched(&recipients))?;
                let job = Job::Deliver { push, platform: platform.clone(), block: number };
                self.enqueue(tx, app, self.clock().now(), &job)?;
                n_blocks += 1;
            }
        }
        push_audience::delete(tx, app, push)?;
        let state = if n_blocks == 0 { PushState::Done } else { PushState::Sending };
        pushes::set_state(tx, app, push, state)?;
        if let Some(experiment) = resolved.told.experiment_id {
            self.write_groups(tx, app, experiment, resolved)?;
        }
        Ok(())
    }

    /// Notes who is in the groups of an experiment. The control group, which is known to events by the id of the experiment, is
    /// told of and counted.
    fn write_groups(&self, tx: &mut Tx<'_>, app: AppId, experiment: ExperimentId, resolved: &Resolved) -> Result<()> {
        let (now, told) = (self.clock().now(), &resolved.told);
        let chosen = union(&resolved.audiences);
        self.watch_group(tx, app, (experiment, resolved.push), told.variant_id, &chosen, now)?;
        let push_id = experiments::push_id(experiment);
        for (device_type, held_back) in &resolved.held_back {
            let platform = device_type.to_string();
            counters::add(tx, app, Metric::Controls, now, &platform, held_back.len())?;
            counters::add_of_push(tx, app, push_id, Metric::Controls, now, &platform, held_back.len())?;
        }
        let held_back = union(&resolved.held_back);
        self.watch_group(tx, app, (experiment, push_id), None, &held_back, now)?;
        let told = SharedPush { push_id, variant_id: None, ..told.clone() };
        let mut journal = Journal::new(now);
        for (_, held_back) in blocks(&held_back) {
            journal.many(RecordKind::Control, &told, false, &held_back)?;
        }
        journal.write(tx, app)?;
        Ok(())
    }
}

fn union(sets: &[(DeviceType, RoaringBitmap)]) -> RoaringBitmap {
    sets.iter().fold(RoaringBitmap::new(), |union, (_, set)| union | set)
}

fn untouched(recipients: &RoaringBitmap) -> Progress {
    let nobody = codec::encode(&RoaringBitmap::new());
    Progress {
        settled: false,
        tries: 0,
        pending: codec::encode(recipients),
        delivered: nobody.clone(),
        gone: nobody.clone(),
        failed: nobody,
    }
}

/// Everybody a push goes to, and everybody its message goes to, by platform; platforms without anybody are left out.
fn audience_per_platform(planner: &mut Planner<'_, '_>, push: &Push, audience: &Plan) -> (PerPlatform, PerPlatform) {
    let limits = push.options.as_ref().and_then(|options| options.audience_limits.as_ref());
    let mut left = limits.map_or(u64::MAX, |limits| u64::from(limits.max_recipients));
    let (mut recipients, mut holders) = (Vec::new(), Vec::new());
    for device_type in device_types(&push.device_types, planner.index) {
        let resolve = |way: Plan| {
            let parts = vec![planner.term(&Term::DeviceType(device_type.clone())), way, audience.clone()];
            planner.index.resolve(&Plan::And(parts).normalize())
        };
        let reach = reach::needed(push, &device_type);
        let reached = reach.map(|reach| resolve(planner.term(&Term::Reach(reach)))).unwrap_or_default();
        let holding = planner.message_holders(push, &device_type).map(resolve).unwrap_or_default();
        let [reached, holding] = within(left, reached, holding);
        left = left.saturating_sub(reached.union_len(&holding));
        for (set, platforms) in [(reached, &mut recipients), (holding, &mut holders)] {
            if !set.is_empty() {
                platforms.push((device_type.clone(), set));
            }
        }
    }
    (recipients, holders)
}

/// The parts of both sets that have no more than so many members together.
fn within(most: u64, reached: RoaringBitmap, holding: RoaringBitmap) -> [RoaringBitmap; 2] {
    if reached.union_len(&holding) <= most {
        return [reached, holding];
    }
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let chosen: RoaringBitmap = (&reached | &holding).iter().take(most).collect();
    [reached & &chosen, holding & chosen]
}

/// Everybody of an audience who can be sent the push on some platform, or find its message in their inbox.
pub(crate) fn reachable(planner: &mut Planner<'_, '_>, push: &Push, audience: &Plan) -> RoaringBitmap {
    let (recipients, holders) = audience_per_platform(planner, push, audience);
    recipients.into_iter().chain(holders).fold(RoaringBitmap::new(), |all, (_, some)| all | some)
}

/// The device types that are named, each once; all that channels have registered for when none are.
pub(crate) fn device_types(wanted: &DeviceTypes, index: &Index) -> Vec<DeviceType> {
    let mut types: Vec<DeviceType> = match wanted {
        DeviceTypes::All { .. } => {
            let (group, _) = Term::DeviceType(DeviceType::Ios).key();
            index.tags(group).iter().filter_map(|name| DeviceType::from_name(name)).collect()
        }
        DeviceTypes::List(types) => types.clone(),
    };
    types.sort();
    types.dedup();
    types
}

pub(crate) fn open_types(wanted: &DeviceTypes, index: &Index) -> Vec<DeviceType> {
    let mut types = device_types(wanted, index);
    types.retain(|device_type| matches!(device_type, DeviceType::Open(_)));
    types
}
