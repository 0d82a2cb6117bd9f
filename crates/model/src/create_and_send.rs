//! Create and send: a push that brings its recipients along, by their addresses on an open platform. Addresses that are
//! not registered yet are registered with it, and its texts can differ for each recipient.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::channel::open_address;
use crate::device_type::DeviceType;
use crate::json::{At, Json};
use crate::limits;
use crate::payload::Push;
use crate::selector::{Audience, Purpose};
use crate::template::{VariableKey, key_rule};

/// The audience of such a push: at least one recipient, and none of them twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipients(Vec<NewRecipient>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRecipient {
    pub address: String,
    /// For the texts of the push, by their names; none of them is null. Rows of earlier versions have texts only.
    pub values: BTreeMap<String, Value>,
}

/// The key of the audience under which the recipients are.
pub const KEY: &str = "create_and_send";
/// The key, or the column of a file, with the address of a recipient.
pub(crate) const ADDRESS: &str = "ua_address";
/// Every other key of a recipient that begins with this is a key of the hosted service.
pub(crate) const RESERVED: &str = "ua_";

impl Push {
    /// A push that has to bring its recipients along, or name the file that they are in.
    pub fn parse_create_and_send(at: &At<'_>) -> Option<Self> {
        // Recipients of other kinds have other keys, and complaining about each of them would help nobody.
        if let Some(name) = unreachable_type(at.json()) {
            return at.invalid_key(
                "device_types",
                format!(
                    "Nothing can be sent to {name} by this service; such a push goes to an open platform, such as \
                     [\"open::kiosk\"], or to the channels of an uploaded file."
                ),
            );
        }
        let push = Self::parse_with(at, Purpose::CreateAndSend)?;
        match push.audience {
            Audience::CreateAndSend(_) | Audience::Uploaded(_) => Some(push),
            Audience::All(_) | Audience::Triggered(_) | Audience::Selector(_) => at.invalid_key(
                "audience",
                format!("The audience must be {{\"{KEY}\": [{{\"{ADDRESS}\": …}}, …]}}; others are for /api/push."),
            ),
        }
    }
}

fn unreachable_type(push: &Json) -> Option<&str> {
    let Some(Json::Array(types)) = push.get("device_types") else { return None };
    types.iter().find_map(|name| match name {
        Json::String(name) => (!DeviceType::from_name(name)?.has_channels()).then_some(name.as_str()),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => None,
    })
}

impl Recipients {
    /// Whether an audience is of this kind, valid or not.
    pub(crate) fn are_meant(audience: &Json) -> bool {
        audience.get(KEY).is_some()
    }

    /// Reads the whole audience.
    pub(crate) fn parse(at: &At<'_>, purpose: Purpose) -> Option<Self> {
        match purpose {
            Purpose::CreateAndSend | Purpose::Stored => {}
            Purpose::Send | Purpose::Pipeline => {
                return at.invalid(
                    "A push brings its recipients along only with /api/create-and-send and \
                     /api/schedules/create-and-send.",
                );
            }
        }
        let mut fields = at.object()?;
        let recipients = fields.required(KEY, parse_all);
        fields.finish();
        recipients.map(Self)
    }

    pub fn as_slice(&self) -> &[NewRecipient] {
        &self.0
    }
}

fn parse_all(at: &At<'_>) -> Option<Vec<NewRecipient>> {
    let recipients = at.array(1..=limits::RECIPIENTS_PER_REQUEST, NewRecipient::parse)?;
    let mut seen = HashSet::with_capacity(recipients.len());
    match recipients.iter().position(|recipient| !seen.insert(recipient.address.as_str())) {
        None => Some(recipients),
        Some(n) => {
            let message = format!("The address '{}' is given more than once.", recipients[n].address);
            at.items(0..=usize::MAX)?.get(n)?.invalid_key(ADDRESS, message)
        }
    }
}

impl NewRecipient {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let address = fields.required(ADDRESS, open_address);
        let mut values = BTreeMap::new();
        for (key, at) in fields.rest() {
            if key.starts_with(RESERVED) {
                at.invalid::<()>(format!(
                    "The key '{key}' is not allowed in this context: a recipient on an open platform has '{ADDRESS}' and \
                     values for the variables of the push."
                ));
            } else if VariableKey::new(key).is_none() {
                at.invalid::<()>(key_rule());
            } else if !at.is_null() {
                values.insert(key.to_owned(), at.json().to_value());
            }
        }
        fields.finish();
        Some(Self { address: address?, values })
    }
}

impl JsonSchema for Recipients {
    fn schema_name() -> Cow<'static, str> {
        "Recipients".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let recipient = json!({
            "type": "object",
            "properties": {ADDRESS: {"type": "string", "minLength": 1, "maxLength": limits::OPEN_ADDRESS_CHARS}},
            "required": [ADDRESS],
            "additionalProperties": {"description": "A value for the texts of the push, under this name; null for none."},
        });
        json_schema!({
            "type": "object",
            "properties": {
                KEY: {"type": "array", "minItems": 1, "maxItems": limits::RECIPIENTS_PER_REQUEST, "items": recipient},
            },
            "required": [KEY],
            "additionalProperties": false,
        })
    }
}

impl Serialize for Recipients {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(KEY, &self.0)?;
        map.end()
    }
}

impl Serialize for NewRecipient {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1 + self.values.len()))?;
        map.serialize_entry(ADDRESS, &self.address)?;
        for (key, value) in &self.values {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
