//! Resolving a push: its recipients by device type and block.

mod nobody;

use std::borrow::Cow;

use audience::block::blocks;
use audience::codec;
use audience::index::Index;
use audience::plan::Plan;
use base::Result;
use index::term_plan;
use jobs::{BlockJob, ClaimedJob, Job, Stop};
use model::device_type::DeviceType;
use model::event::SharedPush;
use model::ids::PushId;
use model::origin::Provenance;
use model::payload::Push;
use model::term::Term;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use store::blocks::{self as block_rows, BlockKey, BlockProgress};
use store::pushes::{self, PushState, Tally};
use store::{Tx, origins, push_audience};
use targeting::{Planner, device_types, open_types};
use tenancy::key_for_log_in;

use crate::deliver::Deliver;
use crate::inbox::{Mailing, message_holders};
use crate::part::{Served, part_for};
use crate::push::stored_push;
use crate::{Sending, experiment_groups, reach};

/// The recipients of a push, by device type.
struct Resolved {
    push: PushId,
    provenance: Provenance,
    /// The recipients of other pushes of its run, who are left out.
    served: Served,
    /// The part that events say about the push.
    shared_push: SharedPush,
    audiences: ByDeviceType,
    /// Its message, and the channels that get it into their inboxes.
    mailing: Option<Mailing>,
    /// Why there are no recipients, if there are none.
    nobody: Option<String>,
}

/// Fixes the audience of an accepted push and cuts it into blocks.
#[derive(Serialize, Deserialize)]
pub(crate) struct Resolve {
    pub(crate) push: PushId,
}

impl Job for Resolve {
    type Room = Sending;
    const NAME: &'static str = "resolve";

    /// Running it twice is harmless: a push is resolved only while it is in the state `accepted`, and the transaction that
    /// writes its blocks ends that state.
    async fn run(self, sending: &Sending, claimed: &ClaimedJob, _: &Stop) -> Result<()> {
        sending.resolve(claimed, self.push).await
    }
}

pub type ByDeviceType = Vec<(DeviceType, RoaringBitmap)>;

impl Sending {
    async fn resolve(&self, claimed: &ClaimedJob, push: PushId) -> Result<()> {
        let app = claimed.app;
        let read =
            move |tx: &mut Tx<'_>| -> Result<_> { Ok((pushes::by_id(tx, app, push)?, origins::of(tx, app, push)?)) };
        let (row, provenance) = self.0.store.read(read).await?;
        let Some(row) = row.filter(|row| row.state == PushState::Accepted) else {
            return jobs::settle_alone(&self.0.store, claimed).await;
        };
        let Some(content) = stored_push(&row)? else { return jobs::settle_alone(&self.0.store, claimed).await };
        self.0.targeting.ready_atlas_to_plan(app, &content.audience).await?;
        let index = self.0.index.at(app, row.accepted_at).await?;
        let now = self.0.clock.now();
        let shared_push = provenance.shared_push(push, &content);
        let known = index.clone();
        let plan = move |tx: &mut Tx<'_>| -> Result<_> {
            let served = Served::by_now(tx, app, push, &provenance)?;
            let mut planner = Planner::new(tx, app, &known, now, open_types(&content.device_types, &known));
            let audience = planner.audience(&content.audience)?;
            let unknown = &planner.unknown.names;
            if !unknown.is_empty() {
                let key = key_for_log_in(planner.tx, app);
                tracing::warn!(app = key, %push, ?unknown, "an audience names places or segments that do not exist");
            }
            let audience = part_for(&mut planner, audience, push, &provenance, &served)?;
            Ok((planner.unknown.names, content, provenance, served, audience))
        };
        let (unknown, content, provenance, served, audience) = self.0.store.read(plan).await?;
        let known = index.clone();
        let evaluate = move || {
            let most = most_recipients(&content);
            let (audiences, holders) = audience_by_device_type(&known, &content, &audience.left, most);
            let is_empty = audiences.is_empty();
            let part = &provenance.part;
            let nobody = is_empty.then(|| nobody::why_nobody(&known, &content, &audience, part, &unknown, &holders));
            let mailing = Mailing::new(&row, &content, shared_push.clone(), holders);
            Resolved { push, provenance, served, shared_push, audiences, mailing, nobody }
        };
        let resolved = self.0.index.evaluate(evaluate).await?;
        let (claimed, now) = (claimed.clone(), self.0.clock.now());
        self.0.store.write(app, move |tx| write_blocks(tx, &claimed, &index, &resolved, now)).await
    }
}

