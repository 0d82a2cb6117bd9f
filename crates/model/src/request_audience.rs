//! The targets of a request about tags, attributes or subscriptions: channels by their ids, and named users.

use std::collections::HashSet;
use std::hash::Hash;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::channel::{ChannelRef, ClaimedType};
use crate::device_type::DeviceType;
use crate::ids::{ChannelId, NamedUserId};
use crate::json::body::Read;
use crate::json::{At, Fields, OneOrMany};
use crate::limits;

const CHANNEL_KEYS: [(&str, Option<DeviceType>); 5] = [
    ("channel", None),
    ("ios_channel", Some(DeviceType::Ios)),
    ("android_channel", Some(DeviceType::Android)),
    ("amazon_channel", Some(DeviceType::Amazon)),
    ("web_channel", Some(DeviceType::Web)),
];

const NAMED_USER_KEYS: [&str; 2] = ["named_user_id", "named_user"];

/// At least one channel, none of them twice: a channel that is named with two types has at most one of them.
#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(schema = audience_schema(schemas, false))]
pub struct ChannelAudience(Vec<ChannelRef>);

impl ChannelAudience {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let channels = read_channels(&mut fields);
        fields.finish();
        if channels.is_empty() && at.is_clean() {
            return at.invalid("Name at least one channel, such as {\"ios_channel\": \"<channel id>\"}.");
        }
        Some(Self(channels))
    }

    pub fn channels(&self) -> &[ChannelRef] {
        &self.0
    }

    pub fn into_channels(self) -> Vec<ChannelRef> {
        self.0
    }
}

/// Channels and named users, at least one of either, none of them twice.
#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(schema = audience_schema(schemas, true))]
pub struct OwnerAudience {
    channels: Vec<ChannelRef>,
    named_users: Vec<NamedUserId>,
}

impl OwnerAudience {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let channels = read_channels(&mut fields);
        // One client calls it otherwise here.
        let [by_id, by_name] = NAMED_USER_KEYS
            .map(|key| fields.optional(key, |at| named_users(at, limits::IDS_PER_AUDIENCE)).unwrap_or_default());
        fields.finish();
        let named_users = distinct([by_id, by_name].concat());
        if channels.is_empty() && named_users.is_empty() && at.is_clean() {
            return at.invalid("Name at least one channel or named user, such as {\"channel\": \"<channel id>\"}.");
        }
        Some(Self { channels, named_users })
    }

    pub fn channels(&self) -> &[ChannelRef] {
        &self.channels
    }

    pub fn named_users(&self) -> &[NamedUserId] {
        &self.named_users
    }
}

fn audience_schema(schemas: &mut SchemaGenerator, has_named_users: bool) -> Schema {
    let mut keys: Map<String, Value> = Map::new();
    let channels = schemas.subschema_for::<OneOrMany<ChannelId>>().to_value();
    keys.extend(CHANNEL_KEYS.iter().map(|(key, _)| ((*key).to_owned(), channels.clone())));
    if has_named_users {
        let users = schemas.subschema_for::<OneOrMany<NamedUserId>>().to_value();
        keys.extend(NAMED_USER_KEYS.map(|key| (key.to_owned(), users.clone())));
    }
    json_schema!({"type": "object", "properties": keys, "minProperties": 1, "additionalProperties": false})
}

/// One named user or some of them, none of them twice.
pub(crate) fn named_users(at: &At<'_>, most: usize) -> Option<Vec<NamedUserId>> {
    Some(distinct(at.one_or_many(1..=most, NamedUserId::parse)?.into_vec()))
}

fn read_channels(fields: &mut Fields<'_>) -> Vec<ChannelRef> {
    let mut channels = Vec::new();
    for (key, device_type) in CHANNEL_KEYS {
        let ids = fields.optional(key, |at| at.one_or_many(1..=limits::IDS_PER_AUDIENCE, ChannelId::parse));
        let claimed = device_type.map(ClaimedType::Exactly);
        let ids = ids.iter().flat_map(OneOrMany::as_slice);
        channels.extend(ids.map(|id| ChannelRef { id: *id, claimed: claimed.clone() }));
    }
    for (key, what) in [("email_address", "Email addresses"), ("sms_id", "Telephone numbers")] {
        if let Some(at) = fields.take(key) {
            at.invalid::<()>(format!("{what} are not supported here; name channels by their ids."));
        }
    }
    // A channel that is named with and without its type counts once.
    let untyped: HashSet<ChannelId> =
        channels.iter().filter(|named| named.claimed.is_none()).map(|named| named.id).collect();
    channels.retain(|named| named.claimed.is_none() || !untyped.contains(&named.id));
    distinct(channels)
}

fn distinct<T: Clone + Eq + Hash>(mut items: Vec<T>) -> Vec<T> {
    let mut seen = HashSet::with_capacity(items.len());
    items.retain(|item| seen.insert(item.clone()));
    items
}
