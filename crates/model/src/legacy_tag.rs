//! The legacy tag endpoints: one tag for many devices, and many devices with all their tags.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::channel::{ChannelRef, ClaimedType, name_text};
use crate::device_type::DeviceType;
use crate::ids::ChannelId;
use crate::json::body::Read;
use crate::json::{self, At, Json, OneOrMany};
use crate::limits;
use crate::problem::Problems;
use crate::selector::DeviceToken;
use crate::tag::Tag;

#[cfg(test)]
mod tests;

/// A device by any of the ids that were ever used for devices.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LegacyDevice {
    Channel(ChannelRef),
    DeviceToken(DeviceToken),
    Apid(String),
    DevicePin(String),
}

/// Adds a tag, which the URL names, to devices and removes it from others. No device is on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(schema = {
    let devices = json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]});
    let lists = json!({"type": "object", "properties": {"add": devices, "remove": devices}, "additionalProperties": false});
    let keys: Map<_, _> = KINDS.iter().map(|(_, key, _)| ((*key).to_owned(), lists.clone())).collect();
    json_schema!({"type": "object", "properties": keys, "minProperties": 1, "additionalProperties": false})
})]
pub struct LegacyTagging {
    pub add: Vec<LegacyDevice>,
    pub remove: Vec<LegacyDevice>,
}

/// Devices of which each is to have exactly the given tags in the group `device`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagBatch(pub Vec<TagRow>);

#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(schema = {
    let tags = json!({"type": "array", "maxItems": limits::TAGS_PER_CHANNEL, "items": schemas.subschema_for::<Tag>()});
    let mut keys: Map<_, _> = KINDS.iter().map(|(key, ..)| ((*key).to_owned(), json!({"type": "string"}))).collect();
    keys.insert("tags".to_owned(), tags);
    json_schema!({"type": "object", "properties": keys, "required": ["tags"], "additionalProperties": false})
})]
pub struct TagRow {
    pub device: LegacyDevice,
    pub tags: BTreeSet<Tag>,
}

/// Why a batch is refused: as a whole, or because of some of its rows.
#[derive(Clone, Debug, PartialEq)]
pub enum BatchRefusal {
    Body(Problems),
    Rows(Vec<RowRefusal>),
}

/// A row as it was sent and what is wrong with it. Printed as an array of the two.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RowRefusal(pub Value, pub String);

/// More refused rows than this help nobody.
const MOST_REFUSALS: usize = 100;

enum Kind {
    Channel(Option<DeviceType>),
    DeviceToken,
    Apid,
    DevicePin,
}

/// The key of a row of a batch, the key of a list of devices, and the kind of the values under them.
const KINDS: [(&str, &str, Kind); 7] = [
    ("ios_channel", "ios_channels", Kind::Channel(Some(DeviceType::Ios))),
    ("android_channel", "android_channels", Kind::Channel(Some(DeviceType::Android))),
    ("amazon_channel", "amazon_channels", Kind::Channel(Some(DeviceType::Amazon))),
    ("channel", "channels", Kind::Channel(None)),
    ("device_token", "device_tokens", Kind::DeviceToken),
    ("apid", "apids", Kind::Apid),
    ("device_pin", "device_pins", Kind::DevicePin),
];

impl LegacyDevice {
    fn parse(at: &At<'_>, kind: &Kind) -> Option<Self> {
        Some(match kind {
            Kind::Channel(device_type) => LegacyDevice::Channel(ChannelRef {
                id: ChannelId::parse(at)?,
                claimed: device_type.clone().map(ClaimedType::Exactly),
            }),
            Kind::DeviceToken => LegacyDevice::DeviceToken(DeviceToken::parse(at)?),
            Kind::Apid => LegacyDevice::Apid(name_text(at, limits::PUSH_ADDRESS_CHARS)?),
            Kind::DevicePin => LegacyDevice::DevicePin(name_text(at, limits::PUSH_ADDRESS_CHARS)?),
        })
    }

    /// The same for a channel whatever type the caller takes it for.
    fn of_any_type(&self) -> Self {
        match self {
            LegacyDevice::Channel(channel) => LegacyDevice::Channel(ChannelRef { id: channel.id, claimed: None }),
            LegacyDevice::DeviceToken(_) | LegacyDevice::Apid(_) | LegacyDevice::DevicePin(_) => self.clone(),
        }
    }
}

