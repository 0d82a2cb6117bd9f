//! The events of an app as a stream: one a line, or server-sent.
//!
//! Nothing is read from the log before the client has taken what came before it, so a slow client costs no memory.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use events::{EventFeed, EventPage};
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use model::channel::ChannelRef;
use model::event::{EventConditions, EventOffset, EventRequest, EventStart, NO_OFFSET, RecordKind};
use model::ids::AppId;
use tenancy::Caller;
use uuid::Uuid;

use crate::accept::{self, StreamForm};
use crate::auth::Calling;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::fair_share::Permit;
use crate::input::Input;
use crate::query::Params;
use crate::stopping::Stopping;

const LAST_EVENT_ID: &str = "last-event-id";
/// Events in one piece of the answer.
const PER_PIECE: u32 = 500;
const STARTS: [(&str, EventStart); 2] = [("earliest", EventStart::Earliest), ("latest", EventStart::Latest)];

/// The stream that a query asks for.
pub(super) async fn get(
    State(edge): State<Edge>,
    Calling(caller): Calling,
    stopping: Stopping,
    headers: HeaderMap,
    mut params: Params,
) -> Result<Response> {
    let start = params.choice("start", &STARTS);
    let offset = params.parsed("offset", |text| text.parse().map(EventStart::After).map_err(|()| NO_OFFSET));
    let conditions = EventConditions {
        kinds: params.parsed("types", kinds),
        channels: params.parsed("channel", channels),
        pushes: params.parsed("push", pushes),
        ..EventConditions::default()
    };
    let follow = params.choice("follow", &[("true", true), ("false", false)]);
    let limit = params.number("limit", EventRequest::LIMITS);
    let offset_updates = params.choice("enable_offset_updates", &[("true", true), ("false", false)]).unwrap_or(false);
    params.finish()?;
    if start.is_some() && offset.is_some() {
        return Err(Error::invalid("offset", "Give an offset or a start, not both."));
    }
    // A client that reconnects repeats its query, and has come further since.
    let start = last_event_id(&headers)?.or(offset).or(start).unwrap_or(EventStart::Earliest);
    let filters = vec![conditions];
    let follow = follow.unwrap_or(true);
    let request = EventRequest { start, filters, follow, limit, offset_updates, subset: None };
    open(&edge, caller, request, stopping, &headers).await
}

/// The stream that a body asks for.
pub(super) async fn post(
    State(edge): State<Edge>,
    Calling(caller): Calling,
    stopping: Stopping,
    headers: HeaderMap,
    input: Input,
) -> Result<Response> {
    let request = input.parse(EventRequest::parse).await?;
    open(&edge, caller, request, stopping, &headers).await
}

async fn open(
    edge: &Edge,
    caller: Caller,
    request: EventRequest,
    stopping: Stopping,
    headers: &HeaderMap,
) -> Result<Response> {
    let permit = edge.admit_stream(caller.app().id)?;
    let EventRequest { follow, limit, offset_updates, .. } = request;
    let feed = edge.engine.events().event_feed(caller, request).await?;
    let form = accept::stream_form(headers);
    let content_type = form.content_type();
    let open = OpenStream {
        feed,
        stopping,
        form,
        follow,
        left: limit,
        offset_updates,
        is_begun: false,
        keep_alive: edge.keep_alive,
        _permit: permit,
    };
    let pieces = stream::unfold(Some(open), |open| async {
        let mut open = open?;
        match open.next().await? {
            Ok(piece) => Some((Ok(piece), Some(open))),
            // The client is to see that this was not the end.
            Err(error) => Some((Err(error), None)),
        }
    });
    let mut response = Response::new(Body::from_stream(pieces));
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    Ok(response)
}

struct OpenStream {
    feed: EventFeed,
    stopping: Stopping,
    form: StreamForm,
    follow: bool,
    left: Option<u32>,
    offset_updates: bool,
    is_begun: bool,
    keep_alive: Duration,
    _permit: Permit<AppId>,
}

