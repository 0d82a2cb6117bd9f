//! One request with an event, or with a batch of them, and what its answer means.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::Full;
use model::time::UtcMillis;
use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;
use tower::ServiceExt;

use super::WebhookConfig;
use super::line::{Answer, Failure, Line};
use crate::credential::Credential;
use crate::http::{Connector, Refusal, SendError, Timeouts, check_uri, classify, http1_connector};
use crate::network::Network;
use crate::outcome::retry_after;

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=UTF-8");
const MOST_AT_ONCE: usize = 32;
const BATCHES_AT_ONCE: usize = 4;
/// A connection that was unused for this long may be gone without our noticing.
const IDLE: Duration = Duration::from_secs(50);

/// A webhook with connections of its own, so that a slow one does not hold up others. Cheap to clone; clones share them.
#[derive(Clone)]
pub struct Hook(Arc<Inner>);

struct Inner {
    connector: Connector,
    uri: Uri,
    /// Why it is not connected to, if it is not.
    refusal: Option<Refusal>,
    /// Without the origin, which is in the headers.
    path: Uri,
    headers: HeaderMap,
    timeout: Duration,
    /// How many events a request has at most.
    batch_size: usize,
    /// The one that was used last is at the end.
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    line: Box<Line>,
    since: Instant,
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookAnswer {
    Taken {
        status: u16,
    },
    /// To be tried again, after the time that the webhook asks for, if any.
    Failed {
        status: Option<u16>,
        reason: String,
        after: Option<Duration>,
        /// The webhook is there, and says that these very events are wrong.
        is_refusal: bool,
    },
    /// The webhook wants no more events.
    Gone,
}

impl Hook {
    /// How many events a request has at most.
    pub fn batch_size(&self) -> usize {
        self.0.batch_size
    }

    /// How many requests may be under way at once: few batches, so that events gather meanwhile.
    pub fn room(&self) -> usize {
        if self.0.batch_size > 1 { BATCHES_AT_ONCE } else { MOST_AT_ONCE }
    }

    pub fn new(network: &Network, config: &WebhookConfig) -> Self {
        let (uri, timeout) = (config.url.uri().clone(), config.timeout());
        let timeouts = Timeouts { connect: timeout.min(Timeouts::default().connect), total: timeout };
        let mut headers = HeaderMap::new();
        headers.extend(host(&uri).map(|host| (HOST, host)));
        for custom in &config.headers {
            if let (Ok(name), Some(value)) = (HeaderName::from_bytes(custom.name.as_bytes()), secret(&custom.value)) {
                headers.insert(name, value);
            }
        }
        headers.insert(CONTENT_TYPE, JSON);
        headers.extend(config.authorization.as_ref().and_then(secret).map(|value| (AUTHORIZATION, value)));
        let path = uri.path_and_query().cloned().map_or_else(|| Uri::from_static("/"), Uri::from);
        Self(Arc::new(Inner {
            connector: http1_connector(network.trust(), network.policy(), timeouts),
            refusal: check_uri(&uri, network.policy()).err(),
            uri,
            path,
            headers,
            timeout,
            batch_size: config.batch_size as usize,
            idle: Mutex::default(),
        }))
    }

    /// Sends events, as many as it takes at once.
    pub async fn post(&self, events: &[Bytes], now: UtcMillis) -> HookAnswer {
        let answer = tokio::time::timeout(self.0.timeout, self.0.exchange(self.body(events))).await;
        match answer.unwrap_or(Err(SendError::Timeout)) {
            Ok(answer) => meaning_of(answer.status, &answer.headers, now),
            Err(error) => {
                HookAnswer::Failed { status: None, reason: error.to_string(), after: None, is_refusal: false }
            }
        }
    }

    /// Always an array for a webhook that takes several, so that its receiver reads one form.
    fn body(&self, events: &[Bytes]) -> Bytes {
        match events {
            [event] if self.0.batch_size == 1 => event.clone(),
            events => [&b"["[..], &events.join(&b','), b"]"].concat().into(),
        }
    }
}

impl Inner {
    /// The length of the body becomes `Content-Length`.
    async fn exchange(&self, body: Bytes) -> Result<Answer, SendError> {
        if let Some(refusal) = &self.refusal {
            return Err(SendError::Refused(refusal.clone()));
        }
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.path.clone();
        *request.headers_mut() = self.headers.clone();
        while let Some(line) = self.take_idle() {
            match self.send(line, request).await {
                Ok(answer) => return Ok(answer),
                Err(Failure::Unsent(again)) => request = *again,
                Err(Failure::Lost(error)) => return Err(error),
            }
        }
        // Connecting is rare, and its state is large.
        let line = Box::pin(self.connect()).await?;
        self.send(line, request).await.map_err(|failure| match failure {
            Failure::Unsent(_) => SendError::Connection("the webhook closes it at once".to_owned()),
            Failure::Lost(error) => error,
        })
    }

