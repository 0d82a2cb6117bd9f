//! The work around every request: its id, its line in the log, its count, and the headers every answer has.

use std::panic::AssertUnwindSafe;
use std::sync::OnceLock;
use std::time::Instant;

use axum::body::HttpBody;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use model::app::AppKey;
use model::ids::OperationId;
use tracing::Instrument;

use crate::edge::Edge;
use crate::error::{Error, Refused, Result};
use crate::holder::Holder;
use crate::recent_requests::{Noting, RecentError, RecentRequest};
use crate::{accept, cors, host, pages};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const MOST_REQUEST_ID_CHARS: usize = 128;
const PLAIN_JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The route that a request matched.
pub(crate) struct Matched<'a> {
    /// As in the route table. Neither the path itself nor the query: they can hold data that does not belong in a log.
    pub(crate) route: &'a str,
    /// Whether a web page may read the answer.
    pub(crate) for_browsers: bool,
    /// The app that is calling, as soon as that is known.
    pub(crate) app: Option<&'a OnceLock<LoggedApp>>,
    /// Whether a person asks, who is told in a page what is wrong.
    pub(crate) is_page: bool,
}

/// The app of a request, for its line in the log.
pub(crate) enum LoggedApp {
    /// The credentials are those of the app.
    Calling(AppKey, Noting),
    /// The credentials name the app, which exists, but are not good enough.
    Presented(AppKey),
}

impl Matched<'static> {
    /// Stands for every path that no route matches, so that made-up paths do not fill the metrics.
    pub(crate) const NOTHING: Self = Self { route: "unmatched", for_browsers: false, app: None, is_page: false };
}

/// Has a request answered, with the work before and after it.
pub(crate) async fn observe<F: Future<Output = Result<Response>>>(
    edge: &Edge,
    id: &str,
    matched: Matched<'_>,
    request: Request,
    answer: impl FnOnce(Request) -> F,
) -> Response {
    let began = Instant::now();
    let route = matched.route;
    let method = method_label(request.method());
    let content_type = content_type(request.uri().path(), request.headers());
    let request_bytes = request.body().size_hint().exact();
    // Only at the debug level: a span costs more than all the rest of this.
    let span = tracing::debug_span!("request", id, method, route);

    let mut response = attempt(request, answer).instrument(span).await;
    if matched.is_page {
        pages::tell_in_page(&mut response);
    }
    finish(&mut response, id, content_type);
    if matched.for_browsers {
        cors::expose(&mut response);
    }

    let status = response.status().as_u16();
    let took = began.elapsed();
    edge.engine.metrics().request(method, route, status, took);
    let (app, presented_app) = match matched.app.and_then(OnceLock::get) {
        Some(LoggedApp::Calling(key, _)) => (Some(key.as_str()), None),
        Some(LoggedApp::Presented(key)) => (None, Some(key.as_str())),
        None => (None, None),
    };
    let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let refused = response.extensions_mut().remove::<Refused>();
    if let Some(LoggedApp::Calling(_, noting)) = matched.app.and_then(OnceLock::get)
        && noting.keeps(refused.is_some())
    {
        let answered = Answered { id, method, status, millis: duration_ms, request_bytes, response: &response };
        answered.note(edge, noting, refused.as_ref());
    }
    let Some(refused) = refused else {
        tracing::info!(id, method, route, app, status, duration_ms, "answered");
        return response;
    };
    refused.log_cause(id, method, route, app);
    let Refused { operation_id, error_code, path, .. } = &refused;
    let path = path.as_deref();
    tracing::info!(
        id, method, route, app, presented_app, status, duration_ms, %operation_id, error_code, path, "answered"
    );
    response
}

/// A request that was answered, as developers see it.
struct Answered<'a> {
    id: &'a str,
    method: &'static str,
    status: u16,
    millis: u64,
    request_bytes: Option<u64>,
    response: &'a Response,
}