impl OpenStream {
    /// The next piece, or the end.
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        let at_most = self.left.unwrap_or(PER_PIECE).min(PER_PIECE);
        if at_most == 0 || self.stopping.is_near() {
            return None;
        }
        if !self.is_begun && matches!(self.form, StreamForm::ServerSent) {
            self.is_begun = true;
            // A client that loses the connection before the first event resumes here, and not at the end of the log by then.
            return Some(Ok(format!("id: {}\n\n", self.feed.position()).into()));
        }
        let (feed, follow) = (&mut self.feed, self.follow);
        let at_most = at_most as usize;
        let read = async { if follow { feed.next(at_most).await } else { feed.read(at_most).await.map(Some) } };
        let page = tokio::select! {
            page = read => page,
            () = self.stopping.wait() => return None,
            () = tokio::time::sleep(self.keep_alive) => return Some(Ok(self.sign_of_life())),
        };
        match page {
            Ok(None) => None,
            Ok(Some(page)) if page.events.is_empty() => None,
            Ok(Some(page)) => {
                let n_events = u32::try_from(page.events.len()).unwrap_or(u32::MAX);
                self.left = self.left.map(|left| left.saturating_sub(n_events));
                Some(Ok(self.piece(&page)))
            }
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "a stream of events broke off");
                Some(Err(io::Error::other(error)))
            }
        }
    }

    fn piece(&self, page: &EventPage) -> Bytes {
        match self.form {
            StreamForm::Lines(_) => page.lines().clone(),
            StreamForm::ServerSent => {
                let mut text = Vec::with_capacity(page.lines().len() + page.events.len() * 40);
                for event in &page.events {
                    text.extend_from_slice(format!("id: {}\ndata: ", event.offset).as_bytes());
                    text.extend_from_slice(&event.json);
                    text.extend_from_slice(b"\n\n");
                }
                text.into()
            }
        }
    }

    fn sign_of_life(&self) -> Bytes {
        let offset = self.feed.position();
        let update = format!(r#"{{"type":"OFFSET_UPDATE","offset":"{offset}"}}"#);
        match (&self.form, self.offset_updates) {
            (StreamForm::Lines(_), false) => Bytes::from_static(b"\n"),
            (StreamForm::Lines(_), true) => format!("{update}\n").into(),
            (StreamForm::ServerSent, false) => format!(": nothing new\nid: {offset}\n\n").into(),
            (StreamForm::ServerSent, true) => format!("id: {offset}\ndata: {update}\n\n").into(),
        }
    }
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<EventStart>> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let offset = value.to_str().ok().and_then(|text| text.parse::<EventOffset>().ok());
    offset.map(|offset| Some(EventStart::After(offset))).ok_or_else(|| Error::invalid(LAST_EVENT_ID, NO_OFFSET))
}

pub(super) fn kinds(text: &str) -> Result<BTreeSet<RecordKind>, &'static str> {
    let kind = |name: &str| RecordKind::from_public_name(&name.trim().to_uppercase());
    text.split(',')
        .map(kind)
        .collect::<Option<_>>()
        .ok_or("These must be types of events, such as OPEN,SEND,UNINSTALL.")
}

pub(super) fn channels(text: &str) -> Result<Vec<ChannelRef>, &'static str> {
    let channel = |id: &str| id.trim().parse().ok().map(|id| ChannelRef { id, claimed: None });
    text.split(',')
        .map(channel)
        .collect::<Option<_>>()
        .ok_or("These must be ids of channels, with commas between them.")
}

pub(super) fn pushes(text: &str) -> Result<BTreeSet<Uuid>, &'static str> {
    let push = |id: &str| id.trim().parse().ok();
    text.split(',')
        .map(push)
        .collect::<Option<_>>()
        .ok_or("These must be ids of pushes, or of groups of them, with commas between them.")
}

impl StreamForm {
    fn content_type(&self) -> HeaderValue {
        match self {
            StreamForm::Lines(content_type) => content_type.clone(),
            StreamForm::ServerSent => HeaderValue::from_static("text/event-stream"),
        }
    }
}
