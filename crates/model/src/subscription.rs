//! Subscription lists: channels subscribe for themselves, named users for a kind of channel.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::attribute;
use crate::device_type::DeviceType;
use crate::json::At;
use crate::limits;
use crate::request_audience::OwnerAudience;
use crate::time::UtcMillis;

#[cfg(test)]
mod tests;

/// 1 to 32 characters, none of them a control character.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct SubscriptionListId(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SubscriptionAction {
    Subscribe,
    Unsubscribe,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriptionOperation {
    pub action: SubscriptionAction,
    pub list_id: SubscriptionListId,
    /// When it was decided; now, if not given.
    pub timestamp: Option<UtcMillis>,
}

/// A change of the subscriptions of channels and named users, in the order of the operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriptionUpdate {
    pub audience: OwnerAudience,
    pub operations: Vec<SubscriptionOperation>,
}

/// An operation on a named user, for one kind of the user's channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopedOperation {
    pub operation: SubscriptionOperation,
    pub scope: Scope,
}

/// The kind of channel that a named user subscribes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    App,
    Web,
    Email,
    Sms,
}

/// One subscription: that of a channel for itself, or that of a named user for the user's channels of one scope.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subscription {
    pub list: SubscriptionListId,
    /// `None` for a channel's own.
    pub scope: Option<Scope>,
}

/// The subscriptions of a named user. A scope without lists is left out.
pub type ScopedSubscriptions = BTreeMap<Scope, BTreeSet<SubscriptionListId>>;

/// A change of the subscriptions of one named user, in the order of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopedUpdate(pub Vec<ScopedChange>);

/// No list is on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopedChange {
    pub scopes: BTreeSet<Scope>,
    pub subscribe: BTreeSet<SubscriptionListId>,
    pub unsubscribe: BTreeSet<SubscriptionListId>,
}

impl SubscriptionListId {
    pub fn new(text: &str) -> Result<Self, &'static str> {
        let is_sized = (1..=limits::SUBSCRIPTION_LIST_ID_CHARS).contains(&text.chars().count());
        if !is_sized || text.contains(char::is_control) {
            return Err("The id of a subscription list has 1 to 32 characters, none of them a control character.");
        }
        Ok(Self(text.to_owned()))
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::new(at.string()?).or_else(|message| at.invalid(message).ok_or(())).ok()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SubscriptionAction {
    pub(crate) fn parse(at: &At<'_>) -> Option<Self> {
        at.choice(&[("subscribe", SubscriptionAction::Subscribe), ("unsubscribe", SubscriptionAction::Unsubscribe)])
    }
}

impl SubscriptionUpdate {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let audience = fields.required("audience", OwnerAudience::parse);
        let operations = fields.required("subscription_lists", operations);
        fields.finish();
        Some(Self { audience: audience?, operations: operations? })
    }
}

/// One operation or several.
pub(crate) fn operations(at: &At<'_>) -> Option<Vec<SubscriptionOperation>> {
    at.each_or_passed_over(1..=limits::SUBSCRIPTIONS_PER_REQUEST, SubscriptionOperation::parse)
}

impl SubscriptionOperation {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let action = fields.required("action", SubscriptionAction::parse);
        let list_id = fields.required("list_id", SubscriptionListId::parse);
        let timestamp = fields.nullable("timestamp", attribute::timestamp);
        fields.finish();
        Some(Self { action: action?, list_id: list_id?, timestamp })
    }
}

impl ScopedOperation {
    pub(crate) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let action = fields.required("action", SubscriptionAction::parse);
        let list_id = fields.required("list_id", SubscriptionListId::parse);
        let scope = fields.required("scope", Scope::parse);
        let timestamp = fields.nullable("timestamp", attribute::timestamp);
        fields.finish();
        Some(Self { operation: SubscriptionOperation { action: action?, list_id: list_id?, timestamp }, scope: scope? })
    }
}

impl Scope {
    pub const ALL: [Scope; 4] = [Scope::App, Scope::Web, Scope::Email, Scope::Sms];

    /// The scope that channels of a type belong to.
    pub const fn of(device_type: &DeviceType) -> Self {
        match device_type {
            DeviceType::Ios | DeviceType::Android | DeviceType::Amazon | DeviceType::Wns | DeviceType::Open(_) => {
                Scope::App
            }
            DeviceType::Web => Scope::Web,
            DeviceType::Email => Scope::Email,
            DeviceType::Sms | DeviceType::Mms => Scope::Sms,
        }
    }

    fn parse(at: &At<'_>) -> Option<Self> {
        at.choice(&[("app", Scope::App), ("web", Scope::Web), ("email", Scope::Email), ("sms", Scope::Sms)])
    }
}

impl ScopedUpdate {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let changes =
            fields.required("scoped", |at| at.one_or_many(1..=limits::SUBSCRIPTIONS_PER_REQUEST, ScopedChange::parse));
        fields.finish();
        Some(Self(changes?.into_vec()))
    }

    pub fn apply(&self, subscriptions: &mut ScopedSubscriptions) {
        for change in &self.0 {
            for scope in &change.scopes {
                let lists = subscriptions.entry(*scope).or_default();
                lists.retain(|list| !change.unsubscribe.contains(list));
                lists.extend(change.subscribe.iter().cloned());
            }
        }
        subscriptions.retain(|_, lists| !lists.is_empty());
    }
}

impl ScopedChange {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let scopes = fields.required("scope", |at| at.one_or_many(1..=Scope::ALL.len(), Scope::parse));
        let lists = fields.required("subscription_lists", |at| {
            let mut fields = at.object()?;
            let subscribe = fields.optional("subscribe", list_ids).unwrap_or_default();
            let unsubscribe = fields.optional("unsubscribe", list_ids).unwrap_or_default();
            if !fields.has("subscribe") && !fields.has("unsubscribe") {
                at.invalid::<()>("One of 'subscribe' and 'unsubscribe' must be given.");
            }
            if let Some(both) = subscribe.intersection(&unsubscribe).next() {
                let message = format!("The list '{both}' cannot be subscribed to and unsubscribed from at once.");
                at.invalid_key::<()>("unsubscribe", message);
            }
            fields.finish();
            Some((subscribe, unsubscribe))
        });
        fields.finish();
        let (subscribe, unsubscribe) = lists?;
        Some(Self { scopes: scopes?.into_vec().into_iter().collect(), subscribe, unsubscribe })
    }
}

fn list_ids(at: &At<'_>) -> Option<BTreeSet<SubscriptionListId>> {
    let ids = at.one_or_many(0..=limits::SUBSCRIPTIONS_PER_REQUEST, SubscriptionListId::parse)?;
    Some(ids.into_vec().into_iter().collect())
}

impl TryFrom<String> for SubscriptionListId {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text)
    }
}

impl fmt::Display for SubscriptionListId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
