//! Firing a pipeline: its messages are accepted like any other push, for the due channels that may still get them.

use std::time::Duration;

use audience::block::blocks;
use audience::codec;
use audience::index::Index;
use base::{Error, Result, doubled};
use jobs::{ClaimedJob, Job, Stop};
use model::ids::{AppId, OperationId, PipelineId, PushId};
use model::origin::{Origin, Part, Provenance};
use model::payload::Push;
use model::pipeline::{Condition, Pipeline};
use model::push_outcome::LeftOut;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use sending::{Causes, NewPush, Sorted, sort_for, union, write_left_out};
use serde::{Deserialize, Serialize};
use store::documents::{self, DocumentKind};
use store::{Tx, followers, log, origins, push_audience, pushes};
use targeting::Planner;

use super::conditions::{AskedAudiences, all_hold};
use super::dayparts::{ByClocks, by_clocks, go_by_devices};
use super::follow::AUTOMATION;
use super::lane;
use super::rates;
use super::stored::{self, Stored};
use super::timers::{WaitingList, take_waiting, waiting_at};
use crate::Campaigns;

/// How long a pipeline that may have been canceled waits for the log to be read: at first, and at most. Looking more often does
/// not speed up a log reader that is far behind.
const CATCHING_UP: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The action of a pipeline when it is due.
pub(super) struct Firing<'a> {
    pub(super) app: AppId,
    pub(super) list: WaitingList,
    pub(super) pipeline: &'a Pipeline,
    /// Everything known about channels at this moment.
    pub(super) index: &'a Index,
    pub(super) now: UtcMillis,
    checked: Option<&'a Checked>,
}

/// For whom the conditions of a pipeline hold, of the channels that waited when it was looked up, and by which clocks they go, if
/// these decide: it may take reading and computing much, and is done before others have to wait for the transaction that sends.
struct Checked {
    list: WaitingList,
    conditions: Vec<Condition>,
    asked: RoaringBitmap,
    met: RoaringBitmap,
    clocks: ByClocks,
}

/// Sends the messages of a pipeline to the channels that are due.
#[derive(Serialize, Deserialize)]
pub(crate) struct FirePipeline {
    pub(super) pipeline: PipelineId,
    pub(super) due: UtcMillis,
}

impl Job for FirePipeline {
    type Room = Campaigns;
    const NAME: &'static str = "fire_pipeline";
    const IS_TIMED: bool = true;
    const LONGEST_WAIT: Option<Duration> = None;

    fn lane(&self) -> String {
        lane(self.pipeline)
    }

    async fn run(self, campaigns: &Campaigns, claimed: &ClaimedJob, _: &Stop) -> Result<()> {
        campaigns.fire_pipeline(claimed, self.pipeline, self.due).await
    }
}

