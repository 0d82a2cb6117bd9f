//! Several keys for one platform: the first is used until the provider refuses it, then the next takes over, so that a key
//! can be replaced without missing a message.

use std::borrow::Cow;

use model::json::{At, Json};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::KeyView;

/// More keys than this are not a rotation.
pub const MOST_KEYS: usize = 10;

/// At least one key, in the order in which they are tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<T>", into = "Vec<T>", bound(serialize = "T: Clone + Serialize"))]
pub struct Keys<T>(Vec<T>);

impl<T> Keys<T> {
    pub fn one(key: T) -> Self {
        Self(vec![key])
    }

    pub fn first(&self) -> &T {
        self.0.first().expect("there is no way to make an empty list of keys")
    }

    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    pub(super) fn parse(at: &At<'_>, mut read: impl FnMut(&At<'_>) -> Option<T>) -> Option<Self> {
        let has_several = matches!(at.json(), Json::Object(entries) if entries.iter().any(|(key, _)| key == "keys"));
        if !has_several {
            return read(at).map(Self::one);
        }
        let mut fields = at.object()?;
        let keys = fields.required("keys", |at| at.array(1..=MOST_KEYS, read));
        fields.finish();
        keys.map(Self)
    }

    pub(super) fn with(mut self, more: Self, view: impl Fn(&T) -> KeyView) -> Option<Self> {
        for new in more.0 {
            let fingerprint = view(&new).fingerprint;
            match self.0.iter().position(|known| view(known).fingerprint == fingerprint) {
                Some(i) => self.0[i] = new,
                None => self.0.push(new),
            }
        }
        (self.0.len() <= MOST_KEYS).then_some(self)
    }

    pub(super) fn without(mut self, fingerprint: &str, view: impl Fn(&T) -> KeyView) -> Option<Self> {
        self.0.retain(|key| view(key).fingerprint != fingerprint);
        (!self.0.is_empty()).then_some(self)
    }
}

impl<T> TryFrom<Vec<T>> for Keys<T> {
    type Error = &'static str;
    fn try_from(keys: Vec<T>) -> Result<Self, Self::Error> {
        if keys.is_empty() { Err("a platform has at least one key") } else { Ok(Self(keys)) }
    }
}

impl<T> From<Keys<T>> for Vec<T> {
    fn from(keys: Keys<T>) -> Vec<T> {
        keys.0
    }
}

impl<T: JsonSchema> JsonSchema for Keys<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Keys{}", T::schema_name()).into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let one = schemas.subschema_for::<T>();
        json_schema!({"anyOf": [one, {
            "type": "object",
            "description": "Several keys of one provider, in the order in which they are tried.",
            "properties": {"keys": {"type": "array", "minItems": 1, "maxItems": MOST_KEYS, "items": one}},
            "required": ["keys"],
            "additionalProperties": false,
        }]})
    }
}
