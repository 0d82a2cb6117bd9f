//! The messages of an inbox, as devices list, read and delete them.

use axum::body::Body;
use axum::extract::{FromRequestParts, State};
use axum::response::Response;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, IF_MODIFIED_SINCE, LAST_MODIFIED, REFERRER_POLICY};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use model::ids::{ChannelId, MessageId, PushId};
use model::inbox::{InboxUserId, MessageDetails, MessageIds};
use model::time::UtcMillis;
use schemars::JsonSchema;
use sending::{Inbox, InboxCaller, Mark, MessageView};
use serde::Serialize;

use super::inbox::user_url;
use super::pages::SANDBOXED;
use crate::answer::Answer;
use crate::auth::{CHANNEL_ID, CallingInbox};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::links::Links;
use crate::path_vars::PathVars;

/// A type that cannot stand in a header is none that anybody could show.
const UNKNOWN_TYPE: HeaderValue = HeaderValue::from_static("application/octet-stream");

#[derive(Serialize, JsonSchema)]
pub(super) struct Listing {
    messages: Vec<Message>,
    /// How many of them are unread.
    unread: usize,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "InboxMessage")]
pub(super) struct Message {
    message_id: String,
    message_url: String,
    message_body_url: String,
    message_read_url: String,
    unread: bool,
    /// In UTC.
    message_sent: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_expiry: Option<String>,
    title: String,
    /// Without parameters.
    content_type: String,
    /// In bytes, as text.
    content_size: String,
    #[serde(flatten)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    details: MessageDetails,
    message_reporting: Reporting,
}

/// The id that devices send back when they have read or deleted the message.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MessageReporting")]
pub(super) struct Reporting {
    message_id: String,
    push_id: PushId,
    #[serde(skip_serializing_if = "Option::is_none")]
    group_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant_id: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct WithBody {
    #[serde(flatten)]
    message: Message,
    /// Left out if it is no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "message")]
    body: Option<String>,
}

/// The channel that a request comes from, if it is named.
pub(super) struct Asking(Option<ChannelId>);

impl FromRequestParts<Edge> for Asking {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &Edge) -> Result<Self> {
        let id = parts.headers.get(CHANNEL_ID).and_then(|id| id.to_str().ok());
        Ok(Self(id.and_then(|id| id.parse().ok())))
    }
}

pub(super) async fn list(
    State(edge): State<Edge>,
    CallingInbox(caller): CallingInbox,
    Asking(asking): Asking,
    headers: HeaderMap,
    links: Links,
) -> Result<Answer> {
    let known = headers.get(IF_MODIFIED_SINCE).and_then(|known| UtcMillis::parse_http(known.to_str().ok()?));
    let user = caller.user.clone();
    Ok(match edge.engine.sending().inbox(caller, asking, known).await? {
        Inbox::Unchanged => Answer::not_modified(),
        Inbox::Listed { last_modified, messages } => {
            let messages: Vec<Message> = messages.into_iter().map(|view| Message::new(&links, &user, view)).collect();
            let unread = messages.iter().filter(|message| message.unread).count();
            Answer::ok(Listing { messages, unread })?.header(LAST_MODIFIED, &last_modified.to_http_date())
        }
    })
}

/// The listing without what has been read.
pub(super) async fn unread(
    State(edge): State<Edge>,
    CallingInbox(caller): CallingInbox,
    Asking(asking): Asking,
    links: Links,
) -> Result<Answer> {
    let user = caller.user.clone();
    let messages = match edge.engine.sending().inbox(caller, asking, None).await? {
        Inbox::Unchanged => Vec::new(),
        Inbox::Listed { messages, .. } => messages,
    };
    let messages = messages.into_iter().filter(|view| view.unread).map(|view| Message::new(&links, &user, view));
    let messages: Vec<Message> = messages.collect();
    Answer::ok(Listing { unread: messages.len(), messages })
}

pub(super) async fn mark_read(
    State(edge): State<Edge>,
    CallingInbox(caller): CallingInbox,
    Asking(asking): Asking,
    input: Input,
) -> Result<Answer> {
    let ids = input.parse(MessageIds::read).await?;
    mark(&edge, caller, asking, &ids, Mark::Read).await
}

