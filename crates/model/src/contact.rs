//! Contacts: the people behind channels as devices speak of them. A contact is a named user, or the unknown user of a
//! channel without a named user.
//!
//! These bodies are written by device libraries, of which every generation adds keys; unknown keys are skipped, because
//! a refusal would make a device drop the whole change.

use schemars::json_schema;
use serde_json::json;

use crate::attribute::{self, AttributeOperation};
use crate::channel::{ChannelRef, TagOperation};
use crate::ids::{ChannelId, ContactId, NamedUserId};
use crate::json::body::{Body, Read};
use crate::json::{At, Json, OneOrMany};
use crate::limits;
use crate::subscription::ScopedOperation;

mod servers;
#[cfg(test)]
mod tests;

pub use servers::{
    ContactAssociation, ContactAttributeChanges, ContactAttributes, ContactName, ContactTagging, ScopedContactChange,
    ScopedContactUpdate,
};

/// An action of a device on its association with a contact.
#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(schema = {
    let action = json!({
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": ["resolve", "identify", "reset"]},
            "contact_id": {"type": ["string", "null"]},
            "named_user_id": schemas.subschema_for::<NamedUserId>(),
        },
        "required": ["type"],
    });
    json_schema!({"type": "object", "properties": {"action": action}, "required": ["action"]})
})]
pub enum ContactAction {
    /// Asks for its contact, of which it may know one already: its last, or one that it made up.
    Resolve(Option<ContactId>),
    /// Belongs to a named user from now on.
    Identify(NamedUserId),
    /// Belongs to no named user from now on.
    Reset,
}

/// A channel whose contact is asked for or left, from device libraries that name the channel in the body.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed, lenient)]
pub struct ContactChannel {
    #[body(flatten, take = ChannelRef::read)]
    pub channel: ChannelRef,
}

/// A channel that belongs to a named user from now on, from the same libraries.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed, lenient)]
pub struct ContactIdentification {
    #[body(flatten, take = ChannelRef::read)]
    pub channel: ChannelRef,
    #[body(rename = "named_user_id")]
    pub user: NamedUserId,
}

/// Several changes of one contact, made together. Each part may be empty.
#[derive(Clone, Debug, Default, PartialEq, Body)]
#[body(not_printed, lenient)]
pub struct ContactUpdate {
    /// Carried out in their order.
    #[body(read = |at| TagOperation::read_several(&mut at.object()?), nullable, default, like = TagOperation)]
    pub tags: Vec<TagOperation>,
    #[body(
        take = |fields| fields.take("attributes").filter(is_something).and_then(|at| attribute::operations(&at)),
        default,
        like = Option<OneOrMany<AttributeOperation>>
    )]
    pub attributes: Vec<AttributeOperation>,
    #[body(
        rename = "subscription_lists",
        read = subscriptions,
        nullable,
        default,
        like = OneOrMany<ScopedOperation>
    )]
    pub subscriptions: Vec<ScopedOperation>,
    #[body(length = 0..=limits::ASSOCIATIONS_PER_REQUEST, read = channels, nullable, default)]
    pub associate: Vec<ChannelRef>,
}

/// A channel that is to leave its contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Body)]
#[body(not_printed, lenient)]
pub struct ContactDisassociation(#[body(rename = "channel_id")] pub ChannelId);

#[derive(Clone, Copy)]
enum ActionType {
    Resolve,
    Identify,
    Reset,
}

impl ContactAction {
    /// The body of newer libraries, whose channel is known from their credentials.
    pub fn parse(at: &At<'_>) -> Option<Self> {
        at.object()?.required("action", |at| {
            let types =
                [("resolve", ActionType::Resolve), ("identify", ActionType::Identify), ("reset", ActionType::Reset)];
            let mut fields = at.object()?;
            match fields.required("type", |at| at.choice(&types))? {
                ActionType::Resolve => {
                    let known = fields.take("contact_id").and_then(|at| match at.json() {
                        Json::String(text) => text.parse().ok(),
                        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => None,
                    });
                    Some(ContactAction::Resolve(known))
                }
                ActionType::Identify => fields.required("named_user_id", NamedUserId::parse).map(Self::Identify),
                ActionType::Reset => Some(ContactAction::Reset),
            }
        })
    }
}

fn subscriptions(at: &At<'_>) -> Option<Vec<ScopedOperation>> {
    at.each_or_passed_over(0..=limits::SUBSCRIPTIONS_PER_REQUEST, ScopedOperation::parse)
}

fn channels(at: &At<'_>) -> Option<Vec<ChannelRef>> {
    at.array(0..=limits::ASSOCIATIONS_PER_REQUEST, |at| ChannelRef::read(&mut at.object()?))
}

fn is_something(at: &At<'_>) -> bool {
    !at.is_null() && !matches!(at.json(), Json::Array(items) if items.is_empty())
}
