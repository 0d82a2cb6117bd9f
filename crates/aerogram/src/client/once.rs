//! Requests whose second copy would do harm: an idempotency key lets them be repeated when their answer is lost.

use std::time::Duration;

use anyhow::{Context, Result};
use bytes::{Bytes, BytesMut};
use http::response::Parts;
use http::{Method, Request, StatusCode};
use model::ids::Id;
use model::time::Clock;
use providers::http::SendError;
use providers::outcome::retry_after;
use serde_json::Value;

use super::{Calling, Client, JSON, PATIENCE, Refused, Reply};

const IDEMPOTENCY_KEY: &str = "Idempotency-Key";
/// Before a server is asked again that does not say when.
const PAUSE: Duration = Duration::from_secs(2);

enum KeyKind {}

/// A key for a request: a server carries out only one of those that have it.
pub(crate) fn new_key() -> String {
    Id::<KeyKind>::random().to_string()
}

impl Client {
    /// Posts JSON under a key, with which it can be repeated.
    pub(crate) fn post_with_key<'a>(&'a self, path: &'a str, key: &'a str, body: &'a Value) -> Calling<'a> {
        Box::pin(async move {
            let request = self.with_key(path, key, Bytes::from(body.to_string()))?;
            let answer = self.sent(request).await.map_err(|error| self.unreachable(&error))?;
            self.reply(answer).await
        })
    }

    /// Posts JSON that the server checks, once more if its answer is lost, or says that nothing is known of it. `doubt` says
    /// what may have happened, and where to look, if that is not known then either.
    pub(crate) async fn post_once(&self, path: &str, body: Bytes, doubt: &'static str) -> Result<Reply> {
        let request = self.with_key(path, &new_key(), body)?;
        let first = self.answered(request.clone()).await;
        let (answer, is_repeat) = match pause_before_repeat(&first) {
            None => (first, false),
            Some(pause) => {
                tokio::time::sleep(pause).await;
                (self.answered(request).await, true)
            }
        };
        let (error, is_in_doubt): (anyhow::Error, bool) = match answer {
            Ok((head, body)) if head.status.is_success() => return Ok(Reply(body)),
            Ok((head, body)) => {
                // A server that turns it away so has not looked whether the first one was carried out.
                let is_unread = is_repeat && head.status == StatusCode::TOO_MANY_REQUESTS;
                (Refused::new(&head, &body).into(), is_unread || head.status.is_server_error())
            }
            Err(error) => (self.unreachable(&error), is_repeat),
        };
        Err(if is_in_doubt { error.context(doubt) } else { error })
    }

    fn with_key(&self, path: &str, key: &str, body: Bytes) -> Result<Request<Bytes>> {
        let request = self.request(Method::POST, path, Some(JSON)).header(IDEMPOTENCY_KEY, key);
        request.body(body).context("The request cannot be built")
    }

    /// The whole answer to a request.
    async fn answered(&self, request: Request<Bytes>) -> Result<(Parts, Bytes), SendError> {
        let exchange = async {
            let (head, mut body) = self.sent(request).await?.into_parts();
            let mut whole = BytesMut::new();
            while let Some(chunk) = body.chunk().await? {
                whole.extend_from_slice(&chunk);
            }
            Ok((head, whole.freeze()))
        };
        tokio::time::timeout(PATIENCE, exchange).await.unwrap_or(Err(SendError::Timeout))
    }
}

/// When to ask again because nobody knows whether the request was carried out: its answer is lost, the server has lost its database
/// meanwhile, or a proxy has lost the server.
fn pause_before_repeat(answer: &Result<(Parts, Bytes), SendError>) -> Option<Duration> {
    match answer {
        Err(SendError::Connection(_) | SendError::Timeout) => Some(Duration::ZERO),
        Ok((head, _)) => match head.status {
            StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => {
                let asked = retry_after(&head.headers, Clock::System.now());
                Some(asked.unwrap_or(PAUSE).min(PATIENCE))
            }
            _ => None,
        },
        Err(_) => None,
    }
}
