//! Calls of the API that a page consists of, made on behalf of its visitor and remembered, so that the page can show them.

use api::{Actor, CallerAddress, RepeatedAs};
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, HOST, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use http_body_util::BodyExt;
use ring::digest::{SHA256, digest};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::visit::Visit;

/// One call, as it can be repeated from a shell.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) body: Option<Value>,
}

/// How a call is known again that is made once.
#[derive(Clone, Copy)]
struct Once<'a> {
    key: &'a str,
    /// What it asks for, if not all that its body says.
    asked: Option<&'a Value>,
}

#[derive(Deserialize)]
struct Refusal {
    error: Option<String>,
    details: Option<Detail>,
}

#[derive(Deserialize)]
struct Detail {
    path: String,
}

impl Visit {
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        read(&self.make(Method::GET, path, None).await?)
    }

    /// As [`Visit::get`], for something that need not be there.
    pub(crate) async fn find<T: DeserializeOwned>(&self, path: &str) -> Result<Option<T>> {
        match self.get(path).await {
            Ok(found) => Ok(Some(found)),
            Err(Error::NotFound(_)) => Ok(None),
            Err(other) => Err(other),
        }
    }

    pub(crate) async fn post<T: DeserializeOwned>(&self, path: &str, body: Value) -> Result<T> {
        read(&self.make(Method::POST, path, Some(body)).await?)
    }

    pub(crate) async fn put<T: DeserializeOwned>(&self, path: &str, body: Value) -> Result<T> {
        read(&self.make(Method::PUT, path, Some(body)).await?)
    }

    /// As [`Visit::post`]. However often it is called with the same key, it is done once.
    pub(crate) async fn post_once<T: DeserializeOwned>(&self, path: &str, body: Value, key: &str) -> Result<T> {
        let once = Once { key, asked: None };
        read(&self.make_once(Method::POST, path, Some(body), Some(once)).await?)
    }

    /// As [`Visit::post_once`], for a body that differs at a second click: that is known by what both ask for.
    pub(crate) async fn post_asked_once<T: DeserializeOwned>(
        &self,
        path: &str,
        body: Value,
        asked: &Value,
        key: &str,
    ) -> Result<T> {
        let once = Once { key, asked: Some(asked) };
        read(&self.make_once(Method::POST, path, Some(body), Some(once)).await?)
    }

    /// As [`Visit::post`], for what a form with [`once`](crate::parts::once) makes or sends: a second click on the same button does
    /// nothing more. If something else is typed meanwhile, that is another request.
    pub(crate) async fn post_form<T: DeserializeOwned>(&self, path: &str, body: Value) -> Result<T> {
        let Some(once) = self.form.text("once") else { return self.post(path, body).await };
        let button = self.form.text("do").unwrap_or_default();
        let asked = digest(&SHA256, format!("{path}\n{button}\n{body}").as_bytes());
        let key = format!("{once}-{}", BASE64_URL_SAFE_NO_PAD.encode(asked));
        self.post_once(path, body, &key).await
    }

    /// A change whose answer says nothing that the page needs.
    pub(crate) async fn change(&self, method: Method, path: &str, body: Option<Value>) -> Result<()> {
        self.make(method, path, body).await.map(drop)
    }

    /// What a call answers, as a file for the visitor.
    pub(crate) async fn download(&self, path: &str, name: &str) -> Result<Response> {
        let mut response = self.call(Method::GET, path, None, None).await?;
        let status = response.status();
        if !status.is_success() {
            let seconds = seconds_of(response.headers());
            let body = response.into_body().collect().await.map_err(Error::internal)?.to_bytes();
            return Err(refused(status, seconds, &body));
        }
        let disposition =
            HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")).map_err(Error::internal)?;
        response.headers_mut().insert(CONTENT_DISPOSITION, disposition);
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Ok(response)
    }

    /// What a call answers as it comes, for as long as it comes.
    pub(crate) async fn stream(&self, path: &str) -> Result<Body> {
        let response = self.call(Method::GET, path, None, None).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(response.into_body());
        }
        let seconds = seconds_of(response.headers());
        let body = response.into_body().collect().await.map_err(Error::internal)?.to_bytes();
        Err(refused(status, seconds, &body))
    }

    async fn make(&self, method: Method, path: &str, body: Option<Value>) -> Result<Bytes> {
        self.make_once(method, path, body, None).await
    }

    async fn make_once(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
        once: Option<Once<'_>>,
    ) -> Result<Bytes> {
        let shown = body.clone().map(|body| without_secrets(path, body));
        self.note_call(Call { method: method.clone(), path: path.to_owned(), body: shown });
        let response = self.call(method, path, body, once).await?;
        let (status, seconds) = (response.status(), seconds_of(response.headers()));
        let body = response.into_body().collect().await.map_err(Error::internal)?.to_bytes();
        if status.is_success() { Ok(body) } else { Err(refused(status, seconds, &body)) }
    }

    /// Puts a table to where it belongs.
    pub(crate) async fn put_csv(&self, path: &str, text: String) -> Result<()> {
        self.note_call(Call { method: Method::PUT, path: path.to_owned(), body: None });
        let response = self.send(Method::PUT, path, ("text/csv", Body::from(text)), None).await?;
        let (status, seconds) = (response.status(), seconds_of(response.headers()));
        let body = response.into_body().collect().await.map_err(Error::internal)?.to_bytes();
        if status.is_success() { Ok(()) } else { Err(refused(status, seconds, &body)) }
    }

    async fn call(&self, method: Method, path: &str, body: Option<Value>, once: Option<Once<'_>>) -> Result<Response> {
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        self.send(method, path, ("application/json", body), once).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        (content_type, body): (&'static str, Body),
        once: Option<Once<'_>>,
    ) -> Result<Response> {
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().map_err(Error::internal)?;
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        headers.insert(HOST, self.host.clone().unwrap_or(HeaderValue::from_static("inside")));
        if let Some(scheme) = &self.scheme {
            headers.insert(HeaderName::from_static("x-forwarded-proto"), scheme.clone());
        }
        if let Ok(id) = HeaderValue::from_str(&self.request_id) {
            headers.insert(HeaderName::from_static("x-request-id"), id);
        }
        if let Some(Once { key, asked }) = once {
            let key = HeaderValue::from_str(key).map_err(|_| Error::invalid("once", "Load the page once more."))?;
            headers.insert(HeaderName::from_static("idempotency-key"), key);
            if let Some(asked) = asked {
                request.extensions_mut().insert(RepeatedAs(asked.to_string().into()));
            }
        }
        if let Some(address) = self.origin().address {
            request.extensions_mut().insert(CallerAddress(address));
        }
        let actor = self.actor(path)?;
        Ok(self.console.inside.call(actor, request).await)
    }

    /// Owners speak for the installation, and everybody for the app that they are in.
    fn actor(&self, path: &str) -> Result<Actor> {
        let visitor = self.visitor()?;
        let credential = visitor.credential();
        if path.starts_with("/operator/") && visitor.account.is_owner {
            return Ok(Actor::owner(credential));
        }
        let app = self.app.as_ref().ok_or_else(|| Error::NotAllowed("This needs an app.".to_owned()))?;
        let role = visitor.role_in(app.id).ok_or(Error::NotSignedIn)?;
        Ok(Actor::in_app(credential, app.key.clone(), role))
    }
}

