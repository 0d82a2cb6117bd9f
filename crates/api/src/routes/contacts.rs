//! Contacts: devices ask for their contact, identify it, and change its data.

use axum::extract::State;
use devices::Contact;
use model::channel::ChannelRef;
use model::contact::{ContactAction, ContactChannel, ContactDisassociation, ContactIdentification, ContactUpdate};
use model::ids::{ChannelId, ContactId, ContactKind, OperationId};
use schemars::JsonSchema;
use serde::Serialize;
use tenancy::{App, DeviceToken};

use super::subscription_lists::{OfPerson, scope_records};
use super::tags::refuse_read_only;
use crate::answer::Answer;
use crate::auth::{CallingApp, CallingChannel, CallingRights};
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;
use crate::path_vars::PathId;

/// For newer device libraries, which continue with the token.
#[derive(Serialize, JsonSchema)]
pub(super) struct Acted {
    contact: ContactRecord,
    token: String,
    /// Device libraries count in milliseconds here.
    token_expires_in: u128,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ContactRecord {
    contact_id: ContactId,
    is_anonymous: bool,
    channel_association_timestamp: String,
}

/// For older ones.
#[derive(Serialize, JsonSchema)]
pub(super) struct Resolved {
    contact_id: ContactId,
    is_anonymous: bool,
}

/// The addresses of a contact apart from devices. Device libraries know of email and telephone numbers here and of nothing
/// else; there are no such channels.
#[derive(Serialize, JsonSchema)]
pub(super) struct AssociatedTypes {
    channels: [ChannelId; 0],
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Disassociated {
    channel_id: ChannelId,
}

pub(super) async fn act(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    CallingChannel(channel): CallingChannel,
    input: Input,
) -> Result<Answer> {
    let action = input.parse(ContactAction::parse).await?;
    let action = allowed(rights, &app, action)?;
    let contact = rights.devices(&edge).contact(app.id, ChannelRef { id: channel, claimed: None }, action).await?;
    let DeviceToken { text, expires_in } = edge.engine.tenancy().contact_token(&app, contact.id).await?;
    let acted = Acted { contact: contact.into(), token: text, token_expires_in: expires_in.as_millis() };
    Answer::changed(OperationId::random(), acted)
}

pub(super) async fn resolve(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    input: Input,
) -> Result<Answer> {
    let ContactChannel { channel } = input.parse(ContactChannel::parse).await?;
    carry_out(&edge, &app, rights, channel, ContactAction::Resolve(None)).await
}

pub(super) async fn identify(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    input: Input,
) -> Result<Answer> {
    let ContactIdentification { channel, user } = input.parse(ContactIdentification::parse).await?;
    carry_out(&edge, &app, rights, channel, ContactAction::Identify(user)).await
}

pub(super) async fn reset(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    input: Input,
) -> Result<Answer> {
    let ContactChannel { channel } = input.parse(ContactChannel::parse).await?;
    carry_out(&edge, &app, rights, channel, ContactAction::Reset).await
}

/// Asking is always allowed. Where devices do not say whose they are, that includes what they think.
fn allowed(rights: CallingRights, app: &App, action: ContactAction) -> Result<ContactAction> {
    match action {
        ContactAction::Resolve(known) => Ok(ContactAction::Resolve(known.filter(|_| rights.may_associate(app)))),
        ContactAction::Identify(_) | ContactAction::Reset => rights.need_association(app).map(|()| action),
    }
}

async fn carry_out(
    edge: &Edge,
    app: &App,
    rights: CallingRights,
    channel: ChannelRef,
    action: ContactAction,
) -> Result<Answer> {
    let action = allowed(rights, app, action)?;
    let Contact { id, is_anonymous, .. } = rights.devices(edge).contact(app.id, channel, action).await?;
    Answer::changed(OperationId::random(), Resolved { contact_id: id, is_anonymous })
}

pub(super) async fn update(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    PathId(id): PathId<ContactKind>,
    input: Input,
) -> Result<Answer> {
    let update = input.parse(ContactUpdate::parse).await?;
    update.tags.iter().try_for_each(refuse_read_only)?;
    if !update.associate.is_empty() {
        rights.need_association(&app)?;
    }
    rights.devices(&edge).update_contact(app.id, id, update, rights.0).await?;
    Answer::done()
}

pub(super) async fn subscriptions(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<ContactKind>,
) -> Result<Answer> {
    let subscriptions = edge.engine.devices().contact_subscriptions(app.id, id).await?;
    let answer = Answer::ok(OfPerson { subscription_lists: scope_records(subscriptions) })?;
    Ok(answer.data_attribute("subscription_lists"))
}

pub(super) async fn associated_types(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<ContactKind>,
) -> Result<Answer> {
    edge.engine.devices().check_contact(app.id, id).await?;
    Answer::ok(AssociatedTypes { channels: [] })
}

pub(super) async fn disassociate(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    PathId(id): PathId<ContactKind>,
    input: Input,
) -> Result<Answer> {
    rights.need_association(&app)?;
    let ContactDisassociation(channel_id) = input.parse(ContactDisassociation::parse).await?;
    edge.engine.devices().disassociate_from_contact(app.id, id, channel_id).await?;
    Answer::changed(OperationId::random(), Disassociated { channel_id })
}

impl From<Contact> for ContactRecord {
    fn from(contact: Contact) -> Self {
        Self {
            contact_id: contact.id,
            is_anonymous: contact.is_anonymous,
            channel_association_timestamp: contact.associated.to_api(),
        }
    }
}
