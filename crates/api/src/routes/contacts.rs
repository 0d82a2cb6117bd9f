//! Contacts: devices ask for their contact, identify it, and change its data.

use axum::extract::State;
use devices::Contact;
use model::channel::ChannelRef;
use model::contact::{ContactAction, ContactChannel, ContactDisassociation, ContactIdentification, ContactUpdate};
use model::ids::{ChannelId, ContactId, OperationId};
use schemars::JsonSchema;
use serde::Serialize;
use tenancy::{App, DeviceToken};

use super::subscription_lists::{OfPerson, scope_records};
use super::tags::refuse_read_only;
use crate::answer::Answer;
use crate::auth::{CallingApp, CallingChannel, CallingRights, UserRights};
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;
use crate::path_vars::PathContact;

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
    contact: ContactId,
    channel_id: ChannelId,
}

pub(super) async fn act(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    of_users: UserRights,
    CallingChannel(channel): CallingChannel,
    input: Input,
) -> Result<Answer> {
    let action = input.parse(ContactAction::parse).await?;
    let action = allowed(&of_users, channel, action)?;
    let contact = rights.devices(&edge).contact(app.id, ChannelRef { id: channel, claimed: None }, action).await?;
    let DeviceToken { text, expires_in } = edge.engine.tenancy().contact_token(&app, contact.id).await?;
    let acted = Acted { contact: contact.into(), token: text, token_expires_in: expires_in.as_millis() };
    Answer::changed(OperationId::random(), acted)
}

pub(super) async fn resolve(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    of_users: UserRights,
    input: Input,
) -> Result<Answer> {
    let ContactChannel { channel } = input.parse(ContactChannel::parse).await?;
    carry_out(&edge, &app, rights, &of_users, channel, ContactAction::Resolve(None)).await
}

pub(super) async fn identify(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    of_users: UserRights,
    input: Input,
) -> Result<Answer> {
    let ContactIdentification { channel, user } = input.parse(ContactIdentification::parse).await?;
    carry_out(&edge, &app, rights, &of_users, channel, ContactAction::Identify(user)).await
}

pub(super) async fn reset(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    of_users: UserRights,
    input: Input,
) -> Result<Answer> {
    let ContactChannel { channel } = input.parse(ContactChannel::parse).await?;
    carry_out(&edge, &app, rights, &of_users, channel, ContactAction::Reset).await
}

/// Asking is always allowed. Where only servers say whose a channel is, what the device thinks does not count.
fn allowed(of_users: &UserRights, channel: ChannelId, action: ContactAction) -> Result<ContactAction> {
    match &action {
        ContactAction::Resolve(known) => {
            return Ok(ContactAction::Resolve(known.filter(|_| of_users.may_return())));
        }
        ContactAction::Identify(user) => of_users.need_association(channel, user)?,
        ContactAction::Reset => of_users.need_leave(channel, None)?,
    }
    Ok(action)
}

async fn carry_out(
    edge: &Edge,
    app: &App,
    rights: CallingRights,
    of_users: &UserRights,
    channel: ChannelRef,
    action: ContactAction,
) -> Result<Answer> {
    let action = allowed(of_users, channel.id, action)?;
    let Contact { id, is_anonymous, .. } = rights.devices(edge).contact(app.id, channel, action).await?;
    Answer::changed(OperationId::random(), Resolved { contact_id: id, is_anonymous })
}

pub(super) async fn update(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    of_users: UserRights,
    PathContact(contact): PathContact,
    input: Input,
) -> Result<Answer> {
    let update = input.parse(ContactUpdate::parse).await?;
    update.tags.iter().try_for_each(refuse_read_only)?;
    let refused_for_named = of_users.refusal_for_contact(&update);
    rights.devices(&edge).update_contact(app.id, contact, update, rights.0, refused_for_named).await?;
    Answer::done()
}

pub(super) async fn subscriptions(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    PathContact(contact): PathContact,
) -> Result<Answer> {
    let subscriptions = rights.devices(&edge).contact_subscriptions(app.id, contact).await?;
    let answer = Answer::ok(OfPerson { subscription_lists: scope_records(subscriptions) })?;
    Ok(answer.data_attribute("subscription_lists"))
}

pub(super) async fn associated_types(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    PathContact(contact): PathContact,
) -> Result<Answer> {
    rights.devices(&edge).check_contact(app.id, contact).await?;
    Answer::ok(AssociatedTypes { channels: [] })
}

pub(super) async fn disassociate(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    of_users: UserRights,
    PathContact(contact): PathContact,
    input: Input,
) -> Result<Answer> {
    let ContactDisassociation(channel_id) = input.parse(ContactDisassociation::parse).await?;
    of_users.need_leave(channel_id, None)?;
    let contact = rights.devices(&edge).disassociate_from_contact(app.id, contact, channel_id).await?;
    Answer::changed(OperationId::random(), Disassociated { contact, channel_id })
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
