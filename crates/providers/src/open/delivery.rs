//! One request with messages to an endpoint, and its outcome.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, Request};
use model::time::UtcMillis;

use super::outcome::{BatchOutcome, outcome};
use super::signature::authenticate;
use super::{Batch, OpenPlatformConfig, body};
use crate::http::Client;
use crate::outcome::Outcome;

const DATA_ATTRIBUTE: HeaderName = HeaderName::from_static("data-attribute");

/// `POST {root}/push`.
pub async fn deliver(client: &Client, config: &OpenPlatformConfig, batch: Batch, now: UtcMillis) -> BatchOutcome {
    let Batch { body, n_values } = batch;
    let mut request = Request::new(Bytes::new());
    *request.method_mut() = Method::POST;
    *request.uri_mut() = config.url.join("push");
    let headers = request.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(body::CONTENT_TYPE));
    headers.insert(DATA_ATTRIBUTE, HeaderValue::from_static(body::DATA_ATTRIBUTE));
    authenticate(headers, &config.auth, &body, now);
    if config.gzip {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        *request.body_mut() = compressed(&body);
    } else {
        *request.body_mut() = body;
    }
    match client.send(request).await {
        Ok(answer) => outcome(&answer, n_values, now),
        Err(error) => BatchOutcome::Each(Outcome::of_error(&error)),
    }
}

fn compressed(body: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).and_then(|()| encoder.finish()).expect("writing to memory cannot fail").into()
}
