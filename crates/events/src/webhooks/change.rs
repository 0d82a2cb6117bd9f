//! Creating, changing and deleting webhooks. A running node notices at its next checkpoint.

use base::{Error, Result};
use boxed::boxed;
use model::event::{EventOffset, WebhookStart};
use model::ids::{AppId, OperationId, WebhookId};
use providers::http::{WebUrl, check_url};
use providers::webhook::{NewWebhook, WebhookChange, WebhookConfig};
use serde::{Deserialize, Serialize};
use store::webhooks::{self, Position, Tally, Webhook};
use store::{Tx, followers, log};
use tenancy::IdempotencyKey;

use super::cursor::WebhookCursor;
use super::run::ForwardEvents;
use super::view::Lag;
use super::{WebhookView, job_of};
use crate::Events;

/// Each has connections, a window of events and a job slot of its own.
use model::limits::WEBHOOKS_PER_APP as MOST_PER_APP;

/// The answer to the creation of a webhook.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreatedWebhook {
    pub operation_id: OperationId,
    pub webhook: WebhookView,
}

#[boxed]
impl Events {
    pub async fn create_webhook(
        &self,
        app: AppId,
        new: NewWebhook,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<CreatedWebhook> {
        let NewWebhook { url, types, start, settings } = new;
        let config = WebhookConfig::new(self.checked(&url)?, types).with(&settings);
        let now = self.0.clock.now();
        let id = WebhookId::at(now);
        let (events, sealed) = (self.clone(), self.seal_webhook(app, id, &config)?);
        let write = move |tx: &mut Tx<'_>| {
            if usize::try_from(webhooks::count(tx, app)?).is_ok_and(|n| n >= MOST_PER_APP) {
                return Err(Error::Conflict(format!("An app has at most {MOST_PER_APP} webhooks; delete one first.")));
            }
            let done = match start {
                WebhookStart::Now => EventOffset::end_of(log::head(tx, app)?),
                WebhookStart::Earliest => EventOffset::START,
            };
            let position = Position { version: 0, done, held: None };
            let new = Webhook {
                id,
                created: now,
                modified: now,
                enabled: settings.enabled.unwrap_or(true),
                disabled_why: None,
                config: sealed.clone(),
                changes: 0,
                position,
                tally: Tally::default(),
                failing: None,
            };
            webhooks::insert(tx, app, &new)?;
            followers::start(tx, app, job_of(id), done)?;
            jobs::enqueue_as(tx, app, job_of(id), now, &ForwardEvents { webhook: id })?;
            let lag = Lag::of(tx, app, &new, now)?;
            Ok(CreatedWebhook { operation_id: OperationId::at(now), webhook: events.view_webhook(app, new, lag) })
        };
        self.0.tenancy.write_once(app, idempotency_key, write).await
    }

    pub async fn change_webhook(&self, app: AppId, id: WebhookId, change: WebhookChange) -> Result<WebhookView> {
        let url = change.url.as_deref().map(|url| self.checked(url)).transpose()?;
        let (events, now) = (self.clone(), self.0.clock.now());
        let write = move |tx: &mut Tx<'_>| {
            let webhook = webhooks::get(tx, app, id)?.ok_or(Error::NotFound("webhook"))?;
            let config = events.unseal_webhook(app, &webhook)?.changed(url.clone(), &change);
            webhooks::configure(tx, app, id, &events.seal_webhook(app, id, &config)?, now)?;
            match change.settings.enabled {
                Some(true) => webhooks::enable(tx, app, id)?,
                Some(false) => webhooks::disable(tx, app, id, None)?,
                None => {}
            }
            // An event refused before may be taken now. Runs that work with the stored cursor start again from it.
            let cursor = WebhookCursor::from_stored(webhook.position.held.as_deref())?;
            if cursor.is_troubled() {
                let held = cursor.due_at(now).to_bytes()?;
                webhooks::move_to(tx, app, id, webhook.position.done, Some(&held))?;
            }
            Ok::<_, Error>(followers::rouse(tx, app, job_of(id), now)?)
        };
        self.0.store.write(app, write).await?;
        self.webhook(app, id).await
    }

    pub async fn delete_webhook(&self, app: AppId, id: WebhookId) -> Result<()> {
        let write = move |tx: &mut Tx<'_>| match remove(tx, app, id)? {
            true => Ok(()),
            false => Err(Error::NotFound("webhook")),
        };
        self.0.store.write(app, write).await?;
        self.0.webhooks.forget(app, id);
        Ok(())
    }

    fn checked(&self, url: &str) -> Result<WebUrl> {
        check_url(url, self.0.network.policy()).map_err(|refusal| Error::invalid("url", refusal.to_string()))
    }
}

/// Removes a webhook with its position in the log and its job. `false` when there is none.
pub fn remove(tx: &mut Tx<'_>, app: AppId, id: WebhookId) -> store::Result<bool> {
    followers::stop(tx, app, job_of(id))?;
    jobs::cancel(tx, app, job_of(id))?;
    webhooks::delete(tx, app, id)
}