/// The body as a page may show it: what the operator typed as a secret is never shown again.
fn without_secrets(path: &str, mut body: Value) -> Value {
    const SECRETS: [&str; 7] =
        ["key", "certificate", "private_key", "service_account", "client_secret", "authorization", "auth"];
    if let Value::Object(fields) = &mut body
        && path.starts_with("/operator/apps/")
    {
        for (name, value) in fields.iter_mut() {
            if SECRETS.contains(&name.as_str()) {
                *value = Value::from("…");
            }
        }
    }
    body
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(Error::internal)
}

/// How long a caller who is refused for now is asked to wait.
fn seconds_of(headers: &HeaderMap) -> Option<u64> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()
}

fn refused(status: StatusCode, seconds: Option<u64>, body: &[u8]) -> Error {
    let Ok(refusal) = serde_json::from_slice::<Refusal>(body) else {
        return Error::internal(format!("a call: {status}"));
    };
    let sentence = refusal.error.unwrap_or_else(|| status.to_string());
    match status {
        StatusCode::NOT_FOUND => Error::NotFound(sentence),
        StatusCode::FORBIDDEN => Error::NotAllowed(sentence),
        StatusCode::BAD_REQUEST => {
            Error::Invalid(vec![(refusal.details.map_or_else(String::new, |at| at.path), sentence)])
        }
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            Error::Later { status, sentence, seconds: seconds.unwrap_or(1) }
        }
        status if status.is_server_error() => Error::internal(sentence),
        status => Error::Refused { status, sentence },
    }
}
