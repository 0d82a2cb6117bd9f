//! Idempotency: a request that carries a key is carried out once, and its answer is given again to repeats of it.

use std::time::Duration;

use base::{Error, Result};
use boxed::boxed;
use model::ids::AppId;
use model::time::UtcMillis;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::{Constraint, Tx, idempotency};

use crate::{SealKey, Tenancy};

/// For how long an answer is kept.
pub const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

const HOUR: i64 = 60 * 60 * 1000;

/// Identifies a request, to recognize repeats.
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    /// The key, which begins with who chose it: devices must not be able to use up the keys of servers.
    pub key: String,
    /// A digest of the method, the path and the body.
    pub request: [u8; 32],
}

/// Why a request with a key was not carried out. Either way nothing was changed.
enum Failure {
    /// Another node answered the same key between our look and our write: it has to be looked for again.
    Taken,
    Other(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Other(error)
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        Failure::Other(error.into())
    }
}

#[boxed]
impl Tenancy {
    /// Runs `change` in a transaction. With a key, the answer is kept in the same transaction, and a repeat gets it back
    /// without changing anything. Answers are sealed, because some contain new secrets.
    pub async fn write_once<T>(
        &self,
        app: AppId,
        idempotency_key: Option<IdempotencyKey>,
        change: impl Fn(&mut Tx<'_>) -> Result<T> + Send + Sync + 'static,
    ) -> Result<T>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        let Some(idempotency_key) = idempotency_key else { return self.0.store.write(app, change).await };
        let change = std::sync::Arc::new(change);
        loop {
            let (tenancy, idempotency_key, change) = (self.clone(), idempotency_key.clone(), change.clone());
            let now = self.0.clock.now();
            let write = move |tx: &mut Tx<'_>| tenancy.change_once(tx, app, &idempotency_key, now, &*change);
            match self.0.store.write(app, write).await {
                Ok(answer) => return Ok(answer),
                Err(Failure::Taken) => continue,
                Err(Failure::Other(error)) => return Err(error),
            }
        }
    }

    fn change_once<T: Serialize + DeserializeOwned>(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        idempotency_key: &IdempotencyKey,
        now: UtcMillis,
        change: &impl Fn(&mut Tx<'_>) -> Result<T>,
    ) -> Result<T, Failure> {
        if let Some(kept) = idempotency::find(tx, app, &idempotency_key.key)? {
            if kept.request != idempotency_key.request {
                let text = "This idempotency key was used for another request; choose a new key.";
                return Err(Error::Conflict(text.to_owned()).into());
            }
            let opened = open(&self.0.seal_key, &kept.answer);
            match opened.and_then(|answer| serde_json::from_str(&answer).map_err(Error::internal)) {
                Ok(answer) => return Ok(answer),
                Err(error) => self.0.unreadable_answers.call_once(|| {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "answers kept for repeated requests cannot be read; they count as none");
                }),
            }
            idempotency::forget(tx, app, &idempotency_key.key)?;
        }
        let answer = change(tx)?;
        let text = serde_json::to_string(&answer).map_err(Error::internal)?;
        let sealed = seal(&self.0.seal_key, &text, now)?;
        let kept = idempotency::Kept { request: idempotency_key.request.to_vec(), answer: sealed };
        match idempotency::keep(tx, app, &idempotency_key.key, &kept, now) {
            Ok(()) => Ok(answer),
            Err(store::Error::Conflict(Constraint::Index(_))) => Err(Failure::Taken),
            Err(other) => Err(other.into()),
        }
    }
}

const PURPOSE: &str = "answer";

/// Begins with the hour, which determines the key.
fn seal(key: &SealKey, answer: &str, now: UtcMillis) -> Result<String> {
    let hour = now.0.div_euclid(HOUR);
    Ok(format!("{hour}.{}", key.of_hour(PURPOSE, hour).seal(PURPOSE, answer)?))
}

fn open(key: &SealKey, sealed: &str) -> Result<String> {
    let (hour, rest) = sealed.split_once('.').ok_or_else(|| Error::internal("a kept answer has no hour"))?;
    key.of_hour(PURPOSE, hour.parse().map_err(Error::internal)?).open(PURPOSE, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_opened_in_later_hours() {
        let key = SealKey::new(&[7; 32]);
        let (first, second) =
            (seal(&key, "a", UtcMillis(HOUR)).unwrap(), seal(&key, "b", UtcMillis(2 * HOUR)).unwrap());
        assert_eq!((open(&key, &first).unwrap(), open(&key, &second).unwrap()), ("a".to_owned(), "b".to_owned()));
        assert!(open(&key, &first.replace("1.", "2.")).is_err());
        assert!(open(&key, &key.seal(PURPOSE, "without an hour").unwrap()).is_err());
    }
}