impl Campaigns {
    /// Running it twice is harmless: the transaction that accepts the pushes settles the job and removes the channels that
    /// waited.
    pub(crate) async fn fire_pipeline(&self, claimed: &ClaimedJob, id: PipelineId, due: UtcMillis) -> Result<()> {
        let index = self.0.index.current(claimed.app).await?;
        let (campaigns, app, now, claimed) = (self.clone(), claimed.app, self.0.clock.now(), claimed.clone());
        let known = index.clone();
        let checked = self.0.store.read(move |tx| Checked::read(tx, app, (id, due), &known, now)).await?;
        let write = move |tx: &mut Tx<'_>| {
            let document = documents::get(tx, app, DocumentKind::Pipeline, &id.to_string())?;
            let stored = document.as_ref().and_then(Stored::readable);
            if let Some(stored) = &stored
                && stored.pipeline.can_cancel()
                && is_behind(tx, app, due)?
            {
                let attempt = u32::try_from(claimed.attempt).unwrap_or(u32::MAX);
                jobs::postpone(tx, &claimed, now.plus(doubled(CATCHING_UP, attempt, LONGEST_WAIT)))?;
                return Ok(0);
            }
            if let Some(stored) = &stored
                && !Checked::suffices(checked.as_ref(), stored.list(id), &stored.pipeline)
            {
                // It was changed meanwhile, or the log was read, and it is looked at again as it is now.
                jobs::postpone(tx, &claimed, now)?;
                return Ok(0);
            }
            jobs::settle(tx, &claimed)?;
            // The list of a deleted pipeline is being cleared, and so are earlier lists, whose jobs find nobody here.
            let Some(document) = document else { return Ok(0) };
            let readable = stored.as_ref().map(|stored| stored.list(id));
            let list = readable.unwrap_or_else(|| stored::waiting_list(id, &document.body));
            let waiting = take_waiting(tx, app, list, due)?;
            // An unreadable pipeline sends nothing, and what has waited for it in vain does not stay behind.
            let Some(Stored { pipeline, .. }) = &stored else { return Ok(0) };
            // Of pushes that are sent together, some have instants a moment before the first, when it may not have begun.
            let is_active = [due, now].into_iter().any(|at| pipeline.active.contains(at));
            if !pipeline.enabled || !is_active {
                return Ok(0);
            }
            let firing = Firing { app, list, pipeline, index: &index, now, checked: checked.as_ref() };
            let ready = campaigns.wait_for_daypart(tx, &firing, &waiting)?;
            campaigns.send(tx, &firing, ready, &waiting.causes)
        };
        let n_pushes = self.0.store.write(app, write).await?;
        self.0.metrics.pushes_accepted(n_pushes);
        Ok(())
    }

    /// How many pushes were accepted.
    fn send(&self, tx: &mut Tx<'_>, firing: &Firing<'_>, channels: RoaringBitmap, causes: &Causes) -> Result<u64> {
        let Firing { app, list, pipeline, now, .. } = *firing;
        // All of them may have been canceled.
        if channels.is_empty() {
            return Ok(0);
        }
        let id = list.pipeline;
        let Sifted { reached, unreached, unmet } = firing.sift(tx, channels)?;
        let own = (id, pipeline.rates.as_slice());
        let shared = stored::global_rates(tx, app)?;
        let all = (rates::ALL_PIPELINES, shared.as_slice());
        let channels = rates::with_room(tx, app, own, reached.clone(), now)?;
        let channels = rates::with_room(tx, app, all, channels, now)?;
        if channels.is_empty() {
            return Ok(0);
        }
        rates::note_sent(tx, app, own, &channels, now)?;
        rates::note_sent(tx, app, all, &channels, now)?;
        let provenance = Provenance { origin: Origin::Pipeline(id), run: None, part: Part::Triggered };
        let named: Vec<(PushId, &Push, String)> = pipeline
            .outcomes
            .iter()
            .map(|push| Ok((PushId::at(now), push, serde_json::to_string(push).map_err(Error::internal)?)))
            .collect::<Result<_>>()?;
        let over_rate = reached - &channels;
        for (push, content, _) in &named {
            let Sorted { recipients, mut left_out, .. } = sort_for(firing.index, content, &unreached);
            // They could be reached, but not by a push that may go to no more.
            for (device_type, surplus) in recipients {
                left_out.add(&device_type, LeftOut::MostRecipients, surplus);
            }
            left_out.add_of_all_types(firing.index, LeftOut::Conditions, &unmet);
            left_out.add_of_all_types(firing.index, LeftOut::Rate, &over_rate);
            write_left_out(tx, app, *push, &left_out, now)?;
            causes.keep(tx, app, *push, &channels)?;
            for (block, members) in blocks(&channels) {
                push_audience::insert(tx, app, *push, block.0, codec::encode(&members))?;
            }
        }
        let new = named.iter().map(|(id, push, payload)| NewPush {
            id: *id,
            push,
            payload,
            provenance: &provenance,
            author: None,
        });
        let new: Vec<_> = new.collect();
        let earlier = earlier_payloads(tx, app, id, new.len())?;
        self.0.sending.insert_pushes(tx, app, now, OperationId::at(now), &new)?;
        for NewPush { id, payload, push, .. } in &new {
            let same = earlier.iter().find(|(_, earlier)| earlier == payload && !push.is_redacted());
            if let Some((earlier, _)) = same {
                pushes::share_payload(tx, app, *id, *earlier)?;
            }
        }
        Ok(new.len() as u64)
    }
}

