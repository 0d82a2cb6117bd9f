//! Actions that change the data of the device or its user: events, attributes, tags, subscriptions.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::json::{At, OneOrMany};
use crate::limits;
use crate::payload::decimal::Decimal;
use crate::subscription::SubscriptionAction;
use crate::tag::{Tag, TagGroup};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CustomEvent {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Decimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<BTreeMap<String, Value>>,
}

/// The subject whose attributes, tags or subscriptions change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    Channel,
    Contact,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum AttributeChange {
    Set {
        #[serde(rename = "type")]
        subject: Subject,
        name: String,
        value: Value,
    },
    Remove {
        #[serde(rename = "type")]
        subject: Subject,
        name: String,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TagChange {
    #[serde(rename = "type")]
    pub subject: Subject,
    #[serde(rename = "action")]
    pub operation: TagOperation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<TagGroup>,
    pub tags: OneOrMany<Tag>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TagOperation {
    Add,
    Remove,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SubscriptionChange {
    #[serde(rename = "type")]
    pub subject: Subject,
    #[serde(rename = "action")]
    pub operation: SubscriptionAction,
    pub list_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

impl CustomEvent {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let name = fields.required("name", |name| name.text(1..=limits::EVENT_NAME_CHARS));
        let value = fields.optional("value", |value| Decimal::parse(value, f64::MIN..=f64::MAX));
        let properties = fields.optional("properties", |properties| {
            properties.object()?.into_map(0..=usize::MAX, |value| Some(value.json().to_value()))
        });
        fields.finish();
        Some(Self { name: name?, value, properties })
    }
}

impl Subject {
    fn parse(at: &At<'_>) -> Option<Self> {
        at.choice(&[("channel", Subject::Channel), ("contact", Subject::Contact)])
    }
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

impl TagChange {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let subject = fields.required("type", Subject::parse);
        let operation = fields.required("action", |action| {
            action.choice(&[("add", TagOperation::Add), ("remove", TagOperation::Remove)])
        });
        let group = fields.optional("group", TagGroup::parse);
        let tags = fields.required("tags", |tags| tags.one_or_many(1..=limits::TAGS_PER_OPERATION, Tag::parse));
        fields.finish();
        Some(Self { subject: subject?, operation: operation?, group, tags: tags? })
    }
}

impl SubscriptionChange {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let subject = fields.required("type", Subject::parse);
        let operation = fields.required("action", SubscriptionAction::parse);
        let list_id = fields.required("list_id", |id| id.text(1..=limits::SUBSCRIPTION_LIST_ID_CHARS));
        let scope = fields.optional("scope", |scope| scope.text(1..=limits::SUBSCRIPTION_LIST_ID_CHARS));
        fields.finish();
        Some(Self { subject: subject?, operation: operation?, list_id: list_id?, scope })
    }
}
