//! The value of an attribute. The type of an attribute is not declared: it follows from each value.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Number, Value};

use super::AttributeKey;
use crate::json::{At, Json};
use crate::limits;
use crate::selector::instant;
use crate::time::UtcMillis;

#[derive(Clone, Debug, PartialEq)]
pub enum AttributeValue {
    Text(String),
    Number(Number),
    /// Text that is a date and a time of day. A date alone stays text, and still counts as a date where a date is compared.
    Date(UtcMillis),
    Json(BTreeMap<String, Value>),
}

/// The property of an object that says when it ends, in seconds since 1970.
const END: &str = "exp";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Whether a stored value says of itself that it has ended.
pub fn has_ended(stored: &Value, now: UtcMillis) -> bool {
    end(stored.get(END)).is_some_and(|end| end <= now)
}

fn end(told: Option<&Value>) -> Option<UtcMillis> {
    told?.as_i64().map(|seconds| UtcMillis(seconds.saturating_mul(1000)))
}

impl AttributeValue {
    /// When the value ends, if it is set now: objects do, and may say when.
    pub fn ends(&self, now: UtcMillis) -> Option<UtcMillis> {
        let AttributeValue::Json(json) = self else { return None };
        let after = |days: u32| now.plus(DAY * days);
        let told = end(json.get(END)).unwrap_or(after(limits::ATTRIBUTE_OBJECT_DAYS));
        Some(told.min(after(limits::ATTRIBUTE_OBJECT_MOST_DAYS)))
    }

    /// Whether the value says of itself that it has ended.
    pub fn has_ended(&self, now: UtcMillis) -> bool {
        match self {
            AttributeValue::Json(json) => end(json.get(END)).is_some_and(|end| end <= now),
            AttributeValue::Text(_) | AttributeValue::Number(_) | AttributeValue::Date(_) => false,
        }
    }

    /// The value of the attribute of a key. `None` for the key when that cannot be read.
    pub(crate) fn parse_of(at: &At<'_>, key: Option<&AttributeKey>) -> Option<Self> {
        let value = Self::parse(at)?;
        match (&value, key?.has_instance()) {
            // Without an instance, there is one object of the attribute's own name.
            (AttributeValue::Json(_), true | false) => Some(value),
            (AttributeValue::Text(_) | AttributeValue::Number(_) | AttributeValue::Date(_), false) => Some(value),
            (AttributeValue::Text(_) | AttributeValue::Number(_) | AttributeValue::Date(_), true) => {
                at.invalid("A key with '#' is for objects; this must be an object.")
            }
        }
    }

    fn parse(at: &At<'_>) -> Option<Self> {
        match at.json() {
            Json::String(_) => at.text(0..=limits::ATTRIBUTE_TEXT_CHARS).map(Self::from_text),
            Json::Number(number) => Some(AttributeValue::Number(number.clone())),
            Json::Object(_) => {
                let json = at.object()?.into_map(0..=usize::MAX, |at| Some(at.json().to_value()))?;
                let n_bytes = at.json().to_value().to_string().len();
                if n_bytes > limits::ATTRIBUTE_JSON_BYTES {
                    let most = limits::ATTRIBUTE_JSON_BYTES;
                    return at.invalid(format!("This object must have at most {most} bytes; it has {n_bytes}."));
                }
                if json.contains_key(END) && end(json.get(END)).is_none() {
                    return at
                        .invalid_key(END, "This must be when the object ends: a whole number of seconds since 1970.");
                }
                Some(AttributeValue::Json(json))
            }
            Json::Null => at.invalid("An attribute cannot be set to null; use the action 'remove'."),
            other @ (Json::Bool(_) | Json::Array(_)) => {
                at.invalid(format!("This must be a string, a number or an object, not {}.", other.kind()))
            }
        }
    }

    /// The value of a cell of a file: a number, or a text, which may be a date. What would be printed in another way may be a code,
    /// which must stay as it is; as a text it is compared with numbers all the same.
    pub(crate) fn from_cell(cell: &str) -> Self {
        let is_exact = |number: &Number| number.to_string() == cell.trim() && (number.is_i64() || number.is_f64());
        match serde_json::from_str::<Number>(cell).ok().filter(is_exact) {
            Some(number) => AttributeValue::Number(number),
            None => Self::from_text(cell.to_owned()),
        }
    }

    fn from_text(text: String) -> Self {
        match date_and_time(&text) {
            Some(date) => AttributeValue::Date(date),
            None => AttributeValue::Text(text),
        }
    }
}

/// A date as the API prints it.
pub(super) fn date_text(date: UtcMillis) -> String {
    match date.0.rem_euclid(1000) {
        0 => date.to_api(),
        millis => format!("{}.{millis:03}", date.to_api()),
    }
}

fn date_and_time(text: &str) -> Option<UtcMillis> {
    let bytes = text.as_bytes();
    let has_shape = bytes.len() >= 16 && bytes[4] == b'-' && bytes[7] == b'-' && matches!(bytes[10], b'T' | b' ');
    // A value that could not be read back from its printed form stays as it is.
    instant(text).filter(|date| has_shape && instant(&date_text(*date)) == Some(*date))
}

impl Serialize for AttributeValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            AttributeValue::Text(text) => text.serialize(serializer),
            AttributeValue::Number(number) => number.serialize(serializer),
            AttributeValue::Date(date) => serializer.serialize_str(&date_text(*date)),
            AttributeValue::Json(json) => json.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for AttributeValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self::from_text(text)),
            Value::Number(number) => Ok(AttributeValue::Number(number)),
            Value::Object(json) => Ok(AttributeValue::Json(json.into_iter().collect())),
            other @ (Value::Null | Value::Bool(_) | Value::Array(_)) => {
                Err(D::Error::custom(format!("{other} is not the value of an attribute")))
            }
        }
    }
}
