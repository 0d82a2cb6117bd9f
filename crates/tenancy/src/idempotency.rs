//! Idempotency: a request that carries a key is carried out once, and its answer is given again to repeats of it.

use std::time::Duration;

use base::{Error, Result};
use boxed::boxed;
use model::ids::AppId;
use model::privacy::Redaction;
use model::time::UtcMillis;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::{Constraint, Tx, idempotency};

use crate::{SealKey, Tenancy};

/// For how long an answer is kept.
pub const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// Tells this conflict from all others.
pub const KEY_WAS_USED: &str = "This idempotency key was used for another request; choose a new key.";

const HOUR: i64 = 60 * 60 * 1000;

/// Identifies a request, to recognize repeats.
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    /// The key, which begins with who chose it: devices must not be able to use up the keys of servers.
    pub key: String,
    /// A digest of the method, the path and what is asked for, which is the body unless repeats of it may have another.
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
                return Err(Error::Conflict(KEY_WAS_USED.to_owned()).into());
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

impl Tenancy {
    /// Takes a person who is erased out of some kept answers, as they are by now. Returns how many named the person. An answer
    /// stays an answer, because a request that is repeated must not be carried out again; one whose key names the person goes.
    pub fn clean_answers(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        redaction: &Redaction,
        until: UtcMillis,
        keys: &[&str],
    ) -> Result<u64> {
        let mut n_found = 0;
        for key in keys {
            let Some(kept) = idempotency::find(tx, app, key)? else { continue };
            if redaction.text(key).is_some() {
                idempotency::forget(tx, app, key)?;
                n_found += 1;
            } else if let Ok(answer) = open(&self.0.seal_key, &kept.answer)
                && let Some(cleaned) = redaction.json(&answer)
            {
                idempotency::replace(tx, app, key, &seal(&self.0.seal_key, &cleaned, until)?)?;
                n_found += 1;
            }
        }
        Ok(n_found)
    }

    /// The answers after a key that name a person, and the key to go on after.
    pub fn answers_naming(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        redaction: &Redaction,
        until: UtcMillis,
        after: &str,
    ) -> Result<(Vec<String>, Option<String>)> {
        let page = idempotency::page(tx, app, after, until, CLEANED_AT_ONCE)?;
        let is_named = |(key, sealed): &&(String, String)| {
            let answer = || open(&self.0.seal_key, sealed).ok();
            redaction.text(key).is_some() || answer().is_some_and(|answer| redaction.json(&answer).is_some())
        };
        let found = page.iter().filter(is_named).map(|(key, _)| key.clone()).collect();
        let is_full = page.len() == CLEANED_AT_ONCE as usize;
        Ok((found, page.into_iter().next_back().filter(|_| is_full).map(|(key, _)| key)))
    }
}

/// Answers that one transaction opens.
const CLEANED_AT_ONCE: u32 = 1000;

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
