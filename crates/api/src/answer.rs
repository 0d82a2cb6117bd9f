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

/// As [`Done`], with sentences about what was not done.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DoneExcept {
    /// One sentence about each channel or named user that was passed over: it had no room, or the channel is of another device type
    /// than the request says.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
}

impl Answer {
    /// 200 for a request that changed something, with no data.
    pub(crate) fn done() -> Result<Self> {
        Self::changed(OperationId::random(), Done {})
    }

    /// As [`Answer::done`], for all but those that the warnings name.
    pub(crate) fn done_except(warnings: Vec<String>) -> Result<Self> {
        let warnings = (!warnings.is_empty()).then_some(warnings);
        Self::changed(OperationId::random(), DoneExcept { warnings })
    }

    /// 200 for a request that changed something, with the id of the operation.
    pub(crate) fn changed(operation_id: OperationId, rest: impl Serialize) -> Result<Self> {
        let begin = format!("{{\"ok\":true,\"operation_id\":\"{operation_id}\"").into_bytes();
        Self::continued(begin, rest)
    }

    /// 200 with `"ok": true` before the keys of `rest`.
    pub(crate) fn ok(rest: impl Serialize) -> Result<Self> {
        Self::continued(b"{\"ok\":true".to_vec(), rest)
    }

    /// An object that begins with some keys and goes on with those of `rest`. Bytes are put together, because a struct around
    /// the hundreds of different ones would have each of them compiled for another two serializers.
    fn continued(mut body: Vec<u8>, rest: impl Serialize) -> Result<Self> {
        let n_begin = body.len();
        serde_json::to_writer(&mut body, &rest).map_err(Error::internal)?;
        Self::joined(body, n_begin)
    }

    /// Makes one object of the beginning of one and a whole one after it.
    fn joined(mut body: Vec<u8>, n_begin: usize) -> Result<Self> {
        match &body[n_begin..] {
            b"{}" => {
                body.truncate(n_begin);
                body.push(b'}');
            }
            [b'{', ..] => body[n_begin] = b',',
            _ => return Err(Error::internal("an answer is no object")),
        }
        Ok(Self::with_body(body))
    }

    /// 200 with a body without `"ok": true`, as clients expect of a few old endpoints.
    pub(crate) fn bare(body: impl Serialize) -> Result<Self> {
        Ok(Self::with_body(serde_json::to_vec(&body).map_err(Error::internal)?))
    }

    fn with_body(body: Vec<u8>) -> Self {
        Self { status: StatusCode::OK, headers: HeaderMap::with_capacity(USUAL_HEADERS), body }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn text(answer: Result<Answer>) -> String {
        String::from_utf8(answer.unwrap().body).unwrap()
    }

    #[test]
    fn the_keys_of_an_answer_follow_its_beginning() {
        #[derive(Serialize)]
        struct Named {
            name: &'static str,
        }
        let id = OperationId::random();
        assert_eq!(text(Answer::ok(Done {})), r#"{"ok":true}"#);
        assert_eq!(text(Answer::ok(Named { name: "{}" })), r#"{"ok":true,"name":"{}"}"#);
        assert_eq!(text(Answer::changed(id, Done {})), format!(r#"{{"ok":true,"operation_id":"{id}"}}"#));
        let named = text(Answer::changed(id, Named { name: "a" }));
        assert_eq!(named, format!(r#"{{"ok":true,"operation_id":"{id}","name":"a"}}"#));
        assert!(Answer::ok(["no object"]).is_err());
    }
}
