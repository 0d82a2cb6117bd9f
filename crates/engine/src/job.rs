//! The closed set of jobs. Each is safe to run twice; the function that runs it says why, and disposes of the job in the
//! transaction that completes its work.

use model::device_type::DeviceType;
use model::ids::{AppId, ExperimentId, Offset, PipelineId, PushId, ScheduleId, TermId, WebhookId};
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::jobs::{self, ClaimedJob, JobId, NewJob};
use uuid::Uuid;

use crate::{Engine, Error, Result, deliver, worker};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Job {
    /// Fix the audience of an accepted push and cut it into blocks.
    Resolve { push: PushId },
    /// Send one block of a push.
    Deliver { push: PushId, device_type: DeviceType, block: u32 },
    /// Delete data that is no longer needed.
    Sweep,
    /// Delete everything a deleted app left behind.
    EraseApp { app: AppId },
    /// Update the members of an uploaded list.
    TendList { list: String },
    /// Remove the number of a deleted tag from its holders.
    ForgetTag { number: TermId, retired_at: Offset },
    /// Send the pushes of a schedule that are due now.
    FireSchedule { schedule: ScheduleId },
    /// Send a variant of an experiment to the channels whose time has come.
    FireVariant { experiment: ExperimentId, variant: u32 },
    /// Read the triggers of pipelines from the log.
    Automate,
    /// Send the messages of a pipeline to the channels that are due now.
    FirePipeline { pipeline: PipelineId, due: UtcMillis },
    /// Find the channels that have been inactive for as long as a pipeline requires.
    CheckInactivity { pipeline: PipelineId },
    /// Note which members of the groups of experiments have opened the app.
    WatchExperiments,
    /// Forward events to a webhook. Lasts as long as the webhook, and sleeps while nothing happens.
    ForwardEvents { webhook: WebhookId },
    /// Choose the control group of an experiment when this push of it is sent.
    HoldBack { push: PushId },
    /// Delete from all inboxes the messages of a push group sent before `until`.
    DeleteMessages { group: Uuid, until: UtcMillis },
    /// The same as `ClearWaitingList` for the first list. Not written any more.
    ClearPipeline { pipeline: PipelineId },
    /// Remove all channels that waited for a pipeline before it was deleted or disabled.
    ClearWaitingList { pipeline: PipelineId, generation: u32 },
}

/// What a job does, without whom it does it to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum JobKind {
    Resolve,
    Deliver,
    Sweep,
    EraseApp,
    TendList,
    ForgetTag,
    FireSchedule,
    FireVariant,
    Automate,
    FirePipeline,
    CheckInactivity,
    WatchExperiments,
    ForwardEvents,
    HoldBack,
    DeleteMessages,
    ClearPipeline,
}

impl JobKind {
    const ALL: [JobKind; 16] = [
        JobKind::Resolve,
        JobKind::Deliver,
        JobKind::Sweep,
        JobKind::EraseApp,
        JobKind::TendList,
        JobKind::ForgetTag,
        JobKind::FireSchedule,
        JobKind::FireVariant,
        JobKind::Automate,
        JobKind::FirePipeline,
        JobKind::CheckInactivity,
        JobKind::WatchExperiments,
        JobKind::ForwardEvents,
        JobKind::HoldBack,
        JobKind::DeleteMessages,
        JobKind::ClearPipeline,
    ];