impl LegacyTagging {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let mut by_key = Vec::new();
        for (_, key, kind) in &KINDS {
            by_key.extend(fields.optional(key, |at| Self::of_kind(at, kind)).map(|tagging| (key, tagging)));
        }
        if !KINDS.iter().any(|(_, key, _)| fields.has(key)) {
            let keys: Vec<_> = KINDS.iter().map(|(_, key, _)| format!("'{key}'")).collect();
            at.invalid::<()>(format!("One of {} must be given.", keys.join(", ")));
        }
        fields.finish();
        let added: HashSet<LegacyDevice> =
            by_key.iter().flat_map(|(_, tagging)| &tagging.add).map(LegacyDevice::of_any_type).collect();
        for (key, tagging) in &by_key {
            if tagging.remove.iter().any(|device| added.contains(&device.of_any_type())) {
                let message = "A tag cannot be added to and removed from the same device at once.";
                at.invalid_key::<()>(&format!("{key}.remove"), message);
            }
        }
        let mut all = Self { add: Vec::new(), remove: Vec::new() };
        for (_, tagging) in by_key {
            all.add.extend(tagging.add);
            all.remove.extend(tagging.remove);
        }
        Some(all)
    }

    fn of_kind(at: &At<'_>, kind: &Kind) -> Option<Self> {
        let mut fields = at.object()?;
        let devices = |at: &At<'_>| at.one_or_many(0..=limits::LEGACY_TAG_DEVICES, |at| LegacyDevice::parse(at, kind));
        let [add, remove] = ["add", "remove"].map(|key| fields.optional(key, devices));
        if !fields.has("add") && !fields.has("remove") {
            at.invalid::<()>("One of 'add' and 'remove' must be given.");
        }
        fields.finish();
        let [add, remove] = [add, remove].map(|devices| devices.map(OneOrMany::into_vec).unwrap_or_default());
        Some(Self { add, remove })
    }
}

impl JsonSchema for TagBatch {
    fn schema_name() -> Cow<'static, str> {
        "TagBatch".into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let row = schemas.subschema_for::<TagRow>();
        json_schema!({"type": "array", "minItems": 1, "maxItems": limits::LEGACY_TAG_DEVICES, "items": row})
    }
}

impl TagBatch {
    pub fn parse(body: &[u8]) -> Result<Self, BatchRefusal> {
        let tree = Json::from_slice(body).map_err(BatchRefusal::Body)?;
        let length = 1..=limits::LEGACY_TAG_DEVICES;
        json::read_tree(&tree, |at| at.items(length).map(drop)).map_err(BatchRefusal::Body)?;
        let Json::Array(rows) = &tree else { return Ok(Self(Vec::new())) };
        let mut batch = Vec::with_capacity(rows.len());
        let mut refusals = Vec::new();
        for row in rows {
            match json::read_tree(row, TagRow::parse) {
                Ok(row) => batch.push(row),
                Err(problems) => refusals.push(RowRefusal(row.to_value(), problems.to_string())),
            }
        }
        if refusals.is_empty() {
            return Ok(Self(batch));
        }
        refusals.truncate(MOST_REFUSALS);
        Err(BatchRefusal::Rows(refusals))
    }
}

impl TagRow {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let mut devices = Vec::new();
        for (key, plural, kind) in &KINDS {
            // Old client libraries write one pin under the plural key.
            let keys = if matches!(kind, Kind::DevicePin) { vec![key, plural] } else { vec![key] };
            for key in keys {
                devices.extend(fields.take(key).map(|at| LegacyDevice::parse(&at, kind)));
            }
        }
        let tags = fields.required("tags", |at| at.array(0..=limits::TAGS_PER_CHANNEL, Tag::parse));
        if devices.len() != 1 {
            let keys: Vec<_> = KINDS.iter().map(|(key, _, _)| format!("'{key}'")).collect();
            at.invalid::<()>(format!("A row names one device, with one of {}.", keys.join(", ")));
        }
        fields.finish();
        Some(Self { device: devices.pop()??, tags: tags?.into_iter().collect() })
    }
}
