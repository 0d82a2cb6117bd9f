//! Operating a webhook: testing it, showing its history, and replaying events.

use base::{Error, Result};
use boxed::boxed;
use bytes::Bytes;
use model::event::{EventOffset, ReplayFrom};
use model::ids::{AppId, EventId, Offset, WebhookId};
use providers::webhook::{Hook, HookAnswer};
use serde::Serialize;
use store::webhooks::{self, Entry};
use store::{Tx, followers, log};
use tokio::time::Instant;

use super::{WebhookView, job_of};
use crate::Events;

/// The webhook took a test event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebhookProof {
    pub status: u16,
    pub millis: u128,
}

/// The made-up event.
#[derive(Serialize)]
struct Specimen {
    id: EventId,
    offset: &'static str,
    occurred: String,
    processed: String,
    #[serde(rename = "type")]
    kind: &'static str,
    body: SpecimenBody,
}

#[derive(Serialize)]
struct SpecimenBody {
    name: &'static str,
    source: &'static str,
}

#[boxed]
impl Events {
    /// Sends one made-up event. The error is a sentence for the operator.
    pub async fn test_webhook(&self, app: AppId, id: WebhookId) -> Result<Result<WebhookProof, String>> {
        let hook = self.hook(app, id).await?;
        let now = self.0.clock.now();
        let specimen = Specimen {
            id: EventId::at(now),
            offset: "0",
            occurred: now.to_iso(),
            processed: now.to_iso(),
            kind: "CUSTOM",
            body: SpecimenBody { name: "webhook_test", source: "API" },
        };
        let json = serde_json::to_vec(&specimen).map_err(Error::internal)?;
        let begun = Instant::now();
        Ok(match hook.post(&[Bytes::from(json)], now).await {
            HookAnswer::Taken { status } => Ok(WebhookProof { status, millis: begun.elapsed().as_millis() }),
            HookAnswer::Failed { reason, .. } => Err(reason),
            HookAnswer::Gone => Err("The webhook answered 410: it wants no more events.".to_owned()),
        })
    }

    /// The latest requests and gaps, the last one first.
    pub async fn webhook_history(&self, app: AppId, id: WebhookId, at_most: u32) -> Result<Vec<Entry>> {
        let read = move |tx: &mut Tx<'_>| {
            webhooks::get(tx, app, id)?.ok_or(Error::NotFound("webhook"))?;
            Ok::<_, Error>(webhooks::history(tx, app, id, at_most)?)
        };
        self.0.store.read(read).await
    }

    /// Sends events again from an earlier position, or skips events up to a later one. Former failures are forgotten.
    pub async fn replay_webhook(&self, app: AppId, id: WebhookId, from: ReplayFrom) -> Result<WebhookView> {
        let now = self.0.clock.now();
        let write = move |tx: &mut Tx<'_>| {
            webhooks::get(tx, app, id)?.ok_or(Error::NotFound("webhook"))?;
            let head = EventOffset::end_of(log::head(tx, app)?);
            let after = match from {
                ReplayFrom::After(offset) if offset > head => {
                    return Err(Error::invalid("offset", format!("The log ends at {head}; this is after it.")));
                }
                ReplayFrom::After(offset) => offset,
                ReplayFrom::Time(time) => EventOffset::end_of(Offset(log::first_since(tx, app, time)?.0 - 1)),
            };
            // Records deleted before do not count as missed: they were not available when the replay was asked for.
            let after = after.max(EventOffset::end_of(Offset(log::start(tx, app)?.0 - 1)));
            webhooks::move_to(tx, app, id, after, None)?;
            followers::start(tx, app, job_of(id), after)?;
            Ok(followers::rouse(tx, app, job_of(id), now)?)
        };
        self.0.store.write(app, write).await?;
        self.webhook(app, id).await
    }

    pub(super) async fn hook(&self, app: AppId, id: WebhookId) -> Result<Hook> {
        let webhook = self.0.store.read(move |tx| webhooks::get(tx, app, id)).await?;
        let webhook = webhook.ok_or(Error::NotFound("webhook"))?;
        Ok(Hook::new(&self.0.network, &self.unseal_webhook(app, &webhook)?))
    }
}
