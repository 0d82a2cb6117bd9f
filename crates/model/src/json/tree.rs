//! JSON as it was sent: objects keep their order and their duplicate keys, which `serde_json::Value` would hide.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::{Number, Value};

use crate::limits;
use crate::problem::Problems;

/// It has no meaning in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn from_slice(body: &[u8]) -> Result<Self, Problems> {
        // Some editors and languages begin every text with a mark.
        let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
        if body.iter().all(u8::is_ascii_whitespace) {
            return Err(Problems::one("", "The request body is empty; a JSON body is required."));
        }
        let n_left = Cell::new(limits::JSON_VALUES);
        let mut deserializer = serde_json::Deserializer::from_slice(body);
        let tree = Counted(&n_left).deserialize(&mut deserializer);
        let whole = tree.and_then(|tree| deserializer.end().map(|()| tree));
        whole.map_err(|error| match error.is_data() {
            // Every kind of value is accepted here, so the only possible data error is too many values.
            true => Problems::one("", too_many()),
            false => Problems::one("", format!("The body is not valid JSON: {error}.")),
        })
    }

    /// The value under a key of an object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(entries) => entries.iter().rfind(|(name, _)| name == key).map(|(_, value)| value),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => None,
        }
    }

    /// The name of the type, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Number(_) => "a number",
            Json::String(_) => "a string",
            Json::Array(_) => "an array",
            Json::Object(_) => "an object",
        }
    }

    /// For genuinely free-form data. Of duplicate keys the last one stays.
    pub fn to_value(&self) -> Value {
        match self {
            Json::Null => Value::Null,
            Json::Bool(b) => Value::Bool(*b),
            Json::Number(n) => Value::Number(n.clone()),
            Json::String(s) => Value::String(s.clone()),
            Json::Array(items) => Value::Array(items.iter().map(Json::to_value).collect()),
            Json::Object(entries) => {
                Value::Object(entries.iter().map(|(key, value)| (key.clone(), value.to_value())).collect())
            }
        }
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(number) => Json::Number(number.clone()),
            Value::String(text) => Json::String(text.clone()),
            Value::Array(items) => Json::Array(items.iter().map(Json::from).collect()),
            Value::Object(entries) => {
                Json::Object(entries.iter().map(|(key, value)| (key.clone(), Json::from(value))).collect())
            }
        }
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(number) => number.serialize(serializer),
            Json::String(text) => serializer.serialize_str(text),
            Json::Array(items) => serializer.collect_seq(items),
            Json::Object(entries) => serializer.collect_map(entries.iter().map(|(key, value)| (key, value))),
        }
    }
}

fn too_many() -> String {
    format!("The body has more than {} values; split it into several requests.", limits::JSON_VALUES)
}

/// Reads a value while more of them are allowed.
struct Counted<'c>(&'c Cell<usize>);

impl<'de> DeserializeSeed<'de> for Counted<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        let n_left = self.0.get().checked_sub(1).ok_or_else(|| D::Error::custom(too_many()))?;
        self.0.set(n_left);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Counted<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(Counted(self.0))? {
            items.push(item);
        }
        // Most arrays and objects are shorter than the capacity that the first item reserves.
        items.shrink_to_fit();
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = access.next_key()? {
            entries.push((key, access.next_value_seed(Counted(self.0))?));
        }
        entries.shrink_to_fit();
        Ok(Json::Object(entries))
    }
}
