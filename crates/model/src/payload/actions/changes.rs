//! Actions that change the data of the device or its user: events, attributes, tags, subscriptions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::json::body::{Body, Read, Words};
use crate::json::{At, OneOrMany};
use crate::limits;
use crate::payload::decimal::Decimal;
use crate::subscription::SubscriptionAction;
use crate::tag::{Tag, TagGroup};

/// A custom event that a tap causes.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(name = "CustomEventAction")]
pub struct CustomEvent {
    /// The name of the event.
    #[body(length = 1..=limits::EVENT_NAME_CHARS)]
    pub name: String,
    /// The number that reports add up.
    #[body(range = f64::MIN..=f64::MAX)]
    pub value: Option<Decimal>,
    /// Further data, by name.
    pub properties: Option<BTreeMap<String, Value>>,
}

/// The subject whose attributes, tags or subscriptions change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Subject {
    Channel,
    Contact,
}

/// A change of one attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Read, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
#[schemars(deny_unknown_fields)]
pub enum AttributeChange {
    Set {
        #[serde(rename = "type")]
        subject: Subject,
        #[schemars(length(min = 1, max = limits::ATTRIBUTE_NAME_CHARS))]
        name: String,
        value: Value,
    },
    Remove {
        #[serde(rename = "type")]
        subject: Subject,
        #[schemars(length(min = 1, max = limits::ATTRIBUTE_NAME_CHARS))]
        name: String,
    },
}

/// A change of tags.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct TagChange {
    /// Whether tags of the channel or of its user change.
    #[body(rename = "type")]
    pub subject: Subject,
    /// Whether tags are added or removed.
    #[body(rename = "action")]
    pub operation: TagOperation,
    /// The group of the tags.
    pub group: Option<TagGroup>,
    /// The tags.
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

impl AttributeChange {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let sets = fields.required("action", |action| action.choice(&[("set", true), ("remove", false)]));
        let subject = fields.required("type", Subject::parse);
        let name = fields.required("name", |name| name.text(1..=limits::ATTRIBUTE_NAME_CHARS));
        let value = match sets {
            Some(true) => fields.required("value", attribute_value),
            Some(false) => None,
            None => fields.optional("value", attribute_value),
        };
        fields.finish();
        Some(match sets? {
            true => AttributeChange::Set { subject: subject?, name: name?, value: value? },
            false => AttributeChange::Remove { subject: subject?, name: name? },
        })
    }
}

fn attribute_value(at: &At<'_>) -> Option<Value> {
    if at.is_null() {
        return at.invalid("An attribute cannot be set to null; use the action 'remove'.");
    }
    Some(at.json().to_value())
}
