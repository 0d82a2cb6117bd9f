//! The one HTTP client of the product: pooled, bounded in time and size, never redirected, never led to private addresses.

mod address;
mod outgoing;
mod resolver;
mod stream;
mod url;

pub use address::AddressPolicy;
pub use outgoing::{BytesSent, Outgoing};
pub use stream::Streaming;
pub use url::{Refusal, WebUrl, check_url};

use std::error::Error;
use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use http_body_util::{BodyExt, Either, Full};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::{HttpConnector, capture_connection};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use trust::{Complaint, Trust};

pub(crate) use resolver::{ResolveError, lookup};
pub(crate) use url::check_uri;

use crate::{keys, tls};
use resolver::PolicyResolver;

/// How much of an answer's body is kept. Providers answer with a few lines; a longer body is cut here, not refused, because the
/// status alone already says whether a message was taken.
pub const MOST_ANSWER_BYTES: usize = 64 * 1024;

const IDLE_CONNECTION: Duration = Duration::from_secs(60);
const MOST_IDLE_PER_HOST: usize = 32;

/// Bytes that are there already, or that are read while they are sent.
type RequestBody = Either<Full<Bytes>, Outgoing>;

/// Connects to wherever the policy permits.
pub(crate) type Connector = HttpsConnector<HttpConnector<PolicyResolver>>;

/// How long to wait for an answer.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    pub connect: Duration,
    /// From looking up the name to the last byte of the answer.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(5), total: Duration::from_secs(10) }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    #[error(transparent)]
    Refused(Refusal),
    #[error("There was no complete answer in time.")]
    Timeout,
    #[error("The server's certificate is not trusted: {0}.")]
    Untrusted(Complaint),
    /// There was no connection, so nothing was sent.
    #[error("The connection failed: {0}.")]
    Unreachable(String),
    #[error("The connection failed: {0}.")]
    Connection(String),
}

/// Cheap to clone; clones share their connections.
#[derive(Clone, Debug)]
pub struct Client {
    inner: legacy::Client<Connector, RequestBody>,
    policy: AddressPolicy,
    timeouts: Timeouts,
}

impl Client {
    pub fn new(policy: AddressPolicy) -> Self {
        Self::with_timeouts(policy, Timeouts::default())
    }

    /// Trusts the authorities that the machine trusts.
    pub fn with_timeouts(policy: AddressPolicy, timeouts: Timeouts) -> Self {
        Self::trusting(&Trust::of_system(), policy, timeouts)
    }

    pub fn trusting(trust: &Trust, policy: AddressPolicy, timeouts: Timeouts) -> Self {
        Self::with_tls(policy, timeouts, tls::client_config(trust, None, None))
    }

    /// Trusts the server that has the first certificate of a PEM file, by whatever name it is called. The error is a sentence.
    pub fn pinned(pem: &str, policy: AddressPolicy, timeouts: Timeouts) -> Result<Self, String> {
        let certificate = keys::certificates(pem)?.swap_remove(0);
        Ok(Self::with_tls(policy, timeouts, tls::pinned_config(certificate)))
    }

    pub(crate) fn with_tls(policy: AddressPolicy, timeouts: Timeouts, config: ClientConfig) -> Self {
        let tls = HttpsConnectorBuilder::new().with_tls_config(config).https_or_http().enable_all_versions();
        let tls = tls.wrap_connector(tcp(policy, timeouts));
        let inner = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_CONNECTION)
            .pool_max_idle_per_host(MOST_IDLE_PER_HOST)
            .build(tls);
        Self { inner, policy, timeouts }
    }

    pub fn policy(&self) -> AddressPolicy {
        self.policy
    }

    /// One request, one answer; a redirect is an answer like any other.
    pub async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, SendError> {
        // Addresses in the URL never reach the resolver, so they are checked here.
        check_uri(request.uri(), self.policy).map_err(SendError::Refused)?;
        let mut request = request.map(whole);
        let connected = capture_connection(&mut request);
        let exchange = async {
            let answer = self.inner.request(request).await.map_err(|error| classify(&error))?;
            let (head, body) = answer.into_parts();
            Ok(Response::from_parts(head, start_of(body).await?))
        };
        match tokio::time::timeout(self.timeouts.total, exchange).await.unwrap_or(Err(SendError::Timeout)) {
            // Looking up the name, connecting and the first words of TLS take time, too.
            Err(SendError::Timeout) if connected.connection_metadata().is_none() => {
                Err(SendError::Unreachable("there was no connection in time".to_owned()))
            }
            ended => ended,
        }
    }
}

fn whole(body: Bytes) -> RequestBody {
    Either::Left(Full::new(body))
}

/// Opens connections that speak HTTP/1.1, for callers that manage them themselves.
pub(crate) fn http1_connector(trust: &Trust, policy: AddressPolicy, timeouts: Timeouts) -> Connector {
    let tls = HttpsConnectorBuilder::new().with_tls_config(tls::client_config(trust, None, None)).https_or_http();
    tls.enable_http1().wrap_connector(tcp(policy, timeouts))
}

fn tcp(policy: AddressPolicy, timeouts: Timeouts) -> HttpConnector<PolicyResolver> {
    let mut tcp = HttpConnector::new_with_resolver(PolicyResolver { policy });
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(timeouts.connect));
    tcp.enforce_http(false);
    tcp
}

async fn start_of(mut body: Incoming) -> Result<Bytes, SendError> {
    let mut start = BytesMut::new();
    while start.len() < MOST_ANSWER_BYTES {
        let Some(frame) = body.frame().await else { break };
        let frame = frame.map_err(|error| classify(&error))?;
        if let Some(data) = frame.data_ref() {
            start.extend_from_slice(&data[..data.len().min(MOST_ANSWER_BYTES - start.len())]);
        }
    }
    Ok(start.freeze())
}

/// The deepest known cause decides; the text names every cause, outermost first.
pub(crate) fn classify(error: &(dyn Error + 'static)) -> SendError {
    if let Some(complaint) = trust::complaint(error) {
        return SendError::Untrusted(complaint);
    }
    let mut texts: Vec<String> = Vec::new();
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(ResolveError::Refused(refusal)) = error.downcast_ref() {
            return SendError::Refused(refusal.clone());
        }
        if error.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::TimedOut) {
            return SendError::Timeout;
        }
        let text = error.to_string();
        if texts.last() != Some(&text) {
            texts.push(text);
        }
        cause = error.source();
    }
    let is_unsent = error.downcast_ref::<legacy::Error>().is_some_and(legacy::Error::is_connect);
    let text = texts.join(": ");
    if is_unsent { SendError::Unreachable(text) } else { SendError::Connection(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn names_are_judged_by_what_they_resolve_to() {
        let client = Client::new(AddressPolicy::PUBLIC_ONLY);
        // Past the check of the URL, as a name would be that was pointed elsewhere after it was checked.
        let request = Request::get("http://localhost:9/").body(whole(Bytes::new())).unwrap();
        let error = client.inner.request(request).await.unwrap_err();
        match classify(&error) {
            SendError::Refused(Refusal::Address { host, kind }) => {
                assert_eq!((host.as_str(), kind), ("localhost", "loopback"))
            }
            other => panic!("{other:?}"),
        }
    }
}
