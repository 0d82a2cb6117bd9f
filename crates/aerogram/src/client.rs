//! The HTTP client behind the commands: one request to the server named by `url`, with its answer or a sentence that
//! says what to do.

mod failure;
mod once;
mod patience;

use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{Buf, Bytes, BytesMut};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request, Response, request};
use providers::http::{AddressPolicy, Outgoing, SendError, Streaming, Timeouts};
use serde::de::DeserializeOwned;

use crate::config::{AppLogin, Authorities, BaseUrl, Data, Remote};
use crate::data::DataFolder;
use crate::output;

pub(crate) use failure::Refused;
pub(crate) use once::new_key;
pub(crate) use patience::{AttendedCalls, patiently};

use failure::NoAnswer;

const MOST_BODY_BYTES: usize = 64 * 1024 * 1024;
/// How long nothing may move before the server is taken for gone.
const PATIENCE: Duration = Duration::from_secs(90);

pub(crate) struct Client {
    http: providers::http::Client,
    base: BaseUrl,
    /// The value of `Authorization`, if any.
    authorization: Option<String>,
    /// Whether the server has answered anything yet.
    was_reached: AtomicBool,
}

/// A body, behind its media type.
type Typed = (&'static str, Bytes);

pub(crate) const JSON: &str = "application/json";

type Calling<'a> = Pin<Box<dyn Future<Output = Result<Reply>> + Send + 'a>>;

/// A successful answer.
pub(crate) struct Reply(Bytes);

impl Client {
    /// Without credentials, for what anybody may ask.
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
        Ok(Self { http, base: base.clone(), authorization, was_reached: AtomicBool::new(false) })
    }

    fn new(remote: &Remote, authorization: Option<String>) -> Result<Self> {
        let http = match remote.own_certificate() {
            Some(file) => pinned(file)?,
            None => trusting(&remote.authorities)?,
        };
        Ok(Self { http, base: remote.url()?, authorization, was_reached: AtomicBool::new(false) })
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Reply> {
        self.call(Method::GET, path, None).await
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
    pub(crate) fn send_lines<'a>(&'a self, path: &'a str, lines: Bytes) -> Calling<'a> {
        let n_bytes = lines.len() as u64;
        self.upload(Method::POST, path, "application/x-ndjson", Outgoing::new(lines.reader(), Some(n_bytes)))
    }

    /// Sends what is not JSON and may be of any size, for as long as it moves.
    pub(crate) fn upload<'a>(
        &'a self,
        method: Method,
        path: &'a str,
        content_type: &'static str,
        body: Outgoing,
    ) -> Calling<'a> {
        Box::pin(async move {
            let answer = self.uploaded(method, path, content_type, body).await?;
            self.reply(answer).await
        })
    }

    async fn uploaded(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Outgoing,
    ) -> Result<Response<Streaming>> {
        let request = self.request(method, path, Some(content_type)).body(body);
        let answer = self.http.upload(request.context("The request cannot be built")?).await;
        self.reached(answer).map_err(|error| self.unreachable(&error))
    }

    /// A streamed answer: its body is read piece by piece.
    pub(crate) async fn stream(&self, path: &str) -> Result<Streaming> {
        self.succeeded(self.open(Method::GET, path, None).await?).await
    }

    /// The streamed answer to any call, whose body is of the type before it.
    pub(crate) async fn stream_of(
        &self,
        method: Method,
        path: &str,
        body: Option<(&str, Outgoing)>,
    ) -> Result<Streaming> {
        let answer = match body {
            None => self.open(method, path, None).await?,
            Some((content_type, body)) => self.uploaded(method, path, content_type, body).await?,
        };
        self.succeeded(answer).await
    }

    async fn succeeded(&self, answer: Response<Streaming>) -> Result<Streaming> {
        let (head, body) = answer.into_parts();
        if !head.status.is_success() {
            return Err(Refused::new(&head, &self.collect(body).await?).into());
        }
        Ok(body)
    }

    /// The next piece of a streamed answer, or `None` at its end. The server shows now and then that a stream is alive.
    pub(crate) async fn piece(&self, body: &mut Streaming) -> Result<Option<Bytes>> {
        let piece = tokio::time::timeout(PATIENCE, body.chunk()).await.unwrap_or(Err(SendError::Timeout));
        piece.map_err(|error| self.unreachable(&error))
    }

    /// Boxed, so that the commands share it: each would have a copy of the client as a part of itself.
    fn call<'a>(&'a self, method: Method, path: &'a str, body: Option<Typed>) -> Calling<'a> {
        Box::pin(self.exchange(method, path, body))
    }

    async fn exchange(&self, method: Method, path: &str, body: Option<Typed>) -> Result<Reply> {
        let answer = self.open(method, path, body).await?;
        self.reply(answer).await
    }

    async fn open(&self, method: Method, path: &str, body: Option<Typed>) -> Result<Response<Streaming>> {
        let (content_type, bytes) =
            body.map_or((None, Bytes::new()), |(content_type, body)| (Some(content_type), body));
        let request = self.request(method, path, content_type).body(bytes).context("The request cannot be built")?;
        self.sent(request).await.map_err(|error| self.unreachable(&error))
    }

    async fn sent(&self, request: Request<Bytes>) -> Result<Response<Streaming>, SendError> {
        self.reached(self.http.open(request).await)
    }

    /// Notes that there is an answer, if there is one.
    fn reached<T>(&self, answer: Result<T, SendError>) -> Result<T, SendError> {
        if answer.is_ok() {
            self.was_reached.store(true, Ordering::Relaxed);
        }
        answer
    }

    fn request(&self, method: Method, path: &str, content_type: Option<&str>) -> request::Builder {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        request = request.header(ACCEPT, JSON);
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        match content_type {
            Some(content_type) => request.header(CONTENT_TYPE, content_type),
            None => request,
        }
    }

    async fn reply(&self, answer: Response<Streaming>) -> Result<Reply> {
        let body = self.succeeded(answer).await?;
        Ok(Reply(self.collect(body).await?))
    }

    async fn collect(&self, mut body: Streaming) -> Result<Bytes> {
        let mut whole = BytesMut::new();
        while let Some(piece) = self.piece(&mut body).await? {
            if whole.len() + piece.len() > MOST_BODY_BYTES {
                bail!("The answer is longer than {MOST_BODY_BYTES} bytes; ask for less.");
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole.freeze())
    }

    fn unreachable(&self, error: &SendError) -> anyhow::Error {
        NoAnswer::new(&self.base, error, self.was_reached.load(Ordering::Relaxed)).into()
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
