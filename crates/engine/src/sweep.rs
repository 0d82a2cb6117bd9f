//! Recurring housekeeping: deletes data that is no longer needed, and has long logs prepared for timelines.

use std::sync::Arc;
use std::time::Duration;

use base::{Error, Result};
use jobs::{ClaimedJob, Job, Stop};
use model::ids::{AppId, Id};
use serde::{Deserialize, Serialize};
use store::{Tx, apps};
use tenancy::OPERATOR;
use uuid::Uuid;

use crate::Rooms;

const EVERY: Duration = Duration::from_secs(10 * 60);
/// The pause when there was too much to delete at once. Short, so that deleting keeps up with writing.
const SOON: Duration = Duration::from_secs(1);

/// Kept answers, rows of the audit log, and logins that have ended, that are deleted in one transaction.
const PORTION: u32 = 1000;

/// The things of an app that get old.
#[derive(Clone, Copy, Debug)]
enum Old {
    Uploads,
    BulkUploads,
    Attributes,
    JourneyEntrances,
    LiveContent,
    Feedback,
    ActivityDays,
    Places,
    PipelineSends,
    ExperimentGroups,
    LogRecords,
    PushBlocks,
    EventIds,
    SignedRequests,
    Messages,
    PendingAssociations,
    Pushes,
    PrivacyRequests,
    AuditRows,
    FormerSecrets,
}

impl Old {
    /// Pushes come after the messages, which keep their pushes.
    const ALL: [Self; 20] = [
        Old::Uploads,
        Old::BulkUploads,
        Old::Attributes,
        Old::JourneyEntrances,
        Old::LiveContent,
        Old::Feedback,
        Old::ActivityDays,
        Old::Places,
        Old::PipelineSends,
        Old::ExperimentGroups,
        Old::LogRecords,
        Old::PushBlocks,
        Old::EventIds,
        Old::SignedRequests,
        Old::Messages,
        Old::PendingAssociations,
        Old::Pushes,
        Old::PrivacyRequests,
        Old::AuditRows,
        Old::FormerSecrets,
    ];
}

/// Whether a portion was all that is old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    Nothing,
    More,
}

/// There is one sweep per installation: a fixed id makes a second one impossible.
const SWEEP_JOB: Uuid = Uuid::from_u128(0x5eed);

/// Deletes data that is no longer needed.
#[derive(Serialize, Deserialize)]
pub(crate) struct Sweep {}

impl Job for Sweep {
    type Room = Arc<Rooms>;
    const NAME: &'static str = "sweep";
    const IS_TIMED: bool = true;

    /// Safe to run twice: the second run finds nothing more to delete. It can be interrupted anywhere, since every portion is a
    /// transaction of its own.
    async fn run(self, rooms: &Arc<Rooms>, claimed: &ClaimedJob, stop: &Stop) -> Result<()> {
        let again = tokio::select! {
            biased;
            () = stop.requested() => Duration::ZERO,
            again = rooms.sweep_all() => again?,
        };
        let (now, claimed) = (rooms.clock.now(), claimed.clone());
        rooms.store.write(OPERATOR, move |tx| jobs::postpone(tx, &claimed, now.plus(again))).await?;
        Ok(())
    }
}

impl Rooms {
    pub(crate) async fn ensure_sweep(&self) -> Result<()> {
        let first = self.clock.now().plus(EVERY);
        let write = move |tx: &mut Tx<'_>| jobs::enqueue_as(tx, OPERATOR, Id::from_uuid(SWEEP_JOB), first, &Sweep {});
        self.store.write(OPERATOR, write).await
    }

    /// Returns in how long to sweep again. Before every portion it looks at the clock, which may jump while this runs: what is left
    /// then waits until the clock has settled, because only then the job is claimed again.
    async fn sweep_all(&self) -> Result<Duration> {
        let mut again = EVERY;
        for app in self.store.read(apps::list).await? {
            match self.events.ensure_timelines(app.id).await {
                Ok(()) | Err(Error::AppGone) => {}
                Err(error) => tracing::error!(
                    app = app.key.as_str(),
                    error = &error as &dyn std::error::Error,
                    "timelines of an app cannot be prepared"
                ),
            }
            for old in Old::ALL {
                if !self.clock_watch.is_settled() {
                    return Ok(SOON);
                }
                match self.delete_old(old, app.id).await {
                    Ok(Left::More) => again = SOON,
                    Ok(Left::Nothing) | Err(Error::AppGone) => {}
                    // Nothing else can be deleted then, either, unless apps are on different servers.
                    Err(error) if error.is_of_database() && !self.store.is_spread() => return Err(error),
                    // Neither the rest of the app nor the other apps wait for it, and it has another chance at the next sweep.
                    Err(error) => tracing::error!(
                        app = app.key.as_str(),
                        ?old,
                        error = &error as &dyn std::error::Error,
                        "what is old in an app cannot be deleted"
                    ),
                }
            }
        }
        self.tell_ending_credentials().await?;
        self.forget_old_answers().await?;
        self.shorten_audit_log(OPERATOR).await?;
        while self.clock_watch.is_settled() && !self.accounts.delete_ended(PORTION).await? {}
        Ok(again)
    }

