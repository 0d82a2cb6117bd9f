//! Channels of open platforms, which servers register and address by platform and address.

use axum::extract::State;
use devices::RegisteredOpen;
use http::StatusCode;
use model::channel::{OpenAddress, OpenRegistration, OpenTags};
use model::ids::ChannelId;
use schemars::JsonSchema;
use serde::Serialize;
use tenancy::Rights;

use super::channel_record::ChannelRecord;
use super::channels::location;
use super::tags::refuse_read_only;
use crate::answer::Answer;
use crate::auth::{CallingApp, CallingRights};
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;
use crate::links::Links;

#[derive(Serialize, JsonSchema)]
pub(super) struct Registered {
    channel_id: ChannelId,
    channel: ChannelRecord,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Restricted {
    channel_id: ChannelId,
}

pub(super) async fn register(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let registration = input.parse(OpenRegistration::parse).await?;
    let RegisteredOpen { operation_id, id, channel } =
        edge.engine.devices().register_open(app.id, registration, Rights::Master, input.idempotency_key).await?;
    let registered = Registered { channel_id: id, channel: channel.into() };
    Ok(Answer::changed(operation_id, registered)?.location(&location(&links, id)))
}

/// For devices, which can create channels of an open platform but not change them. The answer has only the id.
pub(super) async fn register_restricted(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let registration = input.parse(OpenRegistration::parse).await?;
    let RegisteredOpen { operation_id, id, .. } =
        rights.devices(&edge).register_open(app.id, registration, rights.0, input.idempotency_key).await?;
    Ok(Answer::changed(operation_id, Restricted { channel_id: id })?.location(&location(&links, id)))
}

pub(super) async fn uninstall(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let address = input.parse(OpenAddress::parse).await?;
    edge.engine.devices().uninstall_open(app.id, address).await?;
    Ok(Answer::done()?.status(StatusCode::ACCEPTED))
}

pub(super) async fn tag(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let OpenTags { audience, operation } = input.parse(OpenTags::parse).await?;
    refuse_read_only(&operation)?;
    edge.engine.devices().tag_open(app.id, audience, operation).await?;
    Answer::done()
}