/// The last push of a pipeline. Most of the time it sends the same payload again, which is then not stored again.
fn earlier_payloads(tx: &mut Tx<'_>, app: AppId, id: PipelineId, n_outcomes: usize) -> Result<Vec<(PushId, String)>> {
    let n_outcomes = u32::try_from(n_outcomes).unwrap_or(u32::MAX);
    let mut earlier = Vec::new();
    for push in origins::last_pushes(tx, app, Origin::Pipeline(id), n_outcomes)? {
        let row = pushes::by_id(tx, app, push)?.filter(|row| !row.redact);
        earlier.extend(row.and_then(|row| Some((push, row.payload?))));
    }
    Ok(earlier)
}

/// Whether records from before an instant are still to be read.
fn is_behind(tx: &mut Tx<'_>, app: AppId, due: UtcMillis) -> Result<bool> {
    let Some(position) = followers::position(tx, app, AUTOMATION)? else { return Ok(false) };
    Ok(log::time_after(tx, app, position.records_done())?.is_some_and(|at| at < due))
}

/// The channels that are due, by whether they are sent to as far as the pipeline decides.
struct Sifted {
    /// Some of its pushes reach them.
    reached: RoaringBitmap,
    /// None does.
    unreached: RoaringBitmap,
    /// A condition does not hold for them.
    unmet: RoaringBitmap,
}

impl Checked {
    /// `None` if there is nothing to check, or nothing is going to be sent now.
    fn read(
        tx: &mut Tx<'_>,
        app: AppId,
        (id, due): (PipelineId, UtcMillis),
        index: &Index,
        now: UtcMillis,
    ) -> Result<Option<Self>> {
        let stored = Stored::find(tx, app, id)?.filter(|stored| has_to_check(&stored.pipeline));
        let Some(stored) = stored else { return Ok(None) };
        if stored.pipeline.can_cancel() && is_behind(tx, app, due)? {
            return Ok(None);
        }
        let list = stored.list(id);
        let asked = waiting_at(tx, app, list, due)?;
        let clocks = match go_by_devices(&stored.pipeline) {
            true => by_clocks(tx, app, index, asked.clone(), now),
            false => Vec::new(),
        };
        let conditions = stored.pipeline.conditions;
        let mut planner = Planner::new(tx, app, index, now, Vec::new());
        let met = all_hold(&mut planner, &mut AskedAudiences::default(), &conditions, &asked)?;
        Ok(Some(Self { list, conditions, asked, met, clocks }))
    }

    /// Whether what was checked is what a pipeline asks now. Clocks are those of channels, whatever asks for them.
    fn suffices(checked: Option<&Self>, list: WaitingList, pipeline: &Pipeline) -> bool {
        match checked {
            Some(checked) => checked.list == list && checked.conditions == pipeline.conditions,
            None => !pipeline.enabled || pipeline.conditions.is_empty(),
        }
    }
}

fn has_to_check(pipeline: &Pipeline) -> bool {
    pipeline.enabled && (!pipeline.conditions.is_empty() || go_by_devices(pipeline))
}

impl Firing<'_> {
    /// Channels by their clocks. Those who have joined since these were looked up, if any, are looked up now.
    pub(super) fn by_clocks(&self, tx: &mut Tx<'_>, channels: RoaringBitmap) -> ByClocks {
        let known = self.checked.into_iter().flat_map(|checked| &checked.clocks);
        let mut groups: ByClocks = known.map(|(clock, group)| (*clock, group & &channels)).collect();
        let late = groups.iter().fold(channels, |late, (_, group)| late - group);
        groups.extend(by_clocks(tx, self.app, self.index, late, self.now));
        groups
    }

    fn sift(&self, tx: &mut Tx<'_>, channels: RoaringBitmap) -> Result<Sifted> {
        // Those who have joined since it was checked, if any, are checked now.
        let (mut met, late) = match self.checked {
            Some(checked) => (&checked.met & &channels, &channels - &checked.asked),
            None => (RoaringBitmap::new(), channels.clone()),
        };
        let mut planner = Planner::new(tx, self.app, self.index, self.now, Vec::new());
        met |= all_hold(&mut planner, &mut AskedAudiences::default(), &self.pipeline.conditions, &late)?;
        let mut reached = RoaringBitmap::new();
        for push in &self.pipeline.outcomes {
            let Sorted { recipients, holders, .. } = sort_for(self.index, push, &met);
            reached |= union(&recipients) | union(&holders);
        }
        Ok(Sifted { unreached: &met - &reached, unmet: channels - met, reached })
    }
}
