//! Audiences that devices evaluate by what they know of themselves.

use std::collections::BTreeMap;

use schemars::json_schema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::DataPlatform;
use crate::json::At;
use crate::json::body::{Body, Read, Words};
use crate::limits;
use crate::predicate::Predicate;

/// The devices that are meant, by what they know of themselves. All keys that are given have to hold.
#[derive(Clone, Debug, Default, PartialEq, Body)]
pub struct DeviceAudience {
    /// Whether the app was installed after this was created.
    pub new_user: Option<bool>,
    pub notification_opt_in: Option<bool>,
    pub location_opt_in: Option<bool>,
    /// Whether the app collects analytics.
    pub requires_analytics: Option<bool>,
    /// Languages, with a country or without: `en`, `fr-CA`.
    #[body(length = 1..=limits::REMOTE_DATA_ITEMS, each = 2..=limits::REMOTE_DATA_NAME_CHARS)]
    pub locale: Option<Vec<String>>,
    /// Over `{"ios": {"version": "1.2"}}` or `{"android": {"version": 120}}`.
    pub app_version: Option<Predicate>,
    /// Over `{"display_notifications": "granted"}`.
    pub permissions: Option<Predicate>,
    /// Tags that the app has set on the device itself.
    pub tags: Option<DeviceTags>,
    /// Base64 of the first 16 bytes of the SHA-256 of channel ids.
    #[body(length = 0..=limits::REMOTE_DATA_ITEMS, each = 1..=limits::REMOTE_DATA_NAME_CHARS)]
    pub test_devices: Option<Vec<String>>,
    #[body(length = 1..=4)]
    pub device_types: Option<Vec<DataPlatform>>,
    /// A part of all devices, by chance.
    pub hash: Option<HashAudience>,
}

/// The devices that an in-app message is for.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct MessageAudience {
    #[body(flatten)]
    pub devices: DeviceAudience,
    pub miss_behavior: Option<MissBehavior>,
}

/// What a device does with a message that it is not meant by when the message is triggered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum MissBehavior {
    /// It waits for the next time.
    Skip,
    /// It never shows the message.
    Cancel,
    /// It counts as shown.
    Penalize,
}

/// An audience that is made of others; libraries before version 19 pass over it.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct CompoundAudience {
    pub selector: CompoundSelector,
}

/// `atomic` with an `audience`, `not` with a `selector`, or `and` and `or` with `selectors`.
// Kept as it was given: devices read it.
#[derive(Clone, Debug, PartialEq, Serialize, Read)]
#[serde(transparent)]
#[body(schema = json_schema!({"type": "object", "required": ["type"], "properties": {
    "type": {"type": "string", "enum": ["atomic", "not", "and", "or"]},
    "audience": {"type": "object"},
    "selector": {"type": "object"},
    "selectors": {"type": "array"},
}}))]
pub struct CompoundSelector(Value);

/// `{"tag": "x"}`, or `and`, `or` or `not` with others.
// Kept as it was given: devices read it.
#[derive(Clone, Debug, PartialEq, Serialize, Read)]
#[serde(transparent)]
#[body(schema = json_schema!({"type": "object", "properties": {
    "tag": {"type": "string"}, "and": {"type": "array"}, "or": {"type": "array"}, "not": {"type": "object"},
}}))]
pub struct DeviceTags(Value);

/// The devices whose hash falls into some of a number of buckets.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(check = HashAudience::check)]
pub struct HashAudience {
    pub audience_hash: AudienceHash,
    pub audience_subset: HashBuckets,
    /// Lets a device stay where it was when the buckets change: an object with `id` and `last_access_ttl`.
    pub sticky: Option<Map<String, Value>>,
}

#[derive(Clone, Debug, PartialEq, Body)]
pub struct AudienceHash {
    /// Stands before the id: another prefix chooses other devices.
    #[body(length = 0..=limits::REMOTE_DATA_NAME_CHARS)]
    pub hash_prefix: String,
    #[body(range = 1..=u32::MAX)]
    pub num_hash_buckets: u32,
    pub hash_identifier: HashIdentifier,
    pub hash_algorithm: HashAlgorithm,
    #[body(range = 0..=i64::MAX)]
    pub hash_seed: Option<i64>,
    pub hash_identifier_overrides: Option<BTreeMap<String, String>>,
}

/// The id that is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum HashIdentifier {
    Channel,
    Contact,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum HashAlgorithm {
    FarmHash,
}

/// The first and the last bucket that are meant.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct HashBuckets {
    #[body(range = 0..=u32::MAX)]
    pub min_hash_bucket: u32,
    #[body(range = 0..=u32::MAX)]
    pub max_hash_bucket: u32,
}

impl HashAudience {
    fn check(self, at: &At<'_>) -> Option<Self> {
        let HashBuckets { min_hash_bucket: min, max_hash_bucket: max } = self.audience_subset;
        if min > max || max >= self.audience_hash.num_hash_buckets {
            let message = "The buckets must be in order and below 'num_hash_buckets'.";
            return at.invalid_key("audience_subset", message);
        }
        Some(self)
    }
}

impl DeviceTags {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        check_tags(at)?;
        Some(Self(at.json().to_value()))
    }
}

fn check_tags(at: &At<'_>) -> Option<()> {
    let mut fields = at.object()?;
    fields.exactly_one(&["tag", "and", "or", "not"], "Give exactly one of 'tag', 'and', 'or' and 'not'.", Some("tag"));
    fields.optional("tag", |at| at.text(1..=limits::TAG_CHARS));
    for key in ["and", "or"] {
        fields.optional(key, |at| at.array(1..=limits::REMOTE_DATA_ITEMS, check_tags));
    }
    fields.optional("not", check_tags);
    fields.finish();
    Some(())
}

impl CompoundSelector {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        check_compound(at)?;
        Some(Self(at.json().to_value()))
    }
}

fn check_compound(at: &At<'_>) -> Option<()> {
    let kinds = ["atomic", "not", "and", "or"].map(|word| (word, word));
    let mut fields = at.object()?;
    match fields.required("type", |at| at.choice(&kinds)) {
        Some("atomic") => fields.required("audience", |at| DeviceAudience::parse(at).map(drop)),
        Some("not") => fields.required("selector", check_compound),
        Some(_) => fields.required("selectors", |at| at.array(0..=limits::REMOTE_DATA_ITEMS, check_compound).map(drop)),
        None => return fields.pass_over_rest(),
    };
    fields.finish();
    Some(())
}
