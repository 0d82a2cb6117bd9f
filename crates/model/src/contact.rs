//! Contacts: the people behind channels as devices speak of them. A contact is a named user, or the unknown user of a
//! channel without a named user.
//!
//! These bodies are written by device libraries, of which every generation adds keys; unknown keys are skipped, because
//! a refusal would make a device drop the whole change.

use crate::attribute::{self, AttributeOperation};
use crate::channel::{ChannelRef, TagOperation};
use crate::ids::{ChannelId, ContactId, NamedUserId};
use crate::json::{At, Json};
use crate::limits;
use crate::subscription::ScopedOperation;

#[cfg(test)]
mod tests;

/// An action of a device on its association with a contact.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq)]
pub struct ContactUpdate {
    /// Carried out in their order.
    pub tags: Vec<TagOperation>,
    pub attributes: Vec<AttributeOperation>,
    pub subscriptions: Vec<ScopedOperation>,
    pub associate: Vec<ChannelRef>,
}

/// A channel that is to leave its contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactDisassociation(pub ChannelId);

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

impl ContactUpdate {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let tags = fields.nullable("tags", |at| TagOperation::read_several(&mut at.object()?));
        let attributes = fields.take("attributes").filter(is_something).and_then(|at| attribute::operations(&at));
        let subscriptions = fields.nullable("subscription_lists", |at| {
            at.each_or_passed_over(0..=limits::SUBSCRIPTIONS_PER_REQUEST, ScopedOperation::parse)
        });
        let associate = fields.nullable("associate", |at| {
            at.array(0..=limits::ASSOCIATIONS_PER_REQUEST, |at| ChannelRef::read(&mut at.object()?))
        });
        Some(Self {
            tags: tags.unwrap_or_default(),
            attributes: attributes.unwrap_or_default(),
            subscriptions: subscriptions.unwrap_or_default(),
            associate: associate.unwrap_or_default(),
        })
    }
}

impl ContactDisassociation {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        at.object()?.required("channel_id", ChannelId::parse).map(Self)
    }
}

fn is_something(at: &At<'_>) -> bool {
    !at.is_null() && !matches!(at.json(), Json::Array(items) if items.is_empty())
}
