//! Webhooks as they may be shown: without their secrets, and with their state.

use base::{Error, Result};
use boxed::boxed;
use model::event::EventOffset;
use model::ids::{AppId, Offset, WebhookId};
use model::time::UtcMillis;
use providers::webhook::WebhookConfig;
use serde::{Deserialize, Serialize};
use store::webhooks::{self, Tally, Webhook};
use store::{Tx, followers, log};

use super::cursor::WebhookCursor;
use super::job_of;
use crate::Events;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WebhookView {
    pub id: WebhookId,
    /// `None`: sealed with another key, or damaged.
    pub config: Option<WebhookConfig>,
    pub created: UtcMillis,
    pub modified: UtcMillis,
    pub state: WebhookState,
    /// Everything up to here is delivered.
    pub done: EventOffset,
    pub tally: Tally,
    pub records_behind: i64,
    pub seconds_behind: i64,
    /// Since when every event fails, if any was tried; after some days of that the service disables the webhook.
    #[serde(default)]
    pub nothing_taken_since: Option<UtcMillis>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WebhookState {
    Live,
    /// Some events, or all, are not taken.
    Failing {
        since: UtcMillis,
        reason: String,
    },
    /// By the operator, unless the service gives a reason of its own.
    Disabled {
        reason: Option<String>,
    },
}

/// How far a webhook is behind the end of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lag {
    pub(super) records: i64,
    pub(super) seconds: i64,
}

#[boxed]
impl Events {
    pub async fn webhook(&self, app: AppId, id: WebhookId) -> Result<WebhookView> {
        let now = self.0.clock.now();
        let read = move |tx: &mut Tx<'_>| {
            let webhook = webhooks::get(tx, app, id)?.ok_or(Error::NotFound("webhook"))?;
            let lag = Lag::of(tx, app, &webhook, now)?;
            Ok::<_, Error>((webhook, lag))
        };
        let (webhook, lag) = self.0.store.read(read).await?;
        Ok(self.view_webhook(app, webhook, lag))
    }

    pub async fn webhooks(&self, app: AppId) -> Result<Vec<WebhookView>> {
        let now = self.0.clock.now();
        let read = move |tx: &mut Tx<'_>| {
            let mut found = Vec::new();
            for webhook in webhooks::list(tx, app)? {
                let lag = Lag::of(tx, app, &webhook, now)?;
                found.push((webhook, lag));
            }
            Ok::<_, Error>(found)
        };
        let found = self.0.store.read(read).await?;
        Ok(found.into_iter().map(|(webhook, lag)| self.view_webhook(app, webhook, lag)).collect())
    }

    pub(super) fn view_webhook(&self, app: AppId, webhook: Webhook, lag: Lag) -> WebhookView {
        let config = self.unseal_webhook(app, &webhook).ok();
        let cursor = WebhookCursor::from_stored(webhook.position.held.as_deref()).ok();
        let nothing_taken_since = cursor.and_then(|cursor| cursor.breaker.fruitless_since());
        let state = match (webhook.enabled, webhook.failing) {
            (false, _) => WebhookState::Disabled { reason: webhook.disabled_why },
            (true, Some((since, reason))) => WebhookState::Failing { since, reason },
            (true, None) => match nothing_taken_since {
                // What failed was given up, and nothing has been taken after it.
                Some(since) => WebhookState::Failing { since, reason: "No event was taken since then.".to_owned() },
                None => WebhookState::Live,
            },
        };
        WebhookView {
            id: webhook.id,
            config,
            created: webhook.created,
            modified: webhook.modified,
            state,
            done: webhook.position.done,
            tally: webhook.tally,
            records_behind: lag.records,
            seconds_behind: lag.seconds,
            nothing_taken_since,
        }
    }
}

impl Lag {
    /// In whole records, one of which may be about many channels.
    pub(super) fn of(tx: &mut Tx<'_>, app: AppId, webhook: &Webhook, now: UtcMillis) -> Result<Self> {
        let read = followers::position(tx, app, job_of(webhook.id))?.unwrap_or(webhook.position.done);
        // Records that were read and not meant for this webhook do not count as behind, unless something earlier is stuck.
        let is_stuck = webhook.position.done < read;
        let done = if is_stuck { webhook.position.done } else { read }.records_done();
        let head = log::head(tx, app)?;
        let records = (head.0 - done.0).max(0);
        let oldest = if records > 0 { log::time_after(tx, app, Offset(done.0))? } else { None };
        Ok(Self { records, seconds: oldest.map_or(0, |at| (now.0 - at.0).max(0) / 1000) })
    }
}
