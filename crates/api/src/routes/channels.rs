//! Channels of devices: registration, lookup, listing and uninstallation.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use http::StatusCode;
use model::channel::{ChannelTagsLookup, Registration, TagSets, Uninstalls};
use model::contact::ContactChannel;
use model::ids::{ChannelId, ChannelKind};
use schemars::JsonSchema;
use serde::Serialize;
use tenancy::{App, Rights};

use super::channel_record::ChannelRecord;
use crate::answer::Answer;
use crate::auth::{CallingApp, CallingRights, UserRights};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::path_vars::{PathId, PathVars};
use crate::query::Params;

#[derive(Serialize, JsonSchema)]
pub(super) struct Registered {
    channel_id: ChannelId,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct One {
    channel: ChannelRecord,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Page {
    channels: Vec<ChannelRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
}

/// Libraries ask again after some minutes, and are told everything then.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ChannelTagsAmong")]
pub(super) struct TagsAmong {
    #[schemars(with = "BTreeMap<String, BTreeSet<String>>")]
    tag_groups: TagSets,
    last_modified: String,
}

pub(super) async fn register(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    of_users: UserRights,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let own = match rights.0 {
        Rights::Channel(own) => Some(own),
        Rights::Master | Rights::Device | Rights::Contact(_) | Rights::KeyOnly => None,
    };
    let registration = registration(&edge, &app, &of_users, own, &input).await?;
    let (devices, key) = (rights.devices(&edge), input.idempotency_key);
    let registered = match own {
        Some(own) => devices.register_known_channel(app.id, own, registration, key).await?,
        None => devices.register_channel(app.id, registration, key).await?,
    };
    let status = if registered.created { StatusCode::CREATED } else { StatusCode::OK };
    let answer = Answer::changed(registered.operation_id, Registered { channel_id: registered.id })?.status(status);
    Ok(answer.location(&location(&links, registered.id)))
}

pub(super) async fn update(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    of_users: UserRights,
    PathVars(id): PathVars<String>,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let registration = registration(&edge, &app, &of_users, id.parse().ok(), &input).await?;
    // Upon a conflict devices forget the id and register anew, which is the way out of an invalid id.
    let id = id.parse().map_err(|_| Error::Conflict("A channel id is a UUID; register a new channel.".to_owned()))?;
    let updated = rights.devices(&edge).update_channel(app.id, id, registration).await?;
    let answer = Answer::changed(updated.operation_id, Registered { channel_id: updated.id })?;
    Ok(answer.location(&location(&links, updated.id)))
}

pub(super) async fn look_up(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<ChannelKind>,
) -> Result<Answer> {
    let channel = edge.engine.devices().channel(app.id, id).await?.into();
    Ok(Answer::ok(One { channel })?.data_attribute("channel"))
}

pub(super) async fn list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let start = params.id("start");
    let limit = params.limit(PageSize::CHANNELS);
    let address = params.parsed("address", |text| match text.contains('\0') {
        true => Err("No address has this character."),
        false => Ok(text.to_owned()),
    });
    params.finish()?;
    let (page, next) = match address {
        Some(address) => (edge.engine.devices().channels_with_address(app.id, address).await?, None),
        None => edge.engine.devices().channels(app.id, start, limit).await?,
    };
    let next_page = next.map(|next| links.to(&format!("/api/channels?start={next}&limit={limit}")));
    let write = move || {
        let channels = page.into_iter().map(ChannelRecord::from).collect();
        let answer = Answer::ok(Page { channels, next_page: next_page.clone() })?.data_attribute("channels");
        Ok(answer.next_page(next_page.as_deref()))
    };
    edge.apart(write).await?
}

pub(super) async fn uninstall(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let Uninstalls(uninstalls) = input.parse(Uninstalls::parse).await?;
    let passed_over = edge.engine.devices().uninstall_channels(app.id, uninstalls).await?;
    Ok(Answer::done_except(passed_over)?.status(StatusCode::ACCEPTED))
}

/// By the device itself, of which somebody wants to be forgotten.
pub(super) async fn uninstall_one(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    PathId(id): PathId<ChannelKind>,
) -> Result<Answer> {
    rights.devices(&edge).uninstall_channel(app.id, id).await?;
    Ok(Answer::nothing())
}

pub(super) async fn remove_push_address(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    input: Input,
) -> Result<Answer> {
    let ContactChannel { channel } = input.parse(ContactChannel::parse).await?;
    rights.devices(&edge).remove_push_address(app.id, channel).await?;
    Answer::done()
}

/// The tags of a channel among those that its library asks for.
pub(super) async fn tags_among(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let ChannelTagsLookup { channel, tag_groups: asked } = input.parse(ChannelTagsLookup::parse).await?;
    let mut tag_groups = edge.engine.devices().channel(app.id, channel.id).await?.tags;
    tag_groups.retain(|group, tags| {
        tags.retain(|tag| asked.get(group).is_some_and(|asked| asked.contains(tag)));
        !tags.is_empty()
    });
    Answer::ok(TagsAmong { tag_groups, last_modified: edge.engine.clock().now().to_api() })
}

/// A registration, without the named user where its sender may not say whose the channel is.
pub(super) async fn registration(
    edge: &Edge,
    app: &App,
    of_users: &UserRights,
    channel: Option<ChannelId>,
    input: &Input,
) -> Result<Registration> {
    let mut registration = input.parse(Registration::parse).await?;
    edge.engine.sending().check_address(app.id, app.mode, &registration).await?;
    registration.named_user_id = of_users.registered_user(channel, registration.named_user_id);
    Ok(registration)
}

pub(super) fn location(links: &Links, id: ChannelId) -> String {
    links.to(&format!("/api/channels/{id}"))
}
