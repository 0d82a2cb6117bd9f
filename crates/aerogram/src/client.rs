//! The HTTP client behind the commands: one request to the server named by `url`, with its answer or a sentence that
//! says what to do.

use std::fmt;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::response::Parts;
use http::{Method, Request, Response, StatusCode};
use providers::Complaint;
use providers::http::{AddressPolicy, SendError, Streaming, Timeouts};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::config::{AppLogin, Authorities, BaseUrl, Data, Remote};
use crate::data::DataFolder;
use crate::output;

const MOST_BODY_BYTES: usize = 64 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(90);

pub(crate) struct Client {
    http: providers::http::Client,
    base: BaseUrl,
    /// The value of `Authorization`, if any.
    authorization: Option<String>,
}

/// A body, behind its media type.
type Typed = (&'static str, Bytes);

const JSON: &str = "application/json";

type Calling<'a> = Pin<Box<dyn Future<Output = Result<Reply>> + Send + 'a>>;

/// A successful answer.
pub(crate) struct Reply(Bytes);

/// An unsuccessful answer, with the server's sentence.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    /// The API's own code, if the API answered.
    pub(crate) code: Option<u32>,
    pub(crate) text: String,
    /// When to ask again, if the server says so.
    pub(crate) retry_after: Option<Duration>,
}

/// The error body of the API, as far as a person needs it.
#[derive(Deserialize)]
struct ErrorBody {
    error: String,
    error_code: Option<u32>,
}

impl Client {
    /// Without credentials, for the health endpoints.
    pub(crate) fn anonymous(remote: &Remote) -> Result<Self> {
        Self::new(remote, None)
    }

    /// For the operator API, with the token from the settings or from the data folder.
    pub(crate) fn operator(remote: &Remote, data: &Data) -> Result<Self> {
        Self::operator_if_token(remote, data)?.with_context(|| {
            format!(
                "There is no operator token: set AEROGRAM_OPERATOR_TOKEN, or run this where the server's data folder is (there is no {}).",
                DataFolder::of(data).operator_token_path().display()
            )
        })
    }

    /// The same, or `None` when there is no token. One that cannot be read or used is an error.
    pub(crate) fn operator_if_token(remote: &Remote, data: &Data) -> Result<Option<Self>> {
        let token = match &data.operator_token {
            Some(token) => Some(token.clone()),
            None => DataFolder::of(data).operator_token()?,
        };
        token.map(|token| Self::new(remote, Some(format!("Bearer {}", token.reveal())))).transpose()
    }

    /// For the API of one app, with all rights.
    pub(crate) fn app(remote: &Remote, login: &AppLogin) -> Result<Self> {
        let (key, secret) = login.required()?;
        let credentials = STANDARD.encode(format!("{key}:{}", secret.reveal()));
        Self::new(remote, Some(format!("Basic {credentials}")))
    }

    /// For the API of an app at another service that speaks like ours.
    pub(crate) fn of_another(base: &BaseUrl, key: &str, secret: &str, authorities: &Authorities) -> Result<Self> {
        let http = trusting(authorities)?;
        let authorization = Some(format!("Basic {}", STANDARD.encode(format!("{key}:{secret}"))));
        Ok(Self { http, base: base.clone(), authorization })
    }

