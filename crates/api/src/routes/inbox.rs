//! Inboxes: making them, the channels that share one, and taking messages out of all of them.

use std::collections::BTreeMap;

use axum::extract::State;
use http::StatusCode;
use model::device_type::DeviceType;
use model::ids::{ChannelId, ChannelKind, OperationId, PushId};
use model::inbox::{CHANNEL_KEYS, InboxChange, InboxUserId, NewInbox};
use model::time::UtcMillis;
use schemars::JsonSchema;
use sending::{CreatedInbox, InboxCaller, MessageView};
use serde::Serialize;
use tenancy::Rights;

use super::message_deletion::push_of;
use crate::answer::Answer;
use crate::auth::{CallingApp, CallingInbox, CallingRights};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::links::Links;
use crate::path_vars::{PathId, PathVars};

#[derive(Serialize, JsonSchema)]
pub(super) struct Created {
    #[schemars(with = "String")]
    user_id: InboxUserId,
    password: String,
    user_url: String,
    #[serde(flatten)]
    channels: Channels,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct User {
    #[schemars(with = "String")]
    user_id: InboxUserId,
    user_url: String,
    #[serde(flatten)]
    channels: Channels,
}

/// Channels by device type. Old libraries also look for a list of device tokens, which are not kept apart here.
#[derive(Serialize, JsonSchema)]
pub(super) struct Channels {
    #[serde(flatten)]
    #[schemars(with = "BTreeMap<&'static str, Vec<uuid::Uuid>>")]
    by_type: BTreeMap<&'static str, Vec<ChannelId>>,
    device_tokens: [String; 0],
}

/// The inbox of a channel, for servers: devices have a listing of their own.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "InboxOfChannel")]
pub(super) struct OfChannel {
    /// The newest first.
    messages: Vec<Entry>,
    /// How many of them are unread.
    unread: usize,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "InboxEntry")]
struct Entry {
    push_id: PushId,
    title: String,
    /// In UTC.
    sent: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    unread: bool,
}

pub(super) async fn of_channel(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(channel): PathId<ChannelKind>,
) -> Result<Answer> {
    let found = edge.engine.sending().inbox_of_channel(app.id, app.key.clone(), channel).await?;
    let messages: Vec<Entry> = found.into_iter().map(Entry::from).collect();
    let unread = messages.iter().filter(|entry| entry.unread).count();
    Ok(Answer::ok(OfChannel { messages, unread })?.data_attribute("messages"))
}

impl From<MessageView> for Entry {
    fn from(view: MessageView) -> Self {
        Self {
            push_id: view.push,
            title: view.title,
            sent: view.sent.to_api(),
            expires: view.expires.map(UtcMillis::to_api),
            unread: view.unread,
        }
    }
}

pub(super) async fn create(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    CallingRights(rights): CallingRights,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let mut new = input.parse(NewInbox::parse).await?;
    if let Rights::Channel(own) = rights {
        new.0.retain(|channel| channel.id == own);
    }
    let CreatedInbox { operation_id, user, password, channels } =
        edge.engine.sending().create_inbox(app.id, new, input.idempotency_key).await?;
    let user_url = user_url(&links, &user);
    let channels = Channels::of(&channels);
    let created = Created { user_id: user, password, user_url: user_url.clone(), channels };
    Ok(Answer::changed(operation_id, created)?.status(StatusCode::CREATED).location(&user_url))
}

pub(super) async fn look_up(
    State(edge): State<Edge>,
    CallingInbox(caller): CallingInbox,
    links: Links,
) -> Result<Answer> {
    Answer::ok(show(&edge, &links, caller).await?)
}

pub(super) async fn change(
    State(edge): State<Edge>,
    CallingInbox(caller): CallingInbox,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let change = input.parse(InboxChange::parse).await?;
    edge.engine.sending().change_inbox(caller.clone(), change).await?;
    Answer::changed(OperationId::random(), show(&edge, &links, caller).await?)
}

/// By the id of the message, or by that of its push.
pub(super) async fn delete_everywhere(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(id): PathVars<String>,
) -> Result<Answer> {
    let push = push_of(&id).ok_or_else(|| Error::NotFound("There is no such message.".to_owned()))?;
    edge.engine.sending().delete_message(app.id, push).await?;
    Ok(Answer::done()?.status(StatusCode::ACCEPTED))
}

pub(super) fn user_url(links: &Links, user: &InboxUserId) -> String {
    links.to(&format!("/api/user/{user}/"))
}

async fn show(edge: &Edge, links: &Links, caller: InboxCaller) -> Result<User> {
    let (user_url, user_id) = (user_url(links, &caller.user), caller.user.clone());
    let view = edge.engine.sending().inbox_user(caller).await?;
    Ok(User { user_id, user_url, channels: Channels::of(&view.channels) })
}

impl Channels {
    fn of(channels: &[(ChannelId, DeviceType)]) -> Self {
        let of_type = |wanted: &DeviceType| {
            channels.iter().filter(|(_, device_type)| device_type == wanted).map(|(id, _)| *id).collect()
        };
        let by_type = CHANNEL_KEYS.iter().map(|(key, device_type)| (*key, of_type(device_type))).collect();
        Self { by_type, device_tokens: [] }
    }
}