    /// For operators: shown in logs and metrics, and stored beside the payload. Never change one.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            JobKind::Resolve => "resolve",
            JobKind::Deliver => "deliver",
            JobKind::Sweep => "sweep",
            JobKind::EraseApp => "erase_app",
            JobKind::TendList => "tend_list",
            JobKind::ForgetTag => "forget_tag",
            JobKind::FireSchedule => "fire_schedule",
            JobKind::FireVariant => "fire_variant",
            JobKind::Automate => "automate",
            JobKind::FirePipeline => "fire_pipeline",
            JobKind::CheckInactivity => "check_inactivity",
            JobKind::WatchExperiments => "watch_experiments",
            JobKind::ForwardEvents => "forward_events",
            JobKind::HoldBack => "hold_back",
            JobKind::DeleteMessages => "delete_messages",
            JobKind::ClearPipeline => "clear_pipeline",
        }
    }

    /// `None` for the kinds of versions that are newer than this one.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl Job {
    pub(crate) const fn kind(&self) -> JobKind {
        match self {
            Job::Resolve { .. } => JobKind::Resolve,
            Job::Deliver { .. } => JobKind::Deliver,
            Job::Sweep => JobKind::Sweep,
            Job::EraseApp { .. } => JobKind::EraseApp,
            Job::TendList { .. } => JobKind::TendList,
            Job::ForgetTag { .. } => JobKind::ForgetTag,
            Job::FireSchedule { .. } => JobKind::FireSchedule,
            Job::FireVariant { .. } => JobKind::FireVariant,
            Job::Automate => JobKind::Automate,
            Job::FirePipeline { .. } => JobKind::FirePipeline,
            Job::CheckInactivity { .. } => JobKind::CheckInactivity,
            Job::WatchExperiments => JobKind::WatchExperiments,
            Job::ForwardEvents { .. } => JobKind::ForwardEvents,
            Job::HoldBack { .. } => JobKind::HoldBack,
            Job::DeleteMessages { .. } => JobKind::DeleteMessages,
            Job::ClearPipeline { .. } | Job::ClearWaitingList { .. } => JobKind::ClearPipeline,
        }
    }

    /// The lane of the job. Deliveries to one platform of one app do not take the slots of others.
    fn lane(&self) -> String {
        match self {
            Job::Deliver { device_type, .. } => delivery_lane(device_type),
            Job::FirePipeline { pipeline, .. } | Job::CheckInactivity { pipeline } => pipeline_lane(*pipeline),
            Job::ForwardEvents { webhook } => format!("{}/{webhook}", self.kind().name()),
            Job::Resolve { .. }
            | Job::Sweep
            | Job::EraseApp { .. }
            | Job::TendList { .. }
            | Job::ForgetTag { .. }
            | Job::FireSchedule { .. }
            | Job::FireVariant { .. }
            | Job::Automate
            | Job::WatchExperiments
            | Job::HoldBack { .. }
            | Job::DeleteMessages { .. }
            | Job::ClearPipeline { .. }
            | Job::ClearWaitingList { .. } => self.kind().name().to_owned(),
        }
    }

    /// The push this job helps to send.
    fn push(&self) -> Option<PushId> {
        if let Job::Deliver { push, .. } = self { Some(*push) } else { None }
    }
}

/// The lane of the deliveries to one platform.
pub(crate) fn delivery_lane(device_type: &DeviceType) -> String {
    format!("{}/{device_type}", JobKind::Deliver.name())
}

/// The lane of all messages of a pipeline, so that they can be canceled together; `ClearWaitingList`, which does that once the
/// pipeline is not enabled, is not in it.
pub(crate) fn pipeline_lane(pipeline: PipelineId) -> String {
    format!("pipeline/{pipeline}")
}

const FIRST_TURN: u32 = 0;

/// Goes up each time that the number of blocks before it doubles: a push to millions of devices has few turns, so that the first
/// job of each turn is found quickly.
fn turn_after(n_before: u32) -> u32 {
    u32::BITS - n_before.leading_zeros()
}

impl Engine {
    /// Adds a job to the transaction that causes it.
    pub(crate) fn enqueue(&self, tx: &mut Tx<'_>, app: AppId, due: UtcMillis, job: &Job) -> Result<()> {
        self.enqueue_as(tx, app, JobId::at(due), due, job)
    }

    /// Adds the job that delivers a block of a push after `n_before` others to the same platform.
    pub(crate) fn enqueue_block(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        due: UtcMillis,
        job: &Job,
        n_before: u32,
    ) -> Result<()> {
        self.enqueue_in_turn(tx, app, (JobId::at(due), due, turn_after(n_before)), job)
    }