impl Answered<'_> {
    fn note(self, edge: &Edge, noting: &Noting, refused: Option<&Refused>) {
        let error = refused.map(|refused| RecentError {
            code: refused.error_code,
            text: refused.told.error.clone(),
            path: refused.told.path.clone(),
        });
        edge.recent_requests.note(
            noting.holder,
            RecentRequest {
                number: 0,
                at: edge.engine.clock().now(),
                by_server: matches!(noting.holder, Holder::Servers(_)),
                method: self.method,
                route: noting.route,
                path: noting.path(),
                status: self.status,
                error,
                request_bytes: self.request_bytes,
                answer_bytes: self.response.body().size_hint().exact(),
                millis: self.millis,
                id: self.id.to_owned(),
                body: noting.body(),
            },
        );
    }
}

/// A caller that cannot take our content type is told so before anything happens. A handler that panics is our fault, and only
/// its own request fails.
async fn attempt<F: Future<Output = Result<Response>>>(
    request: Request,
    answer: impl FnOnce(Request) -> F,
) -> Response {
    if let Err(refusal) = accept::check(request.headers()).and_then(|()| host::check(&request)) {
        return refusal.into_response();
    }
    match AssertUnwindSafe(async { answer(request).await }).catch_unwind().await {
        Ok(answer) => answer.unwrap_or_else(IntoResponse::into_response),
        Err(panic) => {
            let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
            let message = message.unwrap_or_else(|| "without a message".to_owned());
            Error::internal(format!("a handler panicked: {message}")).into_response()
        }
    }
}

fn finish(response: &mut Response, id: &str, content_type: HeaderValue) {
    let has_body = ![StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED].contains(&response.status());
    let headers = response.headers_mut();
    if has_body {
        headers.entry(CONTENT_TYPE).or_insert(content_type);
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.extend(HeaderValue::from_str(id).ok().map(|id| (REQUEST_ID, id)));
}

/// The vendor's type belongs to the API; all other answers are our own, and browsers can show plain JSON.
fn content_type(path: &str, headers: &HeaderMap) -> HeaderValue {
    let is_api = path.strip_prefix("/api").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if is_api { accept::echo(headers) } else { PLAIN_JSON }
}

/// The caller's own id if it is harmless in a log, else a new one.
pub(crate) fn request_id(headers: &HeaderMap) -> String {
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
    let is_harmless = |id: &&str| {
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.:/+=".contains(&b);
        (1..=MOST_REQUEST_ID_CHARS).contains(&id.len()) && id.bytes().all(is_plain)
    };
    match given.filter(is_harmless) {
        Some(id) => id.to_owned(),
        None => OperationId::random().to_string(),
    }
}

/// HTTP lets callers make up methods; the metrics do not.
fn method_label(method: &Method) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    KNOWN.into_iter().find(|known| *known == method.as_str()).unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;

    fn with_host() -> Request {
        let mut request = Request::new(axum::body::Body::empty());
        request.headers_mut().insert(http::header::HOST, HeaderValue::from_static("x"));
        request
    }

    async fn faulty(_: Request) -> Result<Response> {
        panic!("hunter2 is the password")
    }

    #[tokio::test]
    async fn a_panic_fails_its_own_request_and_tells_nothing() {
        for _ in 0..2 {
            let response = attempt(with_host(), faulty).await;
            assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
            let body = response.into_body().collect().await.unwrap().to_bytes();
            let body = String::from_utf8(body.to_vec()).unwrap();
            assert!(body.contains("operation_id") && body.contains("50000"), "{body}");
            assert!(!body.contains("hunter2"), "{body}");
        }
    }

    #[test]
    fn request_ids_are_taken_over_only_when_harmless() {
        let id_for = |given: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_bytes(given.as_bytes()).unwrap());
            request_id(&headers)
        };
        assert_eq!(id_for("Root=1-67891233-abcdef"), "Root=1-67891233-abcdef");
        for odd in ["", "two words", "a\"b", "é", &"x".repeat(129)] {
            assert_eq!(id_for(odd).len(), 36, "{odd}");
        }
    }
}
