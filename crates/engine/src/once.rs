//! Idempotency: a request that carries a key is carried out once, and its answer is given again to repeats of it.

use std::time::Duration;

use model::ids::AppId;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::{Tx, idempotency};

use crate::{Engine, Error, Result};

/// For how long an answer is kept.
pub(crate) const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// What makes a request the same as an earlier one.
#[derive(Clone, Debug)]
pub struct Once {
    /// The key, which begins with who chose it: devices must not be able to use up the keys of servers.
    pub key: String,
    /// A digest of the method, the path and the body.
    pub request: [u8; 32],
}

impl Engine {
    /// Runs `change` in a transaction. With a key, the answer is kept in the same transaction, and a repeat gets it back
    /// without changing anything. Answers are sealed, because some contain new secrets.
    pub(crate) async fn write_once<T>(
        &self,
        app: AppId,
        once: Option<Once>,
        change: impl Fn(&mut Tx<'_>) -> Result<T> + Send + Sync + 'static,
    ) -> Result<T>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        let Some(once) = once else { return self.0.store.write(app, change).await };
        let change = std::sync::Arc::new(change);
        loop {
            let (engine, once, change) = (self.clone(), once.clone(), change.clone());
            let written = self.0.store.write(app, move |tx| engine.change_once(tx, app, &once, &*change)).await;
            match written {
                // Another node answered the same key between our look and our write: look again.
                Err(Error::Internal(error)) if is_taken(&*error) => continue,
                other => return other,
            }
        }
    }

    fn change_once<T: Serialize + DeserializeOwned>(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        once: &Once,
        change: &impl Fn(&mut Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        const PURPOSE: &str = "answer";
        if let Some(kept) = idempotency::find(tx, app, &once.key)? {
            if kept.request != once.request {
                let text = "This idempotency key was used for another request; choose a new key.";
                return Err(Error::Conflict(text.to_owned()));
            }
            let opened = self.0.seal_key.open(PURPOSE, &kept.answer);
            match opened.and_then(|answer| serde_json::from_str(&answer).map_err(Error::internal)) {
                Ok(answer) => return Ok(answer),
                Err(error) => self.0.unreadable_answers.call_once(|| {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "answers kept for repeated requests cannot be read; they count as none");
                }),
            }
            idempotency::forget(tx, app, &once.key)?;
        }
        let answer = change(tx)?;
        let text = serde_json::to_string(&answer).map_err(Error::internal)?;
        let kept = idempotency::Kept { request: once.request.to_vec(), answer: self.0.seal_key.seal(PURPOSE, &text)? };
        idempotency::keep(tx, app, &once.key, &kept, self.0.clock.now())?;
        Ok(answer)
    }
}

fn is_taken(error: &(dyn std::error::Error + 'static)) -> bool {
    matches!(error.downcast_ref(), Some(store::Error::Conflict(name)) if name.starts_with("idempotency"))
}
