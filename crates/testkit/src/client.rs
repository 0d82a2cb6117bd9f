//! A caller of the API: one set of credentials, real requests over a real socket, and replies that are easy to look into.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, AUTHORIZATION};
use http::{HeaderMap, Method, Request, StatusCode};
use providers::Trust;
use providers::http::{AddressPolicy, Client, Streaming, Timeouts};
use serde_json::{Value, json};

use crate::conformance;

/// Keeps a test from hanging; not a limit on how quick an answer has to be: machines that run tests can be very busy.
pub const PATIENCE: Timeouts = Timeouts { connect: Duration::from_secs(60), total: Duration::from_secs(120) };

const API_VERSION: &str = "application/vnd.urbanairship+json; version=3;";

/// The three credentials of an app.
#[derive(Clone, Debug)]
pub struct Credentials {
    pub key: String,
    pub app_secret: String,
    pub master_secret: String,
}

#[derive(Clone)]
pub struct Caller {
    http: Client,
    base: String,
    authorization: Option<String>,
}

pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Caller {
    /// A caller without credentials. `base` is a URL without a trailing slash.
    pub fn new(base: String) -> Self {
        Self::trusting(&Trust::of_system(), base)
    }

    pub fn trusting(trust: &Trust, base: String) -> Self {
        Self { http: Client::trusting(trust, AddressPolicy::ANY, PATIENCE), base, authorization: None }
    }

    pub fn basic(&self, key: &str, secret: &str) -> Self {
        let encoded = STANDARD.encode(format!("{key}:{secret}"));
        self.authorized(format!("Basic {encoded}"))
    }

    pub fn bearer(&self, token: &str) -> Self {
        self.authorized(format!("Bearer {token}"))
    }

    pub fn authorized(&self, authorization: String) -> Self {
        Self { authorization: Some(authorization), ..self.clone() }
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.call(Method::GET, path, "").await
    }

    pub async fn post(&self, path: &str, body: impl ToString) -> Reply {
        self.call(Method::POST, path, body).await
    }

    pub async fn put(&self, path: &str, body: impl ToString) -> Reply {
        self.call(Method::PUT, path, body).await
    }

    pub async fn patch(&self, path: &str, body: impl ToString) -> Reply {
        self.call(Method::PATCH, path, body).await
    }

    pub async fn delete(&self, path: &str) -> Reply {
        self.call(Method::DELETE, path, "").await
    }

    /// The body may be text or a [`Value`].
    pub async fn call(&self, method: Method, path: &str, body: impl ToString) -> Reply {
        let request = self.request(method, path).header(ACCEPT, API_VERSION);
        self.send(request.body(Bytes::from(body.to_string())).expect("a request of a test is valid")).await
    }

    /// A request to be completed, with only the credentials.
    pub fn request(&self, method: Method, path: &str) -> http::request::Builder {
        let request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        match &self.authorization {
            Some(authorization) => request.header(AUTHORIZATION, authorization),
            None => request,
        }
    }

    pub async fn send(&self, request: Request<Bytes>) -> Reply {
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let (head, mut body) = self.open(request).await;
        let mut whole = BytesMut::new();
        while let Some(chunk) = body.chunk().await.expect("the answer is complete") {
            whole.extend_from_slice(&chunk);
        }
        conformance::check(&method, uri.path(), head.status, &head.headers, &whole);
        Reply { body: whole.freeze(), ..head }
    }

    /// A streamed answer: its head, without a body, and the rest as it comes.
    pub async fn open(&self, request: Request<Bytes>) -> (Reply, Streaming) {
        let shown = format!("{} {}", request.method(), request.uri());
        let answer = self.http.open(request).await.unwrap_or_else(|error| panic!("{shown}: {error}"));
        let (head, body) = answer.into_parts();
        (Reply { status: head.status, headers: head.headers, body: Bytes::new() }, body)
    }
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("our headers are text"))
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("our answers are UTF-8")
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error} in {:?}", self.text()))
    }

    /// Checks that the answer has `"ok": true`, an operation id and nothing more: strict clients know no other keys.
    #[track_caller]
    pub fn expect_done(&self, status: u16) {
        let body = self.expect(status);
        let id = body["operation_id"].as_str().unwrap_or_else(|| panic!("{body}"));
        assert_eq!(body, json!({"ok": true, "operation_id": id}));
        assert_eq!(id.len(), 36, "{body}");
    }

    /// The answer's JSON, after checking its status.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        if self.body.is_empty() { Value::Null } else { self.json() }
    }
}
