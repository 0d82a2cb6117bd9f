//! The body of a request together with its idempotency key. The caller is authenticated before any of it is read.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use futures_util::future::BoxFuture;
use http::header::CONTENT_ENCODING;
use http::request::Parts;
use model::json::{self, At, UnknownKeys};
use parking_lot::Mutex;
use ring::digest::{Context, SHA256};
use tenancy::{IdempotencyKey, Rights};
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::auth::{Calling, CallingInbox};
use crate::body::Whole;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::holder::Holder;
use crate::inside::RepeatedAs;
use crate::recent_requests::KeptBody;

const IDEMPOTENCY_KEY: &str = "idempotency-key";
const MOST_KEY_CHARS: usize = 255;

/// Longer bodies are parsed apart from the threads that answer requests, so that these are not held up.
const LONG_BYTES: usize = 64 * 1024;

/// Reads a body and keeps what it finds.
type Parser = Box<dyn FnOnce(&[u8]) + Send>;

pub(crate) struct Input {
    body: Arc<Whole>,
    readers: Arc<Semaphore>,
    unknown_keys: UnknownKeys,
    /// For requests that send or create: carried out once per key.
    pub(crate) idempotency_key: Option<IdempotencyKey>,
}

impl Input {
    pub(crate) fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    pub(crate) async fn parse<T: Send + 'static>(
        &self,
        read: impl FnOnce(&At<'_>) -> Option<T> + Send + 'static,
    ) -> Result<T> {
        let unknown_keys = self.unknown_keys;
        Ok(self.read(move |text| json::parse_with(text, unknown_keys, read)).await??)
    }

    /// Has the body read by a parser that can rely on UTF-8.
    pub(crate) async fn read<T: Send + 'static>(&self, read: impl FnOnce(&[u8]) -> T + Send + 'static) -> Result<T> {
        let slot = Arc::new(Mutex::new(None));
        let left = Arc::clone(&slot);
        self.have_read(Box::new(move |text| {
            let found = read(text);
            *left.lock() = Some(found);
        }))
        .await?;
        let found = slot.lock().take();
        found.ok_or_else(|| Error::internal("a body was not read"))
    }

    /// Runs a parser that keeps what it finds: this is compiled once, and not for each of them.
    fn have_read(&self, read: Parser) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            if self.body.len() <= LONG_BYTES {
                read(text(&self.body)?);
                return Ok(());
            }
            let permit = self.readers.clone().acquire_owned().await.map_err(Error::internal)?;
            let body = self.body.clone();
            // The permit is released with the work, which continues if the caller hangs up.
            let work = move || {
                let _permit = permit;
                read(text(&body)?);
                Ok(())
            };
            tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
        })
    }
}

impl FromRequest<Edge> for Input {
    type Rejection = Error;

    async fn from_request(request: Request, edge: &Edge) -> Result<Self> {
        let (parts, body) = request.into_parts();
        let encoding = parts.headers.get(CONTENT_ENCODING).and_then(|encoding| encoding.to_str().ok());
        let deflated = encoding.is_some_and(|encoding| encoding.trim().eq_ignore_ascii_case("deflate"));
        // Requests of the operator and of inbox users have no rights.
        let rights = parts.extensions.get().map(|Calling(caller)| caller.rights);
        let key = idempotency_key(&parts, rights)?;
        let is_inbox = parts.extensions.get::<CallingInbox>().is_some();
        let (room, unknown_keys) = match rights {
            Some(Rights::KeyOnly) => (&edge.unproven_bodies, UnknownKeys::PassedOver),
            Some(Rights::Device | Rights::Channel(_) | Rights::Contact(_)) => (&edge.bodies, UnknownKeys::PassedOver),
            None if is_inbox => (&edge.bodies, UnknownKeys::PassedOver),
            Some(Rights::Master) => (&edge.bodies, UnknownKeys::Refused),
            None => (&edge.operator_bodies, UnknownKeys::Refused),
        };
        let reservation = room.reserve(Holder::among(&parts.extensions));
        let body = Whole::read(body, deflated, reservation, edge.body_patience).await?;
        if let Some(kept) = parts.extensions.get::<KeptBody>() {
            kept.keep(&body);
        }
        let asked = parts.extensions.get::<RepeatedAs>().map_or(&body[..], |RepeatedAs(asked)| &asked[..]);
        let idempotency_key =
            key.map(|key| IdempotencyKey { key: format!("{}:{key}", chooser(rights)), request: digest(&parts, asked) });
        Ok(Self { body: Arc::new(body), readers: edge.readers.clone(), unknown_keys, idempotency_key })
    }
}