    async fn forget_old_answers(&self) -> Result<()> {
        let before = self.clock.now().minus(tenancy::ANSWERS_KEPT_FOR);
        let forget =
            move |tx: &mut Tx<'_>, part: &store::Part| store::idempotency::forget_before(tx, part, before, PORTION);
        while self.clock_watch.is_settled() && self.store.write_all(forget).await?.contains(&u64::from(PORTION)) {}
        Ok(())
    }

    async fn shorten_audit_log(&self, app: AppId) -> Result<()> {
        let before = self.clock.now().minus(self.retention.audit);
        let forget = move |tx: &mut Tx<'_>| store::audit::delete_before(tx, app, before, PORTION);
        while self.clock_watch.is_settled() && self.store.write(app, forget).await? == u64::from(PORTION) {}
        Ok(())
    }

    async fn delete_old(&self, old: Old, app: AppId) -> Result<Left> {
        let all_gone = |()| Left::Nothing;
        match old {
            Old::Uploads => {
                self.devices.discard_dead_uploads(app).await?;
                self.targeting.discard_dead_uploads(app).await.map(all_gone)
            }
            Old::BulkUploads => self.sending.forget_old_bulk_uploads(app).await.map(all_gone),
            Old::Attributes => self.devices.forget_ended_attributes(app).await.map(all_gone),
            Old::JourneyEntrances => self.campaigns.forget_old_entrances(app).await.map(all_gone),
            Old::LiveContent => self.devices.forget_old_live_content(app).await.map(all_gone),
            Old::Feedback => self.devices.forget_old_feedback(app).await.map(all_gone),
            Old::ActivityDays => self.devices.forget_old_days(app).await.map(all_gone),
            Old::Places => self.devices.forget_old_places(app).await.map(all_gone),
            Old::PipelineSends => self.campaigns.forget_old_sends(app).await.map(all_gone),
            Old::ExperimentGroups => self.sending.forget_old_groups(app).await.map(all_gone),
            Old::LogRecords => self.shorten_log(app).await,
            Old::PushBlocks => self.forget_old_blocks(app).await,
            Old::EventIds => self.events.forget_old_event_ids(app).await.map(all_gone),
            Old::SignedRequests => self.tenancy.forget_old_signed_requests(app).await.map(all_gone),
            Old::Messages => self.sending.forget_ended_messages(app).await.map(all_gone),
            Old::PendingAssociations => self.devices.forget_old_associations(app).await.map(all_gone),
            Old::Pushes => self.forget_old_pushes(app).await,
            Old::PrivacyRequests => self.forget_old_requests(app).await,
            Old::AuditRows => self.shorten_audit_log(app).await.map(all_gone),
            Old::FormerSecrets => self.tenancy.forget_ended_secrets(app).await.map(all_gone),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::time::{Clock, UtcMillis};
    use store::idempotency::{self, Kept};
    use testkit::store::{databases, fresh};

    use super::*;
    use crate::Engine;

    const KEY: &str = "key";

    async fn keep_answer(engine: &Engine, now: UtcMillis) {
        let kept = Kept { request: Vec::new(), answer: String::new() };
        let keep = move |tx: &mut Tx<'_>| idempotency::keep(tx, OPERATOR, KEY, &kept, now);
        engine.rooms.store.write(OPERATOR, keep).await.unwrap_or_else(|error: store::Error| panic!("{error}"));
    }

    async fn has_answer(engine: &Engine) -> bool {
        let find = |tx: &mut Tx<'_>| idempotency::find(tx, OPERATOR, KEY);
        engine.rooms.store.read(find).await.unwrap_or_else(|error: store::Error| panic!("{error}")).is_some()
    }

    /// The worker does not claim the job when it sees the jump; here the clock jumps after that.
    #[tokio::test]
    async fn a_sweep_that_runs_when_the_clock_jumps_deletes_nothing_by_it() {
        for database in databases() {
            let (store, _home) = fresh(database).await;
            let clock = Clock::stepped(testkit::app::START);
            let engine = Engine::start(store, clock.clone(), crate::tests::settings()).await.unwrap();
            keep_answer(&engine, clock.now()).await;
            clock.set_forward(365 * 24 * 60 * 60 * 1000);
            engine.rooms.sweep_all().await.unwrap();
            assert!(has_answer(&engine).await);
            clock.step(base::SETTLES_IN);
            engine.rooms.sweep_all().await.unwrap();
            assert!(!has_answer(&engine).await);
            engine.rooms.store.clone().close().await;
        }
    }
}