    fn new(remote: &Remote, authorization: Option<String>) -> Result<Self> {
        let http = match remote.own_certificate() {
            Some(file) => pinned(file)?,
            None => trusting(&remote.authorities)?,
        };
        Ok(Self { http, base: remote.url()?, authorization })
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Reply> {
        self.call(Method::GET, path, None).await
    }

    pub(crate) async fn without_body(&self, method: Method, path: &str) -> Result<Reply> {
        self.call(method, path, None).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Result<Reply> {
        self.call(Method::DELETE, path, None).await
    }

    pub(crate) async fn send(&self, method: Method, path: &str, body: &serde_json::Value) -> Result<Reply> {
        self.call(method, path, Some((JSON, Bytes::from(body.to_string())))).await
    }

    /// Sends bytes without checking them; the server does.
    pub(crate) async fn send_raw(&self, method: Method, path: &str, body: Bytes) -> Result<Reply> {
        self.call(method, path, Some((JSON, body))).await
    }

    /// Sends JSON lines.
    pub(crate) async fn send_lines(&self, path: &str, lines: Bytes) -> Result<Reply> {
        self.call(Method::POST, path, Some(("application/x-ndjson", lines))).await
    }

    /// Sends a file that is not JSON.
    pub(crate) async fn upload(&self, path: &str, content_type: &'static str, body: Bytes) -> Result<Reply> {
        self.call(Method::PUT, path, Some((content_type, body))).await
    }

    /// A streamed answer: its body is read piece by piece.
    pub(crate) async fn stream(&self, path: &str) -> Result<Streaming> {
        let (head, body) = self.open(Method::GET, path, None).await?.into_parts();
        if !head.status.is_success() {
            return Err(Refused::new(&head, &collect(body).await?).into());
        }
        Ok(body)
    }

    /// Boxed, so that the commands share it: each would have a copy of the client as a part of itself.
    fn call<'a>(&'a self, method: Method, path: &'a str, body: Option<Typed>) -> Calling<'a> {
        Box::pin(self.exchange(method, path, body))
    }

    async fn exchange(&self, method: Method, path: &str, body: Option<Typed>) -> Result<Reply> {
        let exchange = async {
            let (head, body) = self.open(method, path, body).await?.into_parts();
            let body = collect(body).await?;
            if !head.status.is_success() {
                return Err(Refused::new(&head, &body).into());
            }
            Ok(Reply(body))
        };
        let answer = tokio::time::timeout(PATIENCE, exchange).await;
        answer.unwrap_or_else(|_| Err(anyhow!("{} did not answer within {} s.", self.base, PATIENCE.as_secs())))
    }

    async fn open(&self, method: Method, path: &str, body: Option<Typed>) -> Result<Response<Streaming>> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        request = request.header(ACCEPT, "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let mut bytes = Bytes::new();
        if let Some((content_type, body)) = body {
            request = request.header(CONTENT_TYPE, content_type);
            bytes = body;
        }
        let request = request.body(bytes).context("The request cannot be built")?;
        self.http.open(request).await.map_err(|error| self.unreachable(&error))
    }

    fn unreachable(&self, error: &SendError) -> anyhow::Error {
        match error {
            SendError::Refused(_) | SendError::Timeout => anyhow!("{}: {error}", self.base),
            SendError::Untrusted(complaint) => anyhow!("{}: {error} {}", self.base, remedy(complaint)),
            SendError::Connection(_) => anyhow!(
                "No server answers at {}. Start one with `aerogram serve`, or set --url or AEROGRAM_URL. {error}",
                self.base
            ),
        }
    }
}

/// The person at the keyboard chose the address; the policy is for addresses that come from elsewhere.
const POLICY: AddressPolicy = AddressPolicy::ANY;

fn timeouts() -> Timeouts {
    Timeouts { total: PATIENCE, ..Timeouts::default() }
}

fn trusting(authorities: &Authorities) -> Result<providers::http::Client> {
    Ok(providers::http::Client::trusting(&authorities.trust()?, POLICY, timeouts()))
}

/// For the server on this machine, whose certificate is for the name by which others know it.
fn pinned(certificate: &Path) -> Result<providers::http::Client> {
    let shown = certificate.display();
    let pem = std::fs::read_to_string(certificate).with_context(|| {
        format!("The certificate of the server, {shown}, cannot be read; set --url or AEROGRAM_URL")
    })?;
    providers::http::Client::pinned(&pem, POLICY, timeouts()).map_err(|reason| anyhow!("{shown}: {reason}"))
}

/// What a person can do about a certificate that is not trusted.
fn remedy(complaint: &Complaint) -> &'static str {
    match complaint {
        Complaint::UnknownIssuer => "Name the PEM file of its authority with --ca-file or AEROGRAM_CA_FILE.",
        Complaint::Expired => "It has to be renewed.",
        Complaint::NotValidYet => "Is that clock right?",
        Complaint::OtherName(_) => "Use the name that it is for with --url or AEROGRAM_URL.",
        Complaint::OtherCertificate => {
            "It should be the one of AEROGRAM_TLS_CERT; name the server with --url or AEROGRAM_URL if it is another."
        }
        Complaint::Other(_) => "It has to be replaced.",
    }
}

/// A path with a query of those values that are given.
pub(crate) fn query(path: &str, values: &[(&str, Option<&str>)]) -> String {
    let given =
        values.iter().filter_map(|(name, value)| Some(format!("{name}={}", providers::percent_encoded((*value)?))));
    format!("{path}?{}", given.collect::<Vec<_>>().join("&"))
}

/// The path of a link to a next page: the server may name itself differently from the address by which it is reached.
pub(crate) fn own_path(url: &str) -> String {
    url.find("/api/").and_then(|place| url.get(place..)).unwrap_or(url).to_owned()
}

impl Reply {
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(&self.0).context("The server's answer has an unexpected form (do the versions match?)")
    }

    /// An answer that is not JSON.
    pub(crate) fn text(&self) -> Result<&str> {
        std::str::from_utf8(&self.0).context("The server's answer is no text")
    }

    /// Writes the server's JSON as it came. Some answers have no body.
    pub(crate) fn print(&self) -> Result<()> {
        if self.0.is_empty() {
            Ok(())
        } else {
            output::line(format_args!("{}", String::from_utf8_lossy(&self.0).trim_end()))
        }
    }
}

async fn collect(mut body: Streaming) -> Result<Bytes> {
    let mut whole = BytesMut::new();
    while let Some(chunk) = body.chunk().await? {
        if whole.len() + chunk.len() > MOST_BODY_BYTES {
            bail!("The answer is longer than {MOST_BODY_BYTES} bytes; ask for less.");
        }
        whole.extend_from_slice(&chunk);
    }
    Ok(whole.freeze())
}

impl Refused {
    fn new(head: &Parts, body: &[u8]) -> Self {
        let seconds = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let (status, retry_after) = (head.status, seconds.map(Duration::from_secs));
        match serde_json::from_slice(body) {
            Ok(ErrorBody { error, error_code }) => Self { status, code: error_code, text: error, retry_after },
            Err(_) => {
                let text = String::from_utf8_lossy(body).trim().to_owned();
                Self { status, code: None, text, retry_after }
            }
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "The server answered {}: {}", self.status, self.text)
    }
}

impl std::error::Error for Refused {}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: StatusCode, body: &[u8]) -> Refused {
        let (head, ()) = Response::builder().status(status).header(RETRY_AFTER, "7").body(()).unwrap().into_parts();
        Refused::new(&head, body)
    }

    #[test]
    fn refusals_say_what_and_where() {
        let body = br#"{"ok":false,"error":"notification.x: There is no key 'x'.","error_code":40000}"#;
        let found = refused(StatusCode::BAD_REQUEST, body);
        assert_eq!(found.to_string(), "The server answered 400 Bad Request: notification.x: There is no key 'x'.");
        assert_eq!((found.code, found.retry_after), (Some(40000), Some(Duration::from_secs(7))));
        let plain = refused(StatusCode::BAD_GATEWAY, b"<html>\n");
        assert_eq!(plain.to_string(), "The server answered 502 Bad Gateway: <html>");
    }
}