pub(super) async fn mark_deleted(
    State(edge): State<Edge>,
    CallingInbox(caller): CallingInbox,
    Asking(asking): Asking,
    input: Input,
) -> Result<Answer> {
    let ids = input.parse(MessageIds::deleted).await?;
    mark(&edge, caller, asking, &ids, Mark::Deleted).await
}

pub(super) async fn look_up(
    State(edge): State<Edge>,
    CallingInbox(caller): CallingInbox,
    Asking(asking): Asking,
    PathVars((_, id)): PathVars<(String, String)>,
    links: Links,
) -> Result<Answer> {
    let user = caller.user.clone();
    let (view, body) = edge.engine.sending().inbox_message(caller, asking, push_of(&id)?).await?;
    let message = Message::new(&links, &user, view);
    Answer::ok(WithBody { message, body: String::from_utf8(body.bytes).ok() })
}

pub(super) async fn body(
    State(edge): State<Edge>,
    CallingInbox(caller): CallingInbox,
    Asking(asking): Asking,
    PathVars((_, id)): PathVars<(String, String)>,
) -> Result<Response> {
    let (_, body) = edge.engine.sending().inbox_message(caller, asking, push_of(&id)?).await?;
    let mut response = Response::new(Body::from(body.bytes));
    let headers: [(HeaderName, HeaderValue); 3] = [
        (CONTENT_TYPE, HeaderValue::from_str(&body.content_type).unwrap_or(UNKNOWN_TYPE)),
        (CONTENT_SECURITY_POLICY, SANDBOXED),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    response.headers_mut().extend(headers);
    Ok(response)
}

/// Devices fetch this address, some with GET. What only looks whether it is there has not read the message.
pub(super) async fn read(
    method: Method,
    State(edge): State<Edge>,
    CallingInbox(caller): CallingInbox,
    Asking(asking): Asking,
    PathVars((_, id)): PathVars<(String, String)>,
) -> Result<Answer> {
    if method == Method::HEAD {
        return Err(Error::HeadNotAllowed);
    }
    mark(&edge, caller, asking, &MessageIds(vec![id]), Mark::Read).await
}

pub(super) async fn delete(
    State(edge): State<Edge>,
    CallingInbox(caller): CallingInbox,
    Asking(asking): Asking,
    PathVars((_, id)): PathVars<(String, String)>,
) -> Result<Answer> {
    mark(&edge, caller, asking, &MessageIds(vec![id]), Mark::Deleted).await
}

/// Missing messages are skipped: devices would report them again and again.
async fn mark(
    edge: &Edge,
    caller: InboxCaller,
    asking: Option<ChannelId>,
    ids: &MessageIds,
    mark: Mark,
) -> Result<Answer> {
    let pushes = ids.0.iter().filter_map(|id| id.parse().ok()).map(MessageId::push).collect();
    edge.engine.sending().mark_messages(caller, asking, pushes, mark).await?;
    Answer::done()
}

fn push_of(message_id: &str) -> Result<PushId> {
    let message: Result<MessageId, _> = message_id.parse();
    message.map(MessageId::push).map_err(|_| Error::NotFound("There is no such message.".to_owned()))
}

/// A type without its parameters, as libraries look for it: some drop messages that are not exactly `text/html` or `text/plain`.
fn listed_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

impl Message {
    fn new(links: &Links, user: &InboxUserId, view: MessageView) -> Self {
        let message_id = MessageId::from(view.push).to_string();
        let message_url = format!("{}messages/message/{message_id}/", user_url(links, user));
        Self {
            message_body_url: format!("{message_url}body/"),
            message_read_url: format!("{message_url}read/"),
            message_url,
            unread: view.unread,
            message_sent: view.sent.to_api(),
            message_expiry: view.expires.map(UtcMillis::to_api),
            title: view.title,
            content_type: listed_type(&view.content_type),
            content_size: view.size.to_string(),
            details: view.details,
            message_reporting: Reporting {
                message_id: message_id.clone(),
                push_id: view.push,
                group_id: view.shared_push.group_id.map(|id| id.to_string()),
                variant_id: view.shared_push.variant_id,
            },
            message_id,
        }
    }
}
