//! The control group: channels of an experiment's audience that get nothing. They are chosen when the first variant is sent,
//! among the channels that this push would reach. If the variant goes out by local time, the control group is chosen zone by
//! zone with it. Whether the push is then paused, canceled or delivered changes nothing.

use audience::block::blocks;
use audience::codec;
use base::{Error, Result};
use devices::{Journal, ManyEvent};
use jobs::{ClaimedJob, Job, Stop};
use model::event::SharedPush;
use model::ids::{AppId, ExperimentId, Id, PushId};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use sending::part::withheld;
use sending::{ByDeviceType, recipients_among, stored_push, union};
use serde::{Deserialize, Serialize};
use store::counters::{self, Metric};
use store::{Tx, experiment_groups, origins, pushes};
use targeting::{Planner, open_types};
use uuid::Uuid;

use super::push_id;
use crate::Campaigns;

/// Chooses the control group of an experiment when this push of it is sent.
#[derive(Serialize, Deserialize)]
pub(crate) struct WithholdControlGroup {
    pub(super) push: PushId,
}

impl Job for WithholdControlGroup {
    type Room = Campaigns;
    const NAME: &'static str = "withhold_control_group";

    async fn run(self, campaigns: &Campaigns, claimed: &ClaimedJob, _: &Stop) -> Result<()> {
        campaigns.withhold(claimed, self.push).await
    }
}

impl Campaigns {
    /// Running it twice is harmless: the transaction that writes the group settles the job.
    pub(crate) async fn withhold(&self, claimed: &ClaimedJob, push: PushId) -> Result<()> {
        let app = claimed.app;
        let read =
            move |tx: &mut Tx<'_>| -> Result<_> { Ok((pushes::by_id(tx, app, push)?, origins::of(tx, app, push)?)) };
        let (row, provenance) = self.0.store.read(read).await?;
        let Some(row) = row else { return jobs::settle_alone(&self.0.store, claimed).await };
        let Some((content, experiment)) = stored_push(&row)?.zip(provenance.experiment()) else {
            return jobs::settle_alone(&self.0.store, claimed).await;
        };
        self.0.targeting.ready_atlas_to_plan(app, &content.audience).await?;
        let index = self.0.index.at(app, row.accepted_at).await?;
        let now = self.0.clock.now();
        let mut shared_push = provenance.shared_push(push_id(experiment), &content);
        shared_push.variant_id = None;
        let known = index.clone();
        let plan = move |tx: &mut Tx<'_>| -> Result<_> {
            let mut planner = Planner::new(tx, app, &known, now, open_types(&content.device_types, &known));
            let audience = planner.audience(&content.audience)?;
            Ok((withheld(&planner, audience, &provenance), content))
        };
        let withheld_channels: ByDeviceType = match self.0.store.read(plan).await? {
            // However few get the variant, the others are compared with all of the control group.
            (Some(plan), content) => self.0.index.evaluate(move || recipients_among(&index, &content, &plan)).await?,
            (None, _) => Vec::new(),
        };
        let (campaigns, claimed, now) = (self.clone(), claimed.clone(), self.0.clock.now());
        let write = move |tx: &mut Tx<'_>| {
            jobs::settle(tx, &claimed)?;
            campaigns.write_control(tx, app, (experiment, push), &shared_push, &withheld_channels, now)
        };
        self.0.store.write(app, write).await
    }

    /// Notes the channels withheld, counts them, and writes their events under the id of the experiment. Channels that were held
    /// back before, in a time zone that they have left since, are left out.
    fn write_control(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        (experiment, push): (ExperimentId, PushId),
        shared_push: &SharedPush,
        withheld_channels: &ByDeviceType,
        now: UtcMillis,
    ) -> Result<()> {
        let before = members(tx, app, experiment)?;
        for (device_type, withheld_channels) in withheld_channels {
            let n = (withheld_channels - &before).len();
            counters::add(tx, app, Metric::Controls, now, device_type, n)?;
            counters::add_of_push(tx, app, shared_push.push_id, Metric::Controls, now, device_type, n)?;
        }
        let withheld_channels = union(withheld_channels) - before;
        sending::experiment_groups::watch(tx, app, (experiment, group_id(push)), None, &withheld_channels, now)?;
        let mut journal = Journal::new(now);
        for (_, withheld_channels) in blocks(&withheld_channels) {
            journal.many(ManyEvent::Control, shared_push, &withheld_channels)?;
        }
        journal.write(tx, app)?;
        Ok(())
    }
}

/// The id under which the channels withheld with a push are noted.
fn group_id(push: PushId) -> PushId {
    Id::from_uuid(Uuid::new_v5(&push.uuid(), b"control"))
}

/// All channels of the control group so far.
fn members(tx: &mut Tx<'_>, app: AppId, experiment: ExperimentId) -> Result<RoaringBitmap> {
    let mut members = RoaringBitmap::new();
    for part in experiment_groups::control_members(tx, app, experiment)? {
        members |= codec::decode(&part).map_err(Error::internal)?;
    }
    Ok(members)
}
