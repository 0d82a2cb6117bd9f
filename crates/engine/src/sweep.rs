//! Housekeeping that recurs: what has served its time is deleted.

use std::time::Duration;

use model::ids::Id;
use store::jobs::{self, ClaimedJob};
use store::{Tx, apps};
use uuid::Uuid;

use crate::apps::OPERATOR;
use crate::job::Job;
use crate::{Engine, Result, once};

const EVERY: Duration = Duration::from_secs(60 * 60);
/// When there was too much to delete at once.
const SOON: Duration = Duration::from_secs(60);

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
            self.discard_dead_uploads(app.id).await?;
            self.forget_old_days(app.id).await?;
            self.forget_old_places(app.id).await?;
            self.forget_old_sends(app.id).await?;
            if self.shorten_log(app.id).await? | self.forget_old_blocks(app.id).await? {
                again = SOON;
            }
            self.forget_old_event_ids(app.id).await?;
            self.forget_ended_messages(app.id).await?;
        }
        let now = self.0.clock.now();
        let claimed = claimed.clone();
        self.0
            .store
            .write(OPERATOR, move |tx| {
                store::idempotency::forget_before(tx, now.minus(once::KEPT_FOR))?;
                jobs::postpone(tx, &claimed, now.plus(again))?;
                Ok(())
            })
            .await
    }
}
