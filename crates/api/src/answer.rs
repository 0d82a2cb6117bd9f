//! A successful answer: a status, headers, and a JSON object that says `"ok": true`.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{LINK, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use model::ids::OperationId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Error, Result};

/// The key of the object under which clients find the data.
const DATA_ATTRIBUTE: HeaderName = HeaderName::from_static("data-attribute");

/// Room for the headers that every answer gets, and some of its own: a map that grows allocates at every step.
const USUAL_HEADERS: usize = 8;

const COUNT: HeaderName = HeaderName::from_static("count");
const TOTAL_COUNT: HeaderName = HeaderName::from_static("total-count");

pub(crate) struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

/// An answer with nothing but `"ok": true`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Done {}

#[derive(Serialize)]
struct Okay<T> {
    ok: bool,
    #[serde(flatten)]
    rest: T,
}

#[derive(Serialize)]
struct Changed<T> {
    operation_id: OperationId,
    #[serde(flatten)]
    rest: T,
}

impl Answer {
    /// 200 for a request that changed something, with no data.
    pub(crate) fn done() -> Result<Self> {
        Self::changed(OperationId::random(), Done {})
    }

    /// 200 for a request that changed something, with the id of the operation.
    pub(crate) fn changed(operation_id: OperationId, rest: impl Serialize) -> Result<Self> {
        Self::ok(Changed { operation_id, rest })
    }

    /// 200 with `"ok": true` before the keys of `rest`.
    pub(crate) fn ok(rest: impl Serialize) -> Result<Self> {
        Self::bare(Okay { ok: true, rest })
    }

    /// 200 with a body without `"ok": true`, as clients expect of a few old endpoints.
    pub(crate) fn bare(body: impl Serialize) -> Result<Self> {
        let body = serde_json::to_vec(&body).map_err(Error::internal)?;
        Ok(Self { status: StatusCode::OK, headers: HeaderMap::with_capacity(USUAL_HEADERS), body })
    }

    /// 204, without a body.
    pub(crate) fn nothing() -> Self {
        Self { status: StatusCode::NO_CONTENT, headers: HeaderMap::new(), body: Vec::new() }
    }

    /// 304: the caller's copy is current.
    pub(crate) fn not_modified() -> Self {
        Self { status: StatusCode::NOT_MODIFIED, headers: HeaderMap::new(), body: Vec::new() }
    }

    pub(crate) fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    pub(crate) fn data_attribute(mut self, name: &'static str) -> Self {
        self.headers.insert(DATA_ATTRIBUTE, HeaderValue::from_static(name));
        self
    }

    pub(crate) fn location(self, url: &str) -> Self {
        self.header(LOCATION, url)
    }

    /// Where a listing continues, if it does.
    pub(crate) fn next_page(self, url: Option<&str>) -> Self {
        match url {
            Some(url) => self.header(LINK, &format!("<{url}>; rel=next")),
            None => self,
        }
    }

    /// How many items are on this page of a listing, and how many there are in all.
    pub(crate) fn counts(mut self, on_page: usize, in_all: i64) -> Self {
        self.headers.insert(COUNT, on_page.into());
        self.headers.insert(TOTAL_COUNT, in_all.into());
        self
    }

    /// Omits the header if its value is invalid: links are made of a `Host` header we do not control.
    pub(crate) fn header(mut self, name: HeaderName, value: &str) -> Self {
        self.headers.extend(HeaderValue::from_str(value).ok().map(|value| (name, value)));
        self
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        json_response(self.status, self.headers, self.body)
    }
}

/// Its content type depends on the request and is set by the layer that knows it.
pub(crate) fn json_response(status: StatusCode, headers: HeaderMap, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
