//! One request with one event, and what its answer means.

use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use model::time::UtcMillis;

use super::WebhookConfig;
use crate::credential::Credential;
use crate::http::{AddressPolicy, Client, Timeouts};
use crate::outcome::retry_after;

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=UTF-8");
/// The client keeps as many idle connections.
const MOST_AT_ONCE: usize = 32;

/// A webhook with connections of its own, so that a slow one keeps nobody else waiting.
#[derive(Clone, Debug)]
pub struct Hook {
    client: Client,
    uri: Uri,
    headers: HeaderMap,
}

/// What became of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Taken {
        status: u16,
    },
    /// To be tried again, after so much time if the webhook says so.
    Failed {
        status: Option<u16>,
        reason: String,
        after: Option<Duration>,
    },
    /// The webhook wants no more events.
    Gone,
}

impl Hook {
    /// How many events may be under way at once.
    pub const ROOM: usize = MOST_AT_ONCE;

    pub fn new(policy: AddressPolicy, config: &WebhookConfig) -> Self {
        let total = config.timeout();
        let timeouts = Timeouts { connect: total.min(Timeouts::default().connect), total };
        let mut headers = HeaderMap::new();
        for custom in &config.headers {
            if let (Ok(name), Some(value)) = (HeaderName::from_bytes(custom.name.as_bytes()), secret(&custom.value)) {
                headers.insert(name, value);
            }
        }
        headers.insert(CONTENT_TYPE, JSON);
        headers.extend(config.authorization.as_ref().and_then(secret).map(|value| (AUTHORIZATION, value)));
        Self { client: Client::with_timeouts(policy, timeouts), uri: config.url.uri().clone(), headers }
    }

    /// The length of the body becomes `Content-Length`.
    pub async fn post(&self, event: Bytes, now: UtcMillis) -> Verdict {
        let mut request = Request::new(event);
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        match self.client.send(request).await {
            Ok(answer) => verdict(&answer, now),
            Err(error) => Verdict::Failed { status: None, reason: error.to_string(), after: None },
        }
    }
}

fn verdict(answer: &Response<Bytes>, now: UtcMillis) -> Verdict {
    let status = answer.status();
    if status.is_success() {
        return Verdict::Taken { status: status.as_u16() };
    }
    if status == StatusCode::GONE {
        return Verdict::Gone;
    }
    let why = match status.as_u16() {
        300..=399 => ": redirects are not followed; set the webhook's URL to the new location",
        401 | 403 => ": it does not accept the webhook's authorization",
        404 => ": there is nothing at the webhook's URL",
        _ => "",
    };
    Verdict::Failed {
        status: Some(status.as_u16()),
        reason: format!("The webhook answered {status}{why}."),
        after: retry_after(answer.headers(), now),
    }
}

/// A value that does not show in logs.
fn secret(value: &Credential) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value.reveal()).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, retry_after: Option<&str>) -> Verdict {
        let mut answer = Response::builder().status(status);
        if let Some(value) = retry_after {
            answer = answer.header("retry-after", value);
        }
        verdict(&answer.body(Bytes::new()).unwrap(), UtcMillis(0))
    }

    #[test]
    fn every_status_has_a_meaning() {
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(of(status, None), Verdict::Taken { status });
        }
        assert_eq!(of(410, None), Verdict::Gone);
        for (status, word) in [(302, "redirects"), (401, "authorization"), (404, "nothing"), (400, "400"), (500, "500")]
        {
            let Verdict::Failed { status: told, reason, after: None } = of(status, None) else { panic!("{status}") };
            assert_eq!(told, Some(status));
            assert!(reason.contains(word), "{reason}");
        }
        let Verdict::Failed { after, .. } = of(429, Some("7")) else { panic!("429 is no success") };
        assert_eq!(after, Some(Duration::from_secs(7)));
    }
}