    async fn connect(&self) -> Result<Box<Line>, SendError> {
        let stream = self.connector.clone().oneshot(self.uri.clone()).await.map_err(|error| classify(&*error))?;
        Ok(Box::new(Line::open(stream).await?))
    }

    async fn send(&self, mut line: Box<Line>, request: Request<Full<Bytes>>) -> Result<Answer, Failure> {
        let answer = line.exchange(request).await?;
        if line.is_open() {
            self.put_idle(line);
        }
        Ok(answer)
    }

    /// With little to send only the last connection is ever used: the idle ones are closed here.
    fn put_idle(&self, line: Box<Line>) {
        let (mut idle, now) = (self.idle(), Instant::now());
        let n_old = idle.partition_point(|idle| now - idle.since >= IDLE);
        idle.drain(..n_old);
        idle.push(Idle { line, since: now });
    }

    fn take_idle(&self) -> Option<Box<Line>> {
        let mut idle = self.idle();
        let last = idle.pop()?;
        if last.since.elapsed() < IDLE {
            return Some(last.line);
        }
        // The others were not used for even longer.
        idle.clear();
        None
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock()
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook").field("uri", &self.0.uri).finish_non_exhaustive()
    }
}

/// The value of `Host`, without the default port of the scheme.
fn host(uri: &Uri) -> Option<HeaderValue> {
    let authority = uri.authority()?;
    let default = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    let host = match authority.port_u16() {
        Some(port) if port != default => authority.as_str(),
        Some(_) | None => authority.host(),
    };
    HeaderValue::from_str(host).ok()
}

/// What a webhook says by its answer; nobody looks at the body.
pub(crate) fn meaning_of(status: StatusCode, headers: &HeaderMap, now: UtcMillis) -> HookAnswer {
    if status.is_success() {
        return HookAnswer::Taken { status: status.as_u16() };
    }
    if status == StatusCode::GONE {
        return HookAnswer::Gone;
    }
    let why = match status.as_u16() {
        300..=399 => ": redirects are not followed; set the webhook's URL to the new location",
        401 | 403 => ": it does not accept the webhook's authorization",
        404 => ": there is nothing at the webhook's URL",
        _ => "",
    };
    HookAnswer::Failed {
        status: Some(status.as_u16()),
        reason: format!("The webhook answered {status}{why}."),
        after: retry_after(headers, now),
        is_refusal: matches!(status.as_u16(), 400 | 406 | 409 | 411..=417 | 422),
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
    use crate::http::AddressPolicy;

    fn of(status: u16, retry_after: Option<&str>) -> HookAnswer {
        let mut headers = HeaderMap::new();
        headers.extend(retry_after.map(|value| (http::header::RETRY_AFTER, value.parse().unwrap())));
        meaning_of(StatusCode::from_u16(status).unwrap(), &headers, UtcMillis(0))
    }

    #[test]
    fn the_host_is_named_without_its_usual_port() {
        let hosts = [
            ("https://a.example/x", "a.example"),
            ("https://a.example:443/", "a.example"),
            ("http://a.example:443/", "a.example:443"),
            ("http://[::1]:8080/", "[::1]:8080"),
            ("http://[::1]:80/", "[::1]"),
        ];
        for (url, expected) in hosts {
            assert_eq!(host(&Uri::from_static(url)).unwrap(), expected, "{url}");
        }
    }

    #[tokio::test]
    async fn connections_that_are_not_needed_any_more_are_closed_while_others_are_used() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let url = crate::http::check_url(&url, AddressPolicy::ANY).unwrap();
        let config = WebhookConfig::new(url, model::event::EventTypes::all());
        let Hook(inner) = Hook::new(&Network::new(AddressPolicy::ANY), &config);
        for _ in 0..3 {
            inner.put_idle(inner.connect().await.unwrap());
        }
        for idle in &mut inner.idle()[..2] {
            idle.since -= IDLE;
        }
        let used = inner.take_idle().unwrap();
        inner.put_idle(used);
        assert_eq!(inner.idle().len(), 1);
    }

    #[test]
    fn every_status_has_a_meaning() {
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(of(status, None), HookAnswer::Taken { status });
        }
        assert_eq!(of(410, None), HookAnswer::Gone);
        for (status, word) in [(302, "redirects"), (401, "authorization"), (404, "nothing"), (400, "400"), (500, "500")]
        {
            let HookAnswer::Failed { status: told, reason, after: None, is_refusal } = of(status, None) else {
                panic!("{status}")
            };
            assert_eq!((told, is_refusal), (Some(status), status == 400));
            assert!(reason.contains(word), "{reason}");
        }
        let HookAnswer::Failed { after, .. } = of(429, Some("7")) else { panic!("429 is no success") };
        assert_eq!(after, Some(Duration::from_secs(7)));
    }
}
