//! Events that were given up: shown, sent once more, or discarded.

use std::time::Duration;

use base::{Error, Result};
use boxed::boxed;
use bytes::Bytes;
use model::event::EventOffset;
use model::ids::{AppId, WebhookId};
use providers::webhook::HookAnswer;
use store::Tx;
use store::webhooks::{self, DeadLetter};
use tokio::time::Instant;

use crate::Events;

/// How many are sent in one request of the operator, and after how much time no more are begun.
const AT_ONCE: u32 = 100;
const LONGEST: Duration = Duration::from_secs(20);
/// After this many failures in a row there is no point in continuing.
const ENOUGH: u32 = 3;

/// The result of sending dead letters once more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redelivered {
    pub n_delivered: u32,
    pub n_failed: u32,
    /// Why the last one failed that did.
    pub reason: Option<String>,
    /// The last one that was tried, to continue after it; `None` when all were.
    pub last: Option<EventOffset>,
}

#[boxed]
impl Events {
    /// Dead letters after an offset, in the order of the log.
    pub async fn dead_letters(
        &self,
        app: AppId,
        id: WebhookId,
        after: EventOffset,
        at_most: u32,
    ) -> Result<Vec<DeadLetter>> {
        let read = move |tx: &mut Tx<'_>| {
            webhooks::get(tx, app, id)?.ok_or(Error::NotFound("webhook"))?;
            Ok::<_, Error>(webhooks::dead_letters(tx, app, id, after, at_most)?)
        };
        self.0.store.read(read).await
    }

    /// Sends some dead letters once more, one after the other in the order of the log, and forgets those that are taken. They
    /// come after all later events of their channels.
    pub async fn redeliver(&self, app: AppId, id: WebhookId, after: EventOffset) -> Result<Redelivered> {
        let letters = self.dead_letters(app, id, after, AT_ONCE).await?;
        let hook = self.hook(app, id).await?;
        let is_full = letters.len() >= AT_ONCE as usize;
        let (mut result, mut n_failed_in_a_row, begun) = (Redelivered::default(), 0, Instant::now());
        for letter in letters {
            if begun.elapsed() > LONGEST {
                return Ok(result);
            }
            result.last = Some(letter.offset);
            let reason = match hook.post(&[Bytes::from(letter.body)], self.0.clock.now()).await {
                HookAnswer::Taken { .. } => {
                    // A crash before this sends it again: at least once, as always.
                    let forget = move |tx: &mut Tx<'_>| webhooks::remove_dead_letter(tx, app, id, letter.offset);
                    self.0.store.write(app, forget).await?;
                    result.n_delivered += 1;
                    n_failed_in_a_row = 0;
                    continue;
                }
                HookAnswer::Failed { reason, .. } => reason,
                HookAnswer::Gone => "The webhook answered 410: it wants no more events.".to_owned(),
            };
            result.reason = Some(reason);
            result.n_failed += 1;
            n_failed_in_a_row += 1;
            if n_failed_in_a_row == ENOUGH {
                return Ok(result);
            }
        }
        result.last.take_if(|_| !is_full);
        Ok(result)
    }

    /// Forgets all dead letters of a webhook. Returns how many there were.
    pub async fn discard_dead_letters(&self, app: AppId, id: WebhookId) -> Result<u64> {
        let write = move |tx: &mut Tx<'_>| {
            webhooks::get(tx, app, id)?.ok_or(Error::NotFound("webhook"))?;
            Ok::<_, Error>(webhooks::discard_dead_letters(tx, app, id)?)
        };
        self.0.store.write(app, write).await
    }
}
