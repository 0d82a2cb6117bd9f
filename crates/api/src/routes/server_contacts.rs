//! Contacts as servers speak of them: looking them up, and changing several at once.

use axum::extract::State;
use model::contact::{ContactAssociation, ContactAttributeChanges, ContactTagging, ContactUpdate, ScopedContactUpdate};
use model::ids::{ChannelKind, ContactId, NamedUserId, OperationId};
use schemars::JsonSchema;
use serde::Serialize;

use super::tags::refuse_read_only;
use crate::answer::Answer;
use crate::auth::{CallingApp, CallingRights, UserRights};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::path_vars::{PathContact, PathId, PathVars};

#[derive(Serialize, JsonSchema)]
pub(super) struct OfChannel {
    /// As events show it.
    contact_id: ContactId,
    /// Whether the channel has no named user.
    is_anonymous: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct OfNamedUser {
    /// As events show it.
    contact_id: ContactId,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Associated {
    /// Whose the channel is, as events show it.
    contact_id: ContactId,
    /// Why the channel was passed over: it is of another device type than the request says.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Tagged {
    /// A sentence about each contact that was passed over, because it is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    tag_warnings: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct AttributesChanged {
    /// A sentence about each contact that was passed over, because it is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<String>,
}

pub(super) async fn of_channel(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<ChannelKind>,
) -> Result<Answer> {
    let contact = edge.engine.devices().contact_of_channel(app.id, id).await?;
    Answer::ok(OfChannel { contact_id: contact.id, is_anonymous: contact.is_anonymous })
}

pub(super) async fn of_named_user(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(id): PathVars<String>,
) -> Result<Answer> {
    let user = NamedUserId::new(&id).map_err(|_| Error::NotFound("There is no such named user.".to_owned()))?;
    let contact_id = edge.engine.devices().contact_of_named_user(app.id, user).await?;
    Answer::ok(OfNamedUser { contact_id })
}

pub(super) async fn associate(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let association = input.parse(ContactAssociation::parse).await?;
    let (contact_id, warnings) = edge.engine.devices().associate_with_contact(app.id, association).await?;
    let warnings = (!warnings.is_empty()).then_some(warnings);
    Answer::changed(OperationId::random(), Associated { contact_id, warnings })
}

pub(super) async fn tag(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let ContactTagging { audience, operation } = input.parse(ContactTagging::parse).await?;
    refuse_read_only(&operation)?;
    let passed_over = edge.engine.devices().update_contacts(app.id, vec![(audience, operation.into())]).await?;
    Answer::changed(OperationId::random(), Tagged { tag_warnings: one_text(&passed_over) })
}

pub(super) async fn change_attributes(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    input: Input,
) -> Result<Answer> {
    let ContactAttributeChanges(changes) = input.parse(ContactAttributeChanges::parse).await?;
    let changes = changes.into_iter().map(|change| (change.audience, ContactUpdate::from(change.operations)));
    let passed_over = edge.engine.devices().update_contacts(app.id, changes.collect()).await?;
    Answer::changed(OperationId::random(), AttributesChanged { warnings: one_text(&passed_over) })
}

/// Callers of these expect a text, where they expect an array of other calls.
fn one_text(sentences: &[String]) -> Option<String> {
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Devices may call this as they may change a contact in other ways.
pub(super) async fn change_scoped(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    rights: CallingRights,
    of_users: UserRights,
    PathContact(contact): PathContact,
    input: Input,
) -> Result<Answer> {
    let update = ContactUpdate::from(input.parse(ScopedContactUpdate::parse).await?);
    update.tags.iter().try_for_each(refuse_read_only)?;
    let refused_for_named = of_users.refusal_for_contact(&update);
    rights.devices(&edge).update_contact(app.id, contact, update, rights.0, refused_for_named).await?;
    Answer::done()
}