/// All blocks are due at the same moment.
fn write_blocks(
    tx: &mut Tx<'_>,
    claimed: &ClaimedJob,
    index: &Index,
    resolved: &Resolved,
    now: UtcMillis,
) -> Result<()> {
    let (app, push) = (claimed.app, resolved.push);
    let still_accepted = pushes::sending_state(tx, app, push)?.is_some_and(|push| push.state == PushState::Accepted);
    jobs::settle(tx, claimed)?;
    if !still_accepted {
        return Ok(());
    }
    let served = resolved.served.since(tx, app, push, &resolved.provenance)?.channels;
    if let Some(mailing) = &resolved.mailing {
        mailing.write(tx, app, index, &served, now)?;
    }
    let audiences = without(&resolved.audiences, &served);
    let mut n_blocks = 0;
    for (device_type, audience) in &*audiences {
        let tally = Tally { targeted: audience.len(), ..Tally::default() };
        pushes::add_tally(tx, app, push, device_type, &tally)?;
        for (n_before, (block, recipients)) in (0..).zip(blocks(audience)) {
            let number = u32::from(block.0);
            let key = BlockKey { push, device_type: device_type.clone(), number };
            block_rows::insert(tx, app, &key, untouched(&recipients))?;
            let job = Deliver { push, device_type: device_type.clone(), block: number };
            jobs::enqueue_block(tx, app, now, &BlockJob { job: &job, n_before })?;
            n_blocks += 1;
        }
    }
    push_audience::delete(tx, app, push)?;
    if n_blocks == 0 {
        let why = resolved.nobody.as_deref().unwrap_or(nobody::ALL_SERVED);
        pushes::end_unsent(tx, app, push, why, now)?;
    } else {
        pushes::set_state(tx, app, push, PushState::Sending, now)?;
    }
    if let Some(experiment) = resolved.shared_push.experiment_id {
        let chosen = union(&audiences);
        experiment_groups::watch(tx, app, (experiment, push), resolved.shared_push.variant_id, &chosen, now)?;
    }
    Ok(())
}

/// The same sets without some channels. Sets that are empty then are left out.
pub(crate) fn without<'s>(
    sets: &'s [(DeviceType, RoaringBitmap)],
    channels: &RoaringBitmap,
) -> Cow<'s, [(DeviceType, RoaringBitmap)]> {
    if channels.is_empty() {
        return Cow::Borrowed(sets);
    }
    let rest = sets.iter().map(|(device_type, set)| (device_type.clone(), set - channels));
    Cow::Owned(rest.filter(|(_, set)| !set.is_empty()).collect())
}

pub fn union(sets: &[(DeviceType, RoaringBitmap)]) -> RoaringBitmap {
    sets.iter().fold(RoaringBitmap::new(), |union, (_, set)| union | set)
}

fn untouched(recipients: &RoaringBitmap) -> BlockProgress {
    let nobody = codec::encode(&RoaringBitmap::new());
    BlockProgress {
        settled: false,
        tries: 0,
        pending: codec::encode(recipients),
        delivered: nobody.clone(),
        gone: nobody.clone(),
        failed: nobody,
    }
}

/// To how many a push may go.
fn most_recipients(push: &Push) -> u64 {
    let limits = push.options.as_ref().and_then(|options| options.audience_limits.as_ref());
    limits.map_or(u64::MAX, |limits| u64::from(limits.max_recipients))
}

/// All recipients of a push and all holders of its message, up to a limit, by device type; types without any are left out.
pub fn audience_by_device_type(index: &Index, push: &Push, audience: &Plan, most: u64) -> (ByDeviceType, ByDeviceType) {
    let mut left = most;
    let (mut recipients, mut holders) = (Vec::new(), Vec::new());
    for device_type in device_types(&push.device_types, index) {
        let resolve = |way: Plan| {
            let parts = vec![term_plan(index, &Term::DeviceType(device_type.clone())), way, audience.clone()];
            index.resolve(&Plan::And(parts).normalize())
        };
        let reach = reach::needed(push, &device_type);
        let reached = reach.map(|reach| resolve(term_plan(index, &Term::Reach(reach)))).unwrap_or_default();
        let holding = message_holders(index, push, &device_type).map(resolve).unwrap_or_default();
        let [reached, holding] = within(left, reached, holding);
        left = left.saturating_sub(reached.union_len(&holding));
        for (set, sets) in [(reached, &mut recipients), (holding, &mut holders)] {
            if !set.is_empty() {
                sets.push((device_type.clone(), set));
            }
        }
    }
    (recipients, holders)
}

/// The parts of both sets that together have no more members than the limit.
fn within(most: u64, reached: RoaringBitmap, holding: RoaringBitmap) -> [RoaringBitmap; 2] {
    if reached.union_len(&holding) <= most {
        return [reached, holding];
    }
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let chosen: RoaringBitmap = (&reached | &holding).iter().take(most).collect();
    [reached & &chosen, holding & chosen]
}

/// All channels of an audience that can be sent the push, or get its message in their inbox.
pub fn reachable(index: &Index, push: &Push, audience: &Plan) -> RoaringBitmap {
    let (recipients, holders) = audience_by_device_type(index, push, audience, most_recipients(push));
    union(&recipients) | union(&holders)
}