fn text(body: &[u8]) -> Result<&[u8]> {
    match std::str::from_utf8(body) {
        Ok(_) => Ok(body),
        Err(error) => {
            let first_wrong = error.valid_up_to();
            Err(Error::invalid("", format!("The body is not UTF-8: byte {first_wrong} is wrong.")))
        }
    }
}

fn idempotency_key(parts: &Parts, rights: Option<Rights>) -> Result<Option<String>> {
    let mut values = parts.headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let key = value.to_str().unwrap_or_default();
    let fits = (1..=MOST_KEY_CHARS).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_graphic());
    if !fits || values.next().is_some() {
        let message = format!("An idempotency key is 1 to {MOST_KEY_CHARS} visible ASCII characters, given once.");
        return Err(Error::invalid(IDEMPOTENCY_KEY, message));
    }
    // All who have nothing but the key of the app share their idempotency keys, and the answer to a registration has a secret.
    if rights == Some(Rights::KeyOnly) && Uuid::try_parse(key).is_err() {
        let message =
            "With the key of the app alone, an idempotency key must be a random UUID, so that nobody guesses it.";
        return Err(Error::invalid(IDEMPOTENCY_KEY, message));
    }
    Ok(Some(key.to_owned()))
}

/// The caller that chose an idempotency key. Other callers may choose the same.
fn chooser(rights: Option<Rights>) -> Cow<'static, str> {
    match rights {
        Some(Rights::Master) => "server".into(),
        Some(Rights::Device) => "device".into(),
        // A token is good for one channel or contact only, and its bearer must not get the answers of others.
        Some(Rights::Channel(id)) => format!("channel:{id}").into(),
        Some(Rights::Contact(id)) => format!("contact:{id}").into(),
        Some(Rights::KeyOnly) => "key".into(),
        None => "operator".into(),
    }
}

/// Identifies a request, to compare it with another. Neither a method nor a path can contain a line break.
fn digest(parts: &Parts, asked: &[u8]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    for line in [parts.method.as_str(), "\n", parts.uri.path(), "\n"] {
        context.update(line.as_bytes());
    }
    context.update(asked);
    context.finish().as_ref().try_into().expect("SHA-256 gives 32 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{BodyPatience, Room};
    use axum::body::Body;
    use std::thread;
    use std::time::Duration;

    async fn input(body: Vec<u8>) -> Input {
        let room = Room::new(1024 * 1024, 1024 * 1024, Duration::from_secs(60)).reserve(Holder::Public);
        let body = Whole::read(Body::from(body), false, room, BodyPatience::DEFAULT).await.unwrap();
        let body = Arc::new(body);
        Input { body, readers: Arc::new(Semaphore::new(1)), unknown_keys: UnknownKeys::Refused, idempotency_key: None }
    }

    #[tokio::test]
    async fn long_bodies_are_read_elsewhere() {
        let here = thread::current().id();
        let short = input(vec![b' '; LONG_BYTES]).await;
        assert_eq!(short.read(|_| thread::current().id()).await.unwrap(), here);
        let long = input(vec![b' '; LONG_BYTES + 1]).await;
        assert_ne!(long.read(|_| thread::current().id()).await.unwrap(), here);
        assert_eq!(long.read(<[u8]>::len).await.unwrap(), LONG_BYTES + 1);
    }

    #[tokio::test]
    async fn both_kinds_have_to_be_text() {
        for n_bytes in [1, LONG_BYTES + 1] {
            let mut bytes = vec![b' '; n_bytes];
            bytes[n_bytes - 1] = 0xff;
            let refused = input(bytes).await.parse(|at| Some(at.is_null())).await;
            assert!(matches!(refused, Err(Error::Invalid(problems)) if problems.first().message.contains("UTF-8")));
        }
    }
}
