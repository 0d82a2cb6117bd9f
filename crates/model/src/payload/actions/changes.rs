//! Actions that change the data of the device or its user: events, attributes, tags, subscriptions.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::json::body::{Body, Words};
use crate::json::{At, OneOrMany};
use crate::limits;
use crate::payload::decimal::Decimal;
use crate::subscription::SubscriptionAction;
use crate::tag::{Tag, TagGroup};

/// A custom event that a tap causes.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(name = "CustomEventAction")]
pub struct CustomEvent {
    #[body(length = 1..=limits::EVENT_NAME_CHARS)]
    pub name: String,
    #[body(range = f64::MIN..=f64::MAX)]
    pub value: Option<Decimal>,
    pub properties: Option<BTreeMap<String, Value>>,
}

/// The subject whose attributes, tags or subscriptions change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Subject {
    Channel,
    Contact,
}

/// A change of one attribute.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(tag = "action")]
pub enum AttributeChange {
    Set {
        #[body(rename = "type")]
        subject: Subject,
        #[body(length = 1..=limits::ATTRIBUTE_NAME_CHARS)]
        name: String,
        #[body(read = attribute_value)]
        value: Value,
    },
    Remove {
        #[body(rename = "type")]
        subject: Subject,
        #[body(length = 1..=limits::ATTRIBUTE_NAME_CHARS)]
        name: String,
    },
}

/// A change of tags.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct TagChange {
    #[body(rename = "type")]
    pub subject: Subject,
    #[body(rename = "action")]
    pub operation: TagOperation,
    pub group: Option<TagGroup>,
    #[body(length = 1..=limits::TAGS_PER_OPERATION)]
    pub tags: OneOrMany<Tag>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
#[words(name = "TagChangeOperation")]
pub enum TagOperation {
    Add,
    Remove,
}

/// A change of one subscription.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct SubscriptionChange {
    #[body(rename = "type")]
    pub subject: Subject,
    #[body(rename = "action")]
    pub operation: SubscriptionAction,
    #[body(length = 1..=limits::SUBSCRIPTION_LIST_ID_CHARS)]
    pub list_id: String,
    #[body(length = 1..=limits::SUBSCRIPTION_LIST_ID_CHARS)]
    pub scope: Option<String>,
}

fn attribute_value(at: &At<'_>) -> Option<Value> {
    if at.is_null() {
        return at.invalid("An attribute cannot be set to null; use the action 'remove'.");
    }
    Some(at.json().to_value())
}
