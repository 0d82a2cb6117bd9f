//! Webhooks: events of an app are forwarded to them as they happen, in order for each channel, until they are taken.

mod attempts;
mod breaker;
mod change;
mod checkpoint;
mod cursor;
mod dead_letters;
mod notice;
mod operate;
mod routes;
mod run;
mod view;
mod window;

use base::{Error, Result};
use jobs::JobId;
use model::ids::{AppId, WebhookId};
use providers::webhook::WebhookConfig;
use store::webhooks::Webhook;

use crate::Events;

pub use change::CreatedWebhook;
pub use change::remove as remove_webhook;
pub use dead_letters::Redelivered;
pub use notice::WebhookLag;
pub use operate::WebhookProof;
pub(crate) use routes::Webhooks;
pub(crate) use run::ForwardEvents;
pub use view::{WebhookState, WebhookView};

/// The job of a webhook, whose id is also that of its follower.
fn job_of(webhook: WebhookId) -> JobId {
    JobId::from_uuid(webhook.uuid())
}

impl Events {
    fn unseal_webhook(&self, app: AppId, webhook: &Webhook) -> Result<WebhookConfig> {
        let text = self.0.tenancy.seal_key().open(&purpose(app, webhook.id), &webhook.config)?;
        serde_json::from_str(&text).map_err(Error::internal)
    }

    fn seal_webhook(&self, app: AppId, id: WebhookId, config: &WebhookConfig) -> Result<String> {
        let text = serde_json::to_string(config).map_err(Error::internal)?;
        self.0.tenancy.seal_key().seal(&purpose(app, id), &text)
    }
}

/// Ties a sealed configuration to its app and webhook: it cannot be opened as that of another.
pub fn purpose(app: AppId, webhook: WebhookId) -> String {
    format!("webhook/{}/{webhook}", app.0)
}
