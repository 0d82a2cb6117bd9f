//! Contacts: the people behind channels as devices speak of them. A contact is a named user, or the unknown user of a
//! channel without a named user.
//!
//! These bodies are written by device libraries, of which every generation adds keys; unknown keys are skipped, because
//! a refusal would make a device drop the whole change.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::json;

use crate::attribute::{self, AttributeOperation};
use crate::channel::{ChannelRef, ClaimedType, TagOperation};
use crate::ids::{ChannelId, ContactId, NamedUserId};
use crate::json::body::{Body, Read};
use crate::json::{At, Json, OneOrMany};
use crate::limits;
use crate::subscription::ScopedOperation;

#[cfg(test)]
mod tests;

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

/// The same from device libraries that name the channel in the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContactRequest {
    pub channel: ChannelRef,
    pub action: ContactAction,
}

/// Several changes of one contact, made together. Each part may be empty.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed, lenient)]
pub struct ContactUpdate {
    /// Carried out in their order.
    #[body(read = |at| TagOperation::read_several(&mut at.object()?), nullable, default, schema = TagOperation::json_schema)]
    pub tags: Vec<TagOperation>,
    #[body(take = |fields| fields.take("attributes").filter(is_something).and_then(|at| attribute::operations(&at)), default, schema = |schemas| schemas.subschema_for::<Option<OneOrMany<AttributeOperation>>>())]
    pub attributes: Vec<AttributeOperation>,
    #[body(rename = "subscription_lists", read = subscriptions, nullable, default, schema = |schemas| schemas.subschema_for::<Option<OneOrMany<ScopedOperation>>>())]
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

impl JsonSchema for ContactRequest {
    fn schema_name() -> Cow<'static, str> {
        "ContactRequest".into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let device_type = schemas.subschema_for::<Option<ClaimedType>>();
        let user = schemas.subschema_for::<NamedUserId>();
        let keys = json!({"channel_id": {"type": "string", "format": "uuid"}, "device_type": device_type, "named_user_id": user});
        json_schema!({"type": "object", "properties": keys, "required": ["channel_id"]})
    }
}

impl ContactRequest {
    pub fn parse_resolve(at: &At<'_>) -> Option<Self> {
        let channel = ChannelRef::read(&mut at.object()?)?;
        Some(Self { channel, action: ContactAction::Resolve(None) })
    }

    pub fn parse_identify(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let channel = ChannelRef::read(&mut fields);
        let user = fields.required("named_user_id", NamedUserId::parse);
        Some(Self { channel: channel?, action: ContactAction::Identify(user?) })
    }

    pub fn parse_reset(at: &At<'_>) -> Option<Self> {
        let channel = ChannelRef::read(&mut at.object()?)?;
        Some(Self { channel, action: ContactAction::Reset })
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
