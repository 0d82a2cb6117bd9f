//! Resolving a push: its recipients by device type and block.

mod followers;
mod nobody;
mod sorting;

use std::borrow::Cow;

use audience::block::blocks;
use audience::codec;
use audience::index::Index;
use audience::plan::Plan;
use base::Result;
use jobs::{BlockJob, ClaimedJob, Job, Stop};
use model::device_type::DeviceType;
use model::event::SharedPush;
use model::ids::{AppId, PushId};
use model::origin::Provenance;
use model::payload::Push;
use model::push_outcome::LeftOut;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use store::blocks::{self as block_rows, BlockKey, BlockProgress};
use store::push_outcomes::{self, OutcomeSet};
use store::pushes::{self, PushState, Tally};
use store::{Tx, origins, push_audience};
use targeting::{Planner, open_types};
use tenancy::key_for_log_in;

use crate::deliver::Deliver;
use crate::inbox::Mailing;
use crate::part::{Served, held_back, part_for};
use crate::push::stored_push;
use crate::{Sending, experiment_groups};
use followers::Followers;
use nobody::{Matched, why_nobody};
use sorting::sort;
pub use sorting::{Excluded, Sorted};

/// The recipients of a push, by device type.
struct Resolved {
    push: PushId,
    provenance: Provenance,
    /// The recipients of other pushes of its run, who are left out.
    served: Served,
    /// The part that events say about the push.
    shared_push: SharedPush,
    audiences: ByDeviceType,
    /// The others of its audience, and why they are no recipients.
    left_out: Excluded,
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
            // Whom an earlier push reached is not known any more, and the rest of the audience was not meant alone.
            let audience = if planner.unknown.has_push { Plan::Nobody } else { audience };
            let audience = part_for(&mut planner, audience, push, &provenance)?;
            let followers = Followers::of(planner.tx, app, &content)?;
            Ok((planner.unknown.names, content, provenance, served, (audience, followers)))
        };
        let (unknown, content, provenance, served, (audience, followers)) = self.0.store.read(plan).await?;
        let known = index.clone();
        let evaluate = move || {
            let whole = known.resolve(&audience.whole);
            let n_matched = whole.len();
            let part = audience.part.as_ref().map(|part| known.resolve(part));
            let meant = part.as_ref().unwrap_or(&whole);
            let n_meant = meant.len();
            let Sorted { recipients, holders, mut left_out } =
                sort(&known, &content, &(meant - &served.channels), &followers, most_recipients(&content));
            left_out.add_of_all_types(&known, LeftOut::Served, &(meant & &served.channels));
            if let Some(part) = &part {
                for (why, channels) in held_back(&provenance, &whole - part) {
                    left_out.add_of_all_types(&known, why, &channels);
                }
            }
            let counts = Matched { n_matched, n_meant, left_out: &left_out };
            let nobody = recipients.is_empty().then(|| why_nobody(&counts, &provenance.part, &unknown, &holders));
            let mailing = Mailing::new(&row, &content, shared_push.clone(), holders);
            Resolved { push, provenance, served, shared_push, audiences: recipients, left_out, mailing, nobody }
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
    let mut left_out = Cow::Borrowed(&resolved.left_out);
    if !served.is_empty() {
        for (device_type, audience) in &resolved.audiences {
            left_out.to_mut().add(device_type, LeftOut::Served, audience & &served);
        }
    }
    write_left_out(tx, app, push, &left_out, now)?;
    let mut n_blocks = 0;
    for (device_type, audience) in &*audiences {
        let tally = Tally { targeted: audience.len(), ..Tally::default() };
        pushes::add_tally(tx, app, push, device_type, &tally)?;
        for (n_before, (block, recipients)) in (0..).zip(blocks(audience)) {
            let number = u32::from(block.0);
            let key = BlockKey { push, device_type: device_type.clone(), number };
            block_rows::insert(tx, app, &key, untouched(&recipients))?;
            let job = Deliver { push, device_type: device_type.clone(), block: number };
            jobs::enqueue_block(tx, app, now, &BlockJob { job: &job, n_devices: audience.len(), n_before })?;
            n_blocks += 1;
        }
    }
    push_audience::delete(tx, app, push)?;
    if n_blocks == 0 {
        let why = resolved.nobody.as_deref().unwrap_or(nobody::ALL_SERVED);
        pushes::end_unsent(tx, app, push, index.offset(), why, now)?;
    } else {
        pushes::begin_sending(tx, app, push, index.offset(), now)?;
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
    limits.and_then(|limits| limits.max_recipients).map_or(u64::MAX, u64::from)
}

/// Keeps why channels of an audience are no recipients of a push, set by set.
pub fn write_left_out(tx: &mut Tx<'_>, app: AppId, push: PushId, left_out: &Excluded, now: UtcMillis) -> Result<()> {
    for (device_type, why, channels) in left_out.iter() {
        for (block, members) in blocks(channels) {
            let set = OutcomeSet {
                block: u32::from(block.0),
                device_type: device_type.clone(),
                outcome: why.outcome(),
                reason: why.name().to_owned(),
                since: now,
                members: codec::encode(&members),
            };
            push_outcomes::put(tx, app, push, set)?;
        }
    }
    Ok(())
}

/// All recipients of a push among the channels of a plan, by device type.
pub fn recipients_among(index: &Index, push: &Push, audience: &Plan) -> ByDeviceType {
    sort(index, push, &index.resolve(audience), &Followers::default(), u64::MAX).recipients
}

/// Sorts channels that are about to be sent a push for their own sake, as those that set off a pipeline.
pub fn sort_for(index: &Index, push: &Push, channels: &RoaringBitmap) -> Sorted {
    sort(index, push, channels, &Followers::default(), most_recipients(push))
}
