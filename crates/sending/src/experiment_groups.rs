//! Which members of the groups of experiments open the app. All groups are measured alike: by whether a member has opened it
//! within twelve hours of the group being formed, whatever else was sent meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use audience::block::{Block, blocks};
use audience::codec;
use base::{Error, Result, UnreadableRecord};
use boxed::boxed;
use jobs::{ClaimedJob, Job, JobId, Stop};
use model::event::{Event, EventOffset, RecordKind};
use model::ids::{AppId, ExperimentId, Offset, Ordinal, PushId};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use store::experiment_groups::{self as groups, Channels, GroupKey, NewGroup};
use store::{Tx, followers, log};
use uuid::Uuid;

use crate::Sending;

/// How long an opening counts.
const COUNTS_FOR: Duration = Duration::from_secs(12 * 60 * 60);
/// How long groups are watched: devices may upload late what happened in time.
const WATCHED_FOR: Duration = Duration::from_secs(3 * 24 * 60 * 60);
const OPENINGS_AT_ONCE: u32 = 2000;
const GROUPS_AT_ONCE: u32 = 100;

/// An app has one watcher.
const WATCHER: Uuid = Uuid::from_u128(0xab7e57);

/// When the app was opened on which channels, by block.
type Openings = BTreeMap<u32, Vec<(Ordinal, UtcMillis)>>;

/// What a stretch of the log tells of openings, and how far it reaches.
struct Stretch {
    openings: Openings,
    unreadable: Vec<UnreadableRecord>,
    looked: Offset,
}

/// Notes the members of a group of an experiment, and makes sure that it is watched.
pub fn watch(
    tx: &mut Tx<'_>,
    app: AppId,
    (experiment, push): (ExperimentId, PushId),
    variant: Option<u32>,
    members: &RoaringBitmap,
    now: UtcMillis,
) -> Result<()> {
    for (block, members) in blocks(members) {
        let key = GroupKey { experiment, push, block: u32::from(block.0) };
        let (members, opened) = (channels(&members), channels(&RoaringBitmap::new()));
        groups::insert(tx, app, &NewGroup { key, variant, since: now, members, opened })?;
    }
    let watcher = JobId::from_uuid(WATCHER);
    if !members.is_empty() && followers::position(tx, app, watcher)?.is_none() {
        let head = log::head(tx, app)?;
        followers::start(tx, app, watcher, EventOffset::end_of(head))?;
        jobs::enqueue_as(tx, app, watcher, now, &WatchExperiments {})?;
    }
    Ok(())
}

/// Notes which members of the groups of experiments have opened the app.
#[derive(Serialize, Deserialize)]
pub(crate) struct WatchExperiments {}

impl Job for WatchExperiments {
    type Room = Sending;
    const NAME: &'static str = "watch_experiments";

    /// Running it twice is harmless: openings are noted in the transaction that moves the position behind them.
    async fn run(self, sending: &Sending, claimed: &ClaimedJob, _: &Stop) -> Result<()> {
        let (app, claimed, now) = (claimed.app, claimed.clone(), sending.0.clock.now());
        let unreadable = sending.0.store.write(app, move |tx| note_openings(tx, &claimed, now)).await?;
        if !unreadable.is_empty() {
            let key = sending.0.tenancy.key_for_log(app).await;
            unreadable.iter().for_each(|record| record.report(&key, "experiments"));
        }
        Ok(())
    }
}

#[boxed]
impl Sending {
    /// Keeps only the numbers of groups that are no longer watched.
    pub async fn forget_old_groups(&self, app: AppId) -> Result<()> {
        let oldest = self.0.clock.now().minus(WATCHED_FOR);
        loop {
            let sum_up = move |tx: &mut Tx<'_>| {
                let nobody = codec::encode(&RoaringBitmap::new());
                groups::sum_up(tx, app, oldest, &nobody, GROUPS_AT_ONCE)
            };
            if self.0.store.write(app, sum_up).await? < u64::from(GROUPS_AT_ONCE) {
                return Ok(());
            }
        }
    }
}

/// Returns the records that it has passed over.
fn note_openings(tx: &mut Tx<'_>, claimed: &ClaimedJob, now: UtcMillis) -> Result<Vec<UnreadableRecord>> {
    let app = claimed.app;
    let Some(position) = followers::position(tx, app, claimed.id)? else {
        jobs::settle(tx, claimed)?;
        return Ok(Vec::new());
    };
    let Stretch { openings, unreadable, looked } = openings_after(tx, app, position.records_done())?;
    // There are many groups, and most new records are not about openings.
    if !openings.is_empty() {
        let watched = groups::made_since(tx, app, now.minus(WATCHED_FOR))?;
        if watched.is_empty() {
            followers::stop(tx, app, claimed.id)?;
            jobs::settle(tx, claimed)?;
            return Ok(unreadable);
        }
        for (key, since) in &watched {
            if let Some(openings) = openings.get(&key.block) {
                note(tx, app, key, *since, openings)?;
            }
        }
    }
    followers::advance(tx, app, claimed.id, EventOffset::end_of(looked))?;
    followers::rest(tx, claimed, now)?;
    Ok(unreadable)
}

/// Openings of the app after an offset.
fn openings_after(tx: &mut Tx<'_>, app: AppId, after: Offset) -> Result<Stretch> {
    let (head, kinds) = (log::head(tx, app)?, BTreeSet::from([RecordKind::Open]));
    let mut found = Vec::new();
    log::visit_kinds(tx, app, after, head, &kinds, OPENINGS_AT_ONCE, |record| {
        found.push((record.offset, record.ordinal, record.body.to_vec()));
        Ok(())
    })?;
    let is_full = found.len() >= OPENINGS_AT_ONCE as usize;
    let looked = found.last().filter(|_| is_full).map_or(head, |(last, ..)| *last);
    let (mut openings, mut unreadable) = (Openings::new(), Vec::new());
    for (offset, ordinal, body) in found {
        let Some(ordinal) = ordinal else { continue };
        match serde_json::from_slice::<Event<IgnoredAny>>(&body) {
            Ok(event) => {
                openings.entry(u32::from(Block::of(ordinal).0)).or_default().push((ordinal, event.occurred));
            }
            Err(error) => unreadable.push(UnreadableRecord::of_json(offset, RecordKind::Open, &error)),
        }
    }
    Ok(Stretch { openings, unreadable, looked })
}

/// Notes which members of a block of a group have opened the app in time.
fn note(
    tx: &mut Tx<'_>,
    app: AppId,
    key: &GroupKey,
    since: UtcMillis,
    openings: &[(Ordinal, UtcMillis)],
) -> Result<()> {
    let in_time = since..=since.plus(COUNTS_FOR);
    let openers: RoaringBitmap =
        openings.iter().filter(|(_, at)| in_time.contains(at)).map(|(ordinal, _)| ordinal.0).collect();
    if openers.is_empty() {
        return Ok(());
    }
    let Some((members, opened)) = groups::get(tx, app, key)? else { return Ok(()) };
    let set = |bytes: &[u8]| codec::decode(bytes).map_err(Error::internal);
    let (members, before) = (set(&members)?, set(&opened)?);
    let after = &before | (openers & members);
    if after != before {
        groups::set_opened(tx, app, key, &channels(&after))?;
    }
    Ok(())
}

fn channels(set: &RoaringBitmap) -> Channels {
    Channels { set: codec::encode(set), n: set.len() }
}
