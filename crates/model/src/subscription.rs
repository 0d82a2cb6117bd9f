//! Subscription lists: channels subscribe for themselves, named users for a kind of channel.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::attribute;
use crate::device_type::DeviceType;
use crate::json::body::{Body, Read, Words};
use crate::json::{At, Fields, OneOrMany, schema};
use crate::limits;
use crate::request_audience::OwnerAudience;
use crate::time::{self, UtcMillis};

#[cfg(test)]
mod tests;

/// 1 to 32 characters, none of them a control character.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Read)]
#[serde(try_from = "String")]
#[body(schema = schema::text(1..=limits::SUBSCRIPTION_LIST_ID_CHARS))]
pub struct SubscriptionListId(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum SubscriptionAction {
    Subscribe,
    Unsubscribe,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct SubscriptionOperation {
    pub action: SubscriptionAction,
    pub list_id: SubscriptionListId,
    /// When it was decided; now, if not given.
    #[body(read = attribute::timestamp, nullable, schema = time::schema)]
    pub timestamp: Option<UtcMillis>,
}

/// A change of the subscriptions of channels and named users, in the order of the operations.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct SubscriptionUpdate {
    pub audience: OwnerAudience,
    #[body(
        rename = "subscription_lists",
        read = operations,
        length = 1..=limits::SUBSCRIPTIONS_PER_REQUEST,
        like = OneOrMany<SubscriptionOperation>
    )]
    pub operations: Vec<SubscriptionOperation>,
}

/// An operation on a named user, for one kind of the user's channels.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct ScopedOperation {
    #[body(flatten)]
    pub operation: SubscriptionOperation,
    pub scope: Scope,
}

/// The kind of channel that a named user subscribes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Words)]
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
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct ScopedUpdate(
    #[body(
        rename = "scoped",
        read = scoped,
        length = 1..=limits::SUBSCRIPTIONS_PER_REQUEST,
        like = OneOrMany<ScopedChange>
    )]
    pub Vec<ScopedChange>,
);

/// A change of subscriptions for some kinds of channels. No list is subscribed to and unsubscribed from at
/// once.
#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(schema = ScopedBody::json_schema(schemas))]
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

/// One operation or several.
pub(crate) fn operations(at: &At<'_>) -> Option<Vec<SubscriptionOperation>> {
    at.each_or_passed_over(1..=limits::SUBSCRIPTIONS_PER_REQUEST, SubscriptionOperation::parse)
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
}

impl ScopedUpdate {
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
        let ScopedBody { scopes, lists: ListChanges { subscribe, unsubscribe } } = ScopedBody::parse(at)?;
        Some(Self { scopes, subscribe, unsubscribe })
    }
}

#[derive(Body)]
#[body(not_printed)]
struct ScopedBody {
    #[body(rename = "scope", read = scopes, length = 1..=Scope::ALL.len(), like = OneOrMany<Scope>)]
    scopes: BTreeSet<Scope>,
    #[body(rename = "subscription_lists")]
    lists: ListChanges,
}

/// Lists to subscribe to and to unsubscribe from, none of them both at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Body)]
#[body(not_printed, keys = |fields| refuse_contradiction(fields, &subscribe, &unsubscribe))]
pub struct ListChanges {
    #[body(
        read = list_ids,
        default,
        length = 0..=limits::SUBSCRIPTIONS_PER_REQUEST,
        like = OneOrMany<SubscriptionListId>
    )]
    pub subscribe: BTreeSet<SubscriptionListId>,
    #[body(
        read = list_ids,
        default,
        length = 0..=limits::SUBSCRIPTIONS_PER_REQUEST,
        like = OneOrMany<SubscriptionListId>
    )]
    pub unsubscribe: BTreeSet<SubscriptionListId>,
}

fn refuse_contradiction(
    fields: &Fields<'_>,
    subscribe: &BTreeSet<SubscriptionListId>,
    unsubscribe: &BTreeSet<SubscriptionListId>,
) {
    if !fields.has("subscribe") && !fields.has("unsubscribe") {
        fields.at().invalid::<()>("One of 'subscribe' and 'unsubscribe' must be given.");
    }
    if let Some(both) = subscribe.intersection(unsubscribe).next() {
        let message = format!("The list '{both}' cannot be subscribed to and unsubscribed from at once.");
        fields.at().invalid_key::<()>("unsubscribe", message);
    }
}

fn scoped(at: &At<'_>) -> Option<Vec<ScopedChange>> {
    at.one_or_many(1..=limits::SUBSCRIPTIONS_PER_REQUEST, ScopedChange::parse).map(OneOrMany::into_vec)
}

pub(crate) fn scopes(at: &At<'_>) -> Option<BTreeSet<Scope>> {
    Some(at.one_or_many(1..=Scope::ALL.len(), Scope::parse)?.into_vec().into_iter().collect())
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
