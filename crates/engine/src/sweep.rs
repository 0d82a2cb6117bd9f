//! Housekeeping that recurs: what has served its time is deleted.

use std::time::Duration;

use model::ids::{AppId, Id};
use store::jobs::{self, ClaimedJob};
use store::{Tx, apps};
use uuid::Uuid;

use crate::apps::OPERATOR;
use crate::job::Job;
use crate::{Engine, Error, Result, idempotency};

const EVERY: Duration = Duration::from_secs(10 * 60);
/// When there was too much to delete at once. Short, so that deleting keeps up with what is written.
const SOON: Duration = Duration::from_secs(1);

/// Kept answers that are deleted in one transaction.
const PORTION: u32 = 1000;

/// There is one sweep per installation: a fixed id makes a second one impossible.
const SWEEP_JOB: Uuid = Uuid::from_u128(0x5eed);

impl Engine {
    pub(crate) async fn ensure_sweep(&self) -> Result<()> {
        let engine = self.clone();
        let first = self.0.clock.now().plus(EVERY);
        let write =
            move |tx: &mut Tx<'_>| engine.enqueue_as(tx, OPERATOR, Id::from_uuid(SWEEP_JOB), first, &Job::Sweep);
        self.0.store.write(OPERATOR, write).await
    }

    /// Deleting what is old deletes nothing the second time.
    pub(crate) async fn sweep(&self, claimed: &ClaimedJob) -> Result<()> {
        let mut again = EVERY;
        for app in self.0.store.read(apps::list).await? {
            match self.sweep_app(app.id).await {
                Ok(true) => again = SOON,
                Ok(false) | Err(Error::AppGone) => {}
                // The others do not wait for it, and it has another chance at the next sweep.
                Err(error) => tracing::error!(
                    app = app.key.as_str(),
                    error = &error as &dyn std::error::Error,
                    "what is old in an app cannot be deleted"
                ),
            }
        }
        self.forget_old_answers().await?;
        let (now, claimed) = (self.0.clock.now(), claimed.clone());
        self.0.store.write(OPERATOR, move |tx| jobs::postpone(tx, &claimed, now.plus(again)).map(drop)).await?;
        Ok(())
    }

    async fn forget_old_answers(&self) -> Result<()> {
        let before = self.0.clock.now().minus(idempotency::KEPT_FOR);
        let forget = move |tx: &mut Tx<'_>| store::idempotency::forget_before(tx, before, PORTION);
        while self.0.store.write(OPERATOR, forget).await? == u64::from(PORTION) {}
        Ok(())
    }

    /// Whether there is more to delete.
    async fn sweep_app(&self, app: AppId) -> Result<bool> {
        self.discard_dead_uploads(app).await?;
        self.forget_old_days(app).await?;
        self.forget_old_places(app).await?;
        self.forget_old_sends(app).await?;
        self.forget_old_groups(app).await?;
        let is_more = self.shorten_log(app).await? | self.forget_old_blocks(app).await?;
        self.forget_old_event_ids(app).await?;
        self.forget_old_signed_requests(app).await?;
        self.forget_ended_messages(app).await?;
        self.forget_old_associations(app).await?;
        // After the messages, which keep their pushes.
        Ok(self.forget_old_pushes(app).await? | is_more)
    }
}
