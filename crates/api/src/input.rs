//! The body of a request together with its idempotency key. Who is calling is settled before any of it is read.

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use engine::Once;
use http::request::Parts;
use model::json::{self, At};
use ring::digest::{Context, SHA256};

use crate::body;
use crate::edge::Edge;
use crate::error::{Error, Result};

const IDEMPOTENCY_KEY: &str = "idempotency-key";
const MOST_KEY_CHARS: usize = 255;

pub(crate) struct Input {
    body: Bytes,
    /// For requests that send or create: carried out once per key.
    pub(crate) once: Option<Once>,
}

impl Input {
    pub(crate) fn parse<T>(&self, read: impl FnOnce(&At<'_>) -> Option<T>) -> Result<T> {
        Ok(json::parse(self.text()?, read)?)
    }

    /// The body, which is known to be UTF-8 after this.
    pub(crate) fn text(&self) -> Result<&[u8]> {
        if let Err(error) = std::str::from_utf8(&self.body) {
            let position = error.valid_up_to();
            return Err(Error::invalid("", format!("The body is not UTF-8: byte {position} is wrong.")));
        }
        Ok(&self.body)
    }
}

impl FromRequest<Edge> for Input {
    type Rejection = Error;

    async fn from_request(request: Request, _: &Edge) -> Result<Self> {
        let (parts, body) = request.into_parts();
        let key = idempotency_key(&parts)?;
        let body = body::read(body).await?;
        let once = key.map(|key| Once { key, request: digest(&parts, &body) });
        Ok(Self { body, once })
    }
}

fn idempotency_key(parts: &Parts) -> Result<Option<String>> {
    let mut values = parts.headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let key = value.to_str().unwrap_or_default();
    let fits = (1..=MOST_KEY_CHARS).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_graphic());
    if !fits || values.next().is_some() {
        let message = format!("An idempotency key is 1 to {MOST_KEY_CHARS} visible ASCII characters, given once.");
        return Err(Error::invalid(IDEMPOTENCY_KEY, message));
    }
    Ok(Some(key.to_owned()))
}

/// What makes a request the same as another. Neither a method nor a path can contain a line break.
fn digest(parts: &Parts, body: &[u8]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    for line in [parts.method.as_str(), "\n", parts.uri.path(), "\n"] {
        context.update(line.as_bytes());
    }
    context.update(body);
    context.finish().as_ref().try_into().expect("SHA-256 gives 32 bytes")
}
