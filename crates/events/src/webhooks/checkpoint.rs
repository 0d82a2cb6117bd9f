//! The transaction that saves the cursor of a webhook and reschedules its job.

use std::sync::Arc;
use std::time::Duration;

use base::{Error, Result, SharedClock};
use jobs::{ClaimedJob, LEASE, NEVER};
use model::event::EventOffset;
use model::ids::{AppId, WebhookId};
use model::time::UtcMillis;
use store::webhooks::{self, Stretch};
use store::{Tx, followers};

use super::attempts::AttemptLog;
use crate::Events;

/// No webhook keeps more dead letters than this. The events of those that go are in the log for as long as it keeps them.
const MOST_DEAD: u32 = 10_000;
/// How long a webhook rests whose configuration cannot be read, such as without the key that it was sealed with.
const UNREADABLE: Duration = Duration::from_secs(5 * 60);

/// What the job does after a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// It keeps running.
    None,
    /// It queues up again, so that others get their turn.
    Now,
    /// Until the log grows, or until a time.
    UntilGrowth(Option<UtcMillis>),
    /// Until a time, however much the log grows.
    Until(UtcMillis),
}

/// The stored state that a run began with. Its deliveries are saved only while that is current.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunBasis {
    pub(super) webhook: WebhookId,
    /// Of the position that it continues from.
    pub(super) version: i64,
    /// Of the configuration that it uses.
    pub(super) changes: i64,
    /// Whether some event was not taken.
    pub(super) is_failing: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Saved {
    GoOn,
    /// The configuration is another by now.
    Changed,
    /// The webhook was moved meanwhile, and nothing was saved.
    Moved,
}

/// Everything to remember.
pub(super) struct Snapshot {
    pub(super) stretch: Stretch,
    pub(super) read: EventOffset,
    pub(super) attempts: AttemptLog,
}

impl Events {
    pub(super) async fn save_webhook(
        &self,
        job: ClaimedJob,
        basis: RunBasis,
        snapshot: Arc<Snapshot>,
        rest: Rest,
    ) -> Result<Saved> {
        let (app, shared) = (job.app, self.0.shared_clock.clone());
        let failing = snapshot.stretch.failing.clone().map(|(_, why)| why);
        let (saved, end) = self.0.store.write(app, move |tx| save(tx, &job, basis, &snapshot, rest, &shared)).await?;
        if let Some(why) = end {
            let app = self.0.tenancy.key_for_log(app).await;
            tracing::error!(event = "webhook.disabled", app, webhook = %basis.webhook, why, "a webhook is disabled");
        } else if saved != Saved::Moved && basis.is_failing != failing.is_some() {
            self.tell_turn(app, basis.webhook, failing).await;
        }
        Ok(saved)
    }

    /// Says in the log that a webhook takes some event no longer, or all of them again.
    async fn tell_turn(&self, app: AppId, webhook: WebhookId, failing: Option<String>) {
        let app = self.0.tenancy.key_for_log(app).await;
        match failing {
            Some(why) => {
                tracing::warn!(event = "webhook.failing", app, %webhook, why, "a webhook does not take an event")
            }
            None => tracing::info!(event = "webhook.recovered", app, %webhook, "a webhook takes all events again"),
        }
    }

    /// Lets the job of a webhook sleep that is disabled.
    pub(super) async fn rest_disabled(&self, job: &ClaimedJob, webhook: WebhookId) -> Result<()> {
        let (app, job, now) = (job.app, job.clone(), self.0.clock.now());
        self.0.webhooks.forget(app, webhook);
        let write = move |tx: &mut Tx<'_>| {
            let is_enabled = webhooks::get(tx, app, webhook)?.is_some_and(|webhook| webhook.enabled);
            let due = if is_enabled { now } else { NEVER };
            followers::rest_until(tx, &job, due)
        };
        self.0.store.write(app, write).await?;
        Ok(())
    }

    /// Lets the job of a webhook rest whose configuration cannot be read, which only an operator can change.
    pub(super) async fn rest_unreadable(&self, job: &ClaimedJob, webhook: WebhookId, error: Error) -> Result<()> {
        let (app, job, retry_at) = (job.app, job.clone(), self.0.clock.now().plus(UNREADABLE));
        let key = self.0.tenancy.key_for_log(app).await;
        tracing::error!(
            app = key,
            %webhook,
            error = &error as &dyn std::error::Error,
            "the configuration of a webhook cannot be read"
        );
        self.0.store.write(app, move |tx| followers::rest_until(tx, &job, retry_at)).await?;
        Ok(())
    }
}

/// Also why the webhook is disabled from now on, if it is.
fn save(
    tx: &mut Tx<'_>,
    job: &ClaimedJob,
    basis: RunBasis,
    snapshot: &Snapshot,
    rest: Rest,
    shared: &SharedClock,
) -> Result<(Saved, Option<String>)> {
    // Other nodes judge the lease, and when the job is due.
    let now = shared.now();
    let RunBasis { webhook, version, changes, is_failing: _ } = basis;
    let Snapshot { stretch, read, attempts } = snapshot;
    let Some(changes_now) = webhooks::remember(tx, job.app, webhook, version, stretch)? else {
        jobs::postpone(tx, job, now)?;
        return Ok((Saved::Moved, None));
    };
    webhooks::note(tx, job.app, webhook, &attempts.entries)?;
    if !attempts.letters.is_empty() {
        webhooks::keep_dead_letters(tx, job.app, webhook, &attempts.letters, MOST_DEAD)?;
    }
    // Failures under the old configuration say nothing about the new one.
    let end = attempts.end.clone().filter(|_| changes_now == changes);
    if let Some(why) = &end {
        webhooks::disable(tx, job.app, webhook, Some(why))?;
    }
    followers::advance(tx, job.app, job.id, *read)?;
    let is_changed = changes_now != changes || end.is_some();
    match rest {
        Rest::None => jobs::renew(tx, job, shared.lease_begin().plus(LEASE))?,
        Rest::Now | Rest::UntilGrowth(_) | Rest::Until(_) if is_changed => jobs::postpone(tx, job, now)?,
        Rest::Now => jobs::postpone(tx, job, now)?,
        Rest::UntilGrowth(latest) => followers::rest_at_most_until(tx, job, now, latest.unwrap_or(NEVER))?,
        Rest::Until(time) => followers::rest_until(tx, job, time)?,
    }
    Ok((if is_changed { Saved::Changed } else { Saved::GoOn }, end))
}
