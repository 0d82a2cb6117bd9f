//! Attributes: the data about a channel or a named user apart from tags. Changing them, and deciding whether an
//! attribute satisfies a selector.

mod calendar;
mod datum;
mod matching;
mod property_path;
mod value;

#[cfg(test)]
mod tests;

pub use matching::{matches, property_matches};
pub use value::{AttributeValue, has_ended};

use std::collections::BTreeMap;
use std::fmt;

use schemars::json_schema;
use serde::{Deserialize, Serialize};

use crate::json::body::{Body, Read};
use crate::json::{At, Fields, OneOrMany, schema};
use crate::limits;
use crate::request_audience::OwnerAudience;
use crate::selector::instant;
use crate::time::UtcMillis;

/// The name of an attribute: 1 to 64 characters, for a JSON object followed by `#` and the name of the instance. An
/// attribute of that kind has as many objects as it has instances.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Read)]
#[serde(try_from = "String")]
#[body(schema = schema::text(1..=limits::ATTRIBUTE_NAME_CHARS + 1 + limits::ATTRIBUTE_INSTANCE_CHARS))]
pub struct AttributeKey(String);

#[derive(Clone, Debug, PartialEq, Read)]
#[body(schema = json_schema!({
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": ["set", "remove"]},
        "key": schemas.subschema_for::<AttributeKey>(),
        "value": {"type": ["string", "number", "object"], "maxLength": limits::ATTRIBUTE_TEXT_CHARS},
        "timestamp": {"type": ["string", "null"]},
    },
    "required": ["action", "key"],
    "additionalProperties": false,
}))]
pub struct AttributeOperation {
    pub key: AttributeKey,
    pub action: AttributeAction,
    /// When it was decided; now, if not given.
    pub timestamp: Option<UtcMillis>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AttributeAction {
    Set(AttributeValue),
    /// One client library leaves out a value that is zero or empty, so that only the attribute itself can tell which.
    SetZeroOrEmpty,
    Remove,
}

/// A change of the attributes of channels and named users.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed)]
pub struct AttributeUpdate {
    pub audience: OwnerAudience,
    #[body(
        rename = "attributes",
        read = operations,
        length = 1..=limits::ATTRIBUTES_PER_REQUEST,
        like = OneOrMany<AttributeOperation>
    )]
    pub operations: Vec<AttributeOperation>,
}

/// A change of the attributes of the one channel or named user that the URL names.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed)]
pub struct AttributesOfOne(
    #[body(
        rename = "attributes",
        read = operations,
        length = 1..=limits::ATTRIBUTES_PER_REQUEST,
        like = OneOrMany<AttributeOperation>
    )]
    pub Vec<AttributeOperation>,
);

/// One operation or several.
pub(crate) fn operations(at: &At<'_>) -> Option<Vec<AttributeOperation>> {
    at.each_or_passed_over(1..=limits::ATTRIBUTES_PER_REQUEST, AttributeOperation::parse)
}

impl AttributeOperation {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let is_set = fields.required("action", |at| at.choice(&[("set", true), ("remove", false)]));
        let key = fields.required("key", AttributeKey::parse);
        let timestamp = fields.nullable("timestamp", timestamp);
        let action = match is_set {
            Some(true) => set(&mut fields, key.as_ref()),
            Some(false) => Some(AttributeAction::Remove),
            None => fields.take("value").and(None),
        };
        fields.finish();
        Some(Self { key: key?, action: action?, timestamp })
    }

    /// When it was decided, by which of two operations on one attribute the later one wins. Nothing is decided in the
    /// future.
    pub fn decided(&self, now: UtcMillis) -> UtcMillis {
        self.timestamp.unwrap_or(now).min(now)
    }

    /// The value that the attribute is to have; `None` if it is to have none.
    pub fn value(&self, current: Option<&AttributeValue>) -> Option<AttributeValue> {
        match &self.action {
            AttributeAction::Set(value) => Some(value.clone()),
            AttributeAction::SetZeroOrEmpty => Some(self.zero_or_empty(current)),
            AttributeAction::Remove => None,
        }
    }

    /// An empty object if the key is for objects, empty text if the attribute has been text, otherwise zero.
    fn zero_or_empty(&self, current: Option<&AttributeValue>) -> AttributeValue {
        if self.key.has_instance() {
            return AttributeValue::Json(BTreeMap::new());
        }
        match current {
            Some(AttributeValue::Text(_) | AttributeValue::Date(_)) => AttributeValue::Text(String::new()),
            Some(AttributeValue::Number(_) | AttributeValue::Json(_)) | None => AttributeValue::Number(0.into()),
        }
    }
}

fn set(fields: &mut Fields<'_>, key: Option<&AttributeKey>) -> Option<AttributeAction> {
    let Some(at) = fields.take("value") else { return Some(AttributeAction::SetZeroOrEmpty) };
    AttributeValue::parse_of(&at, key).map(AttributeAction::Set)
}

pub(crate) fn timestamp(at: &At<'_>) -> Option<UtcMillis> {
    match instant(at.string()?) {
        Some(instant) => Some(instant),
        None => at.invalid("This must be a date-time, such as 2024-05-01T12:00:00."),
    }
}

impl AttributeKey {
    pub fn new(text: &str) -> Result<Self, &'static str> {
        let (name, instance) = match text.split_once('#') {
            Some((name, instance)) => (name, Some(instance)),
            None => (text, None),
        };
        if !(1..=limits::ATTRIBUTE_NAME_CHARS).contains(&name.chars().count()) {
            return Err("The name of an attribute has 1 to 64 characters.");
        }
        let is_instance = |text: &str| (1..=limits::ATTRIBUTE_INSTANCE_CHARS).contains(&text.chars().count());
        if !instance.is_none_or(is_instance) {
            return Err("The name of an instance has 1 to 64 characters.");
        }
        if text.contains(char::is_control) {
            return Err("The name of an attribute must not contain control characters.");
        }
        Ok(Self(text.to_owned()))
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::new(at.string()?).or_else(|message| at.invalid(message).ok_or(())).ok()
    }

    fn has_instance(&self) -> bool {
        self.0.contains('#')
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for AttributeKey {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text)
    }
}

impl fmt::Display for AttributeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