    pub(crate) fn enqueue_as(&self, tx: &mut Tx<'_>, app: AppId, id: JobId, due: UtcMillis, job: &Job) -> Result<()> {
        self.enqueue_in_turn(tx, app, (id, due, FIRST_TURN), job)
    }

    fn enqueue_in_turn(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        (id, due, turn): (JobId, UtcMillis, u32),
        job: &Job,
    ) -> Result<()> {
        let payload = postcard::to_stdvec(job).map_err(Error::internal)?;
        let new = NewJob { id, kind: job.kind().name(), lane: job.lane(), due, turn, push: job.push(), payload };
        Ok(jobs::enqueue(tx, app, new)?)
    }

    pub(crate) async fn run_job(&self, claimed: &ClaimedJob, stop: &worker::Stop) -> Result<()> {
        match postcard::from_bytes(&claimed.payload).map_err(Error::internal)? {
            Job::Resolve { push } => self.resolve(claimed, push).await,
            Job::Deliver { push, device_type, block } => {
                deliver::run(self, claimed, store::blocks::BlockKey { push, device_type, number: block }, stop).await
            }
            Job::Sweep => self.sweep(claimed, stop).await,
            Job::EraseApp { app } => self.erase_app(claimed, app, stop).await,
            Job::ForgetTag { number, retired_at } => self.forget_tag(claimed, number, retired_at, stop).await,
            Job::TendList { list } => self.tend_list(claimed, list, stop).await,
            Job::FireSchedule { schedule } => self.fire_schedule(claimed, schedule).await,
            Job::FireVariant { experiment, variant } => self.fire_variant(claimed, experiment, variant).await,
            Job::Automate => self.automate(claimed).await,
            Job::FirePipeline { pipeline, due } => self.fire_pipeline(claimed, pipeline, due).await,
            Job::CheckInactivity { pipeline } => self.check_inactivity(claimed, pipeline).await,
            Job::WatchExperiments => self.watch_experiments(claimed).await,
            Job::ForwardEvents { webhook } => self.forward_events(claimed, webhook, stop).await,
            Job::HoldBack { push } => self.hold_back(claimed, push).await,
            Job::DeleteMessages { group, until } => self.delete_rest_of_group(claimed, group, until, stop).await,
            Job::ClearPipeline { pipeline } => self.clear_waiting_list(claimed, pipeline, 0, stop).await,
            Job::ClearWaitingList { pipeline, generation } => {
                self.clear_waiting_list(claimed, pipeline, generation, stop).await
            }
        }
    }

    /// For jobs whose work is not a transaction of its own.
    pub(crate) async fn settle(&self, claimed: &ClaimedJob) -> Result<()> {
        let claimed = claimed.clone();
        self.0.store.write(claimed.app, move |tx| jobs::settle(tx, &claimed)).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use model::ids::Id;

    use super::*;

    /// Jobs outlive the version that wrote them: a device type is stored as its name.
    #[test]
    fn deliveries_are_stored_as_ever() {
        let push: PushId = Id::from_uuid(Uuid::from_u128(0x0102));
        for name in ["ios", "open::kiosk"] {
            let device_type = DeviceType::from_name(name).unwrap();
            let job = Job::Deliver { push, device_type, block: 300 };
            let length = u8::try_from(name.len()).unwrap();
            let stored = [&[1, 16][..], push.as_bytes(), &[length], name.as_bytes(), &[0xac, 0x02]].concat();
            assert_eq!(postcard::to_stdvec(&job).unwrap(), stored);
            assert_eq!(postcard::from_bytes::<Job>(&stored).unwrap(), job);
        }
    }

    #[test]
    fn the_first_block_has_a_turn_of_its_own_and_the_last_of_many_one_of_few() {
        assert_eq!([0, 1, 2, 3, 4, 7, 8, 153, 65_535].map(turn_after), [0, 1, 2, 2, 3, 3, 4, 8, 16]);
    }

    /// Names are stored, and looked up by what a worker finds.
    #[test]
    fn kinds_are_known_by_their_names() {
        for kind in JobKind::ALL {
            assert_eq!(JobKind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(JobKind::from_name("of_a_later_version"), None);
    }
}
