//! The last requests of an app on this node, as a list and as a stream.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use model::ids::AppId;
use schemars::JsonSchema;
use serde::Serialize;
use tenancy::Caller;
use tokio::sync::watch;

use super::sandbox::{KEEP_ALIVE_COMMENT, last_event_id};
use crate::answer::Answer;
use crate::auth::{Calling, CallingApp};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::fair_share::Permit;
use crate::page_size::PageSize;
use crate::query::{Params, plain_text};
use crate::recent_requests::{RecentError, RecentRequest};
use crate::stopping::Stopping;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RecentRequests")]
pub(super) struct Page {
    /// The newest first.
    requests: Vec<Record>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RecentRequest")]
pub(super) struct Record {
    /// When it was answered, in UTC.
    at: String,
    request_id: String,
    /// `server` or `device`.
    by: &'static str,
    method: &'static str,
    /// The path as the documentation has it.
    route: &'static str,
    /// The path that was asked for; of a development app only.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    status: u16,
    /// How long it took to answer.
    ms: u64,
    /// Of the request, if it said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// Of the answer, unless it is a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details>,
    /// The first 16 KiB of the body of the request; of a development app only.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RecentRequestDetails")]
pub(super) struct Details {
    /// Where in the request the first problem is.
    path: String,
}

/// Which requests are looked for.
#[derive(Clone, Default)]
struct Filter {
    by_server: Option<bool>,
    is_refused: Option<bool>,
    /// In small letters.
    text: Option<String>,
}

pub(super) const BY: [(&str, bool); 2] = [("server", true), ("device", false)];
const REFUSED: [(&str, bool); 2] = [("true", true), ("false", false)];

pub(super) async fn list(State(edge): State<Edge>, CallingApp(app): CallingApp, mut params: Params) -> Result<Answer> {
    let filter = filter(&mut params);
    let limit = params.limit(PageSize::REQUESTS);
    params.finish()?;
    let all = edge.recent_requests.after(app.id, 0, edge.engine.clock().now());
    // They have bodies, which are megabytes together.
    let answer = edge.apart(move || {
        let newest = all.iter().rev().filter(|request| filter.takes(request)).take(limit as usize);
        Answer::ok(Page { requests: newest.map(|request| record(request)).collect() })
    });
    Ok(answer.await??.data_attribute("requests"))
}

/// Server-sent events, one per request that is answered by this node.
pub(super) async fn stream(
    State(edge): State<Edge>,
    Calling(caller): Calling,
    stopping: Stopping,
    headers: HeaderMap,
    mut params: Params,
) -> Result<Response> {
    let filter = filter(&mut params);
    params.finish()?;
    let app = caller.app().id;
    let permit = edge.admit_stream(app)?;
    let last = last_event_id(&headers)?.map(|number| u64::try_from(number).unwrap_or(0));
    let (now_at, news) = edge.recent_requests.listen(app);
    let open = OpenStream { edge, caller, filter, last: last.unwrap_or(now_at), news, stopping, _permit: permit };
    let events = stream::unfold(open, |mut open| async { open.next().await.map(|text| (text, open)) });
    let mut response = Response::new(Body::from_stream(events));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    Ok(response)
}

struct OpenStream {
    edge: Edge,
    caller: Caller,
    filter: Filter,
    last: u64,
    news: watch::Receiver<u64>,
    stopping: Stopping,
    _permit: Permit<AppId>,
}

impl OpenStream {
    /// The next piece of text, or the end: the server stops, or the caller has lost the right to see this.
    async fn next(&mut self) -> Option<Result<String, std::io::Error>> {
        loop {
            if !matches!(self.edge.engine.tenancy().is_current(&self.caller).await, Ok(true)) {
                return None;
            }
            let text = self.take_new();
            if !text.is_empty() {
                return Some(Ok(text));
            }
            let keep_alive: Duration = self.edge.keep_alive;
            tokio::select! {
                changed = self.news.changed() => changed.ok()?,
                () = self.stopping.wait() => return None,
                () = tokio::time::sleep(keep_alive) => return Some(Ok(KEEP_ALIVE_COMMENT.to_owned())),
            }
        }
    }

    /// The events of what is new.
    fn take_new(&mut self) -> String {
        let new = self.edge.recent_requests.after(self.caller.app().id, self.last, self.edge.engine.clock().now());
        self.last = new.last().map_or(self.last, |request| request.number);
        new.iter().filter(|request| self.filter.takes(request)).filter_map(event).collect()
    }
}

impl Filter {
    fn takes(&self, request: &RecentRequest) -> bool {
        self.by_server.is_none_or(|by_server| request.by_server == by_server)
            && self.is_refused.is_none_or(|is_refused| request.error.is_some() == is_refused)
            && self.text.as_ref().is_none_or(|text| is_in(request, text))
    }
}

fn filter(params: &mut Params) -> Filter {
    Filter {
        by_server: params.choice("by", &BY),
        is_refused: params.choice("refused", &REFUSED),
        text: params.parsed("q", plain_text).map(|text| text.to_lowercase()),
    }
}

/// Whether a text is in the path, in what was wrong, or in the id of a request, in letters of either case.
fn is_in(request: &RecentRequest, text: &str) -> bool {
    let error = request.error.as_ref();
    let texts = [
        Some(request.route),
        Some(request.id.as_str()),
        request.path.as_deref(),
        error.map(|error| error.text.as_str()),
        error.and_then(|error| error.path.as_deref()),
    ];
    texts.into_iter().flatten().any(|known| known.to_lowercase().contains(text))
}

fn event(request: &Arc<RecentRequest>) -> Option<String> {
    let data = serde_json::to_string(&record(request)).map_err(Error::internal).ok()?;
    Some(format!("id: {}\ndata: {data}\n\n", request.number))
}

fn record(request: &RecentRequest) -> Record {
    let error = request.error.as_ref();
    let details = error.and_then(|RecentError { path, .. }| path.clone()).map(|path| Details { path });
    Record {
        at: request.at.to_iso(),
        request_id: request.id.clone(),
        by: if request.by_server { "server" } else { "device" },
        method: request.method,
        route: request.route,
        path: request.path.clone(),
        status: request.status,
        ms: request.millis,
        bytes: request.request_bytes,
        answer_bytes: request.answer_bytes,
        error_code: error.map(|error| error.code),
        error: error.map(|error| error.text.clone()),
        details,
        body: request.body.clone(),
    }
}
