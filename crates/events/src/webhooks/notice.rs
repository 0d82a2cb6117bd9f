//! The state of all webhooks of the installation, for metrics.

use base::{Error, Result};
use boxed::boxed;
use model::app::AppKey;
use model::ids::WebhookId;
use store::Tx;
use store::webhooks::{self, Tally};

use super::view::Lag;
use crate::Events;

#[derive(Clone, Debug)]
pub struct WebhookLag {
    pub app: AppKey,
    pub webhook: WebhookId,
    pub records_behind: i64,
    pub seconds_behind: i64,
    pub is_failing: bool,
    /// By the service itself.
    pub is_disabled: bool,
    pub tally: Tally,
}

#[boxed]
impl Events {
    /// Webhooks that the operator disabled are not expected to keep up, and left out.
    pub async fn webhook_lags(&self) -> Result<Vec<WebhookLag>> {
        let now = self.0.clock.now();
        let read = move |tx: &mut Tx<'_>, part: &store::Part| {
            let mut lags = Vec::new();
            for (app, key, webhook) in webhooks::of_all_apps(tx, part)? {
                if !webhook.enabled && webhook.disabled_why.is_none() {
                    continue;
                }
                let Lag { records, seconds } = Lag::of(tx, app, &webhook, now)?;
                lags.push(WebhookLag {
                    app: key,
                    webhook: webhook.id,
                    records_behind: records,
                    seconds_behind: seconds,
                    is_failing: webhook.failing.is_some(),
                    is_disabled: !webhook.enabled,
                    tally: webhook.tally,
                });
            }
            Ok::<_, Error>(lags)
        };
        self.0.store.read_all(read).await
    }
}
