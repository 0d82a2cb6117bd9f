//! The closed set of jobs. Each is safe to run twice; the function that runs it says why, and disposes of the job in the
//! transaction that completes its work.

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
    Deliver { push: PushId, platform: String, block: u32 },
    /// Delete what has served its time.
    Sweep,
    /// Delete everything a deleted app left behind.
    EraseApp { app: AppId },
    /// Bring everybody in line with an uploaded list.
    TendList { list: String },
    /// Take the number of a deleted tag from whoever holds it.
    ForgetTag { number: TermId, told_at: Offset },
    /// Send what a schedule has for this moment.
    FireSchedule { schedule: ScheduleId },
    /// Send a variant of an experiment, to those whose time has come.
    FireVariant { experiment: ExperimentId, variant: u32 },
    /// Read in the log what sets pipelines off.
    Automate,
    /// Send what a pipeline has for those who have waited for this moment.
    FirePipeline { pipeline: PipelineId, due: UtcMillis },
    /// Look for those who have been inactive for as long as a pipeline waits for.
    CheckInactivity { pipeline: PipelineId },
    /// Note who of the groups of experiments has opened the app.
    WatchExperiments,
    /// Forward what happens to a webhook. Lasts as long as the webhook, and sleeps while nothing happens.
    ForwardEvents { webhook: WebhookId },
    /// Make up the control group of an experiment, as far as it belongs to a push.
    HoldBack { push: PushId },
    /// Take the messages out of all inboxes that a group of pushes had sent by an instant.
    DeleteMessages { group: Uuid, until: UtcMillis },
    /// Take out everybody who waits for a pipeline that was deleted or disabled.
    ClearPipeline { pipeline: PipelineId },
}

impl Job {
    /// For operators: shown in logs and metrics, and stored beside the payload.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Job::Resolve { .. } => "resolve",
            Job::Deliver { .. } => DELIVER,
            Job::Sweep => "sweep",
            Job::EraseApp { .. } => "erase_app",
            Job::ForgetTag { .. } => "forget_tag",
            Job::TendList { .. } => "tend_list",
            Job::FireSchedule { .. } => "fire_schedule",
            Job::FireVariant { .. } => "fire_variant",
            Job::Automate => "automate",
            Job::FirePipeline { .. } => "fire_pipeline",
            Job::CheckInactivity { .. } => "check_inactivity",
            Job::WatchExperiments => "watch_experiments",
            Job::ForwardEvents { .. } => FORWARD,
            Job::HoldBack { .. } => "hold_back",
            Job::DeleteMessages { .. } => "delete_messages",
            Job::ClearPipeline { .. } => "clear_pipeline",
        }
    }
}

impl Job {
    /// What the job may have to wait for. Deliveries to one platform of one app do not take up the places of others.
    fn lane(&self) -> String {
        match self {
            Job::Deliver { platform, .. } => delivery_lane(platform),
            Job::FirePipeline { pipeline, .. } | Job::CheckInactivity { pipeline } => pipeline_lane(*pipeline),
            Job::ForwardEvents { webhook } => format!("{FORWARD}/{webhook}"),
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
            | Job::ClearPipeline { .. } => self.kind().to_owned(),
        }
    }

    /// The push that the job is part of the sending of.
    fn push(&self) -> Option<PushId> {
        match self {
            Job::Deliver { push, .. } => Some(*push),
            Job::Resolve { .. }
            | Job::Sweep
            | Job::EraseApp { .. }
            | Job::TendList { .. }
            | Job::ForgetTag { .. }
            | Job::FireSchedule { .. }
            | Job::FireVariant { .. }
            | Job::Automate
            | Job::FirePipeline { .. }
            | Job::CheckInactivity { .. }
            | Job::WatchExperiments
            | Job::ForwardEvents { .. }
            | Job::HoldBack { .. }
            | Job::DeleteMessages { .. }
            | Job::ClearPipeline { .. } => None,
        }
    }
}

/// The kind of those jobs that send, which may take long.
pub(crate) const DELIVER: &str = "deliver";

/// The kind of those jobs that forward events to webhooks, which wait for others.
pub(crate) const FORWARD: &str = "forward_events";

/// The lane of the deliveries to one platform.
pub(crate) fn delivery_lane(platform: &str) -> String {
    format!("{DELIVER}/{platform}")
}

/// The lane of everything a pipeline has to do, so that it can be called off together.
pub(crate) fn pipeline_lane(pipeline: PipelineId) -> String {
    format!("pipeline/{pipeline}")
}

impl Engine {
    /// Adds a job to the transaction that causes it.
    pub(crate) fn enqueue(&self, tx: &mut Tx<'_>, app: AppId, due: UtcMillis, job: &Job) -> Result<()> {
        self.enqueue_as(tx, app, JobId::at(due), due, job)
    }

    pub(crate) fn enqueue_as(&self, tx: &mut Tx<'_>, app: AppId, id: JobId, due: UtcMillis, job: &Job) -> Result<()> {
        let payload = postcard::to_stdvec(job).map_err(Error::internal)?;
        Ok(jobs::enqueue(tx, app, &NewJob { id, kind: job.kind(), lane: job.lane(), due, push: job.push(), payload })?)
    }

    pub(crate) async fn run_job(&self, claimed: &ClaimedJob, stop: &worker::Stop) -> Result<()> {
        match postcard::from_bytes(&claimed.payload).map_err(Error::internal)? {
            Job::Resolve { push } => self.resolve(claimed, push).await,
            Job::Deliver { push, platform, block } => {
                deliver::run(self, claimed, store::blocks::BlockKey { push, platform, number: block }, stop).await
            }
            Job::Sweep => self.sweep(claimed).await,
            Job::EraseApp { app } => self.erase_app(claimed, app, stop).await,
            Job::ForgetTag { number, told_at } => self.forget_tag(claimed, number, told_at, stop).await,
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
            Job::ClearPipeline { pipeline } => self.clear_pipeline(claimed, pipeline, stop).await,
        }
    }

    /// For jobs whose work is not a transaction of its own.
    pub(crate) async fn settle(&self, claimed: &ClaimedJob) -> Result<()> {
        let claimed = claimed.clone();
        self.0.store.write(claimed.app, move |tx| jobs::settle(tx, &claimed).map(drop)).await?;
        Ok(())
    }
}
