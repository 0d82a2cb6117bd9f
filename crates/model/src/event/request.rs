//! A request for events: where to begin, which of them, and for how long.

use std::collections::BTreeSet;
use std::time::Duration;

use schemars::json_schema;
use serde_json::json;
use uuid::Uuid;

use super::{EventOffset, EventSubset, RecordKind};
use crate::channel::ChannelRef;
use crate::ids::{Id, NamedUserId};
use crate::json::body::{Body, Read};
use crate::json::{At, OneOrMany};
use crate::limits;
use crate::predicate::Predicate;
use crate::request_audience::ChannelAudience;

/// Which events are wanted: where to begin, filters of which one has to match, and for how long.
#[derive(Clone, Debug, PartialEq, Read)]
#[body(schema = json_schema!({
    "type": "object",
    "properties": {
        "start": {"type": ["string", "null"], "enum": ["EARLIEST", "LATEST", null]},
        "resume_offset": {"type": ["string", "null"]},
        "filters": {
            "type": ["array", "null"],
            "minItems": 1,
            "maxItems": limits::EVENT_FILTERS,
            "items": schemas.subschema_for::<EventConditions>(),
        },
        "follow": {"type": "boolean"},
        "limit": {"type": "integer", "minimum": Self::LIMITS.start(), "maximum": Self::LIMITS.end()},
        "enable_offset_updates": {"type": ["boolean", "null"]},
        "subset": schemas.subschema_for::<Option<EventSubset>>(),
    },
    "additionalProperties": false,
}))]
pub struct EventRequest {
    pub start: EventStart,
    /// An event has to match one of them; without filters, all events match.
    pub filters: Vec<EventConditions>,
    /// Whether to continue with new events after the existing ones.
    pub follow: bool,
    pub limit: Option<u32>,
    /// Whether a caller without matching events is told how far the log was read.
    pub offset_updates: bool,
    /// The part of the events that is wanted.
    pub subset: Option<EventSubset>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventStart {
    /// With the oldest event that is kept.
    Earliest,
    /// With the next event to happen.
    Latest,
    /// With the event after this one.
    After(EventOffset),
}

/// All given conditions have to be fulfilled.
#[derive(Clone, Debug, Default, PartialEq, Read)]
#[body(schema = {
    let users = schemas.subschema_for::<UserFilter>();
    let predicate = schemas.subschema_for::<Predicate>();
    let most = limits::EVENT_PREDICATES;
    let id = json!({"type": "string", "format": "uuid"});
    let push = json!({"type": "object", "properties": {"push_id": id, "group_id": id}, "maxProperties": 1});
    json_schema!({
        "type": "object",
        "properties": {
            "types": {"type": ["array", "null"], "items": {"type": "string"}},
            "device_types": {"type": ["array", "null"], "items": {"type": "string"}},
            "devices": {"type": ["array", "null"], "items": schemas.subschema_for::<ChannelAudience>()},
            "users": {"type": ["array", "null"], "items": users},
            "notifications": {"type": ["array", "null"], "items": push},
            "latency": {"type": ["integer", "null"], "minimum": 0, "description":
                "How many milliseconds after they occurred events may have been recorded."},
            "predicates": {
                "anyOf": [
                    {"type": "null"},
                    predicate,
                    {"type": "array", "minItems": 1, "maxItems": most, "items": predicate},
                ],
                "description": "Conditions over events as the stream shows them, all of which have to hold.",
            },
        },
        "additionalProperties": false,
    })
})]
pub struct EventConditions {
    pub kinds: Option<BTreeSet<RecordKind>>,
    /// As events write them: `IOS`.
    pub device_types: Option<BTreeSet<String>>,
    pub channels: Option<Vec<ChannelRef>>,
    pub named_users: Option<BTreeSet<NamedUserId>>,
    /// Ids of pushes, or of groups of pushes.
    pub pushes: Option<BTreeSet<Uuid>>,
    /// How late they may have been recorded after they occurred.
    pub latency: Option<Duration>,
    /// All of them have to hold for the event as the stream shows it.
    pub predicates: Vec<Predicate>,
}

impl EventRequest {
    pub const LIMITS: std::ops::RangeInclusive<u32> = 1..=1_000_000;

    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let start = fields
            .nullable("start", |at| at.choice(&[("EARLIEST", EventStart::Earliest), ("LATEST", EventStart::Latest)]));
        let resume = fields.nullable("resume_offset", |at| match at.string()?.parse() {
            Ok(offset) => Some(EventStart::After(offset)),
            Err(()) => at.invalid(NO_OFFSET),
        });
        let has_both = start.is_some() && resume.is_some();
        let filters = fields.nullable("filters", |at| at.array(1..=limits::EVENT_FILTERS, EventConditions::parse));
        let follow = fields.optional("follow", At::boolean);
        let limit = fields.optional("limit", |at| {
            let range = i64::from(*Self::LIMITS.start())..=i64::from(*Self::LIMITS.end());
            at.integer(range).and_then(|limit| u32::try_from(limit).ok())
        });
        let offset_updates = fields.nullable("enable_offset_updates", At::boolean);
        let subset = fields.nullable("subset", EventSubset::parse);
        fields.finish();
        if has_both {
            return at.invalid("Give a 'start' or a 'resume_offset', not both.");
        }
        Some(Self {
            start: start.or(resume).unwrap_or(EventStart::Earliest),
            filters: filters.unwrap_or_default(),
            follow: follow.unwrap_or(true),
            limit,
            offset_updates: offset_updates.unwrap_or(false),
            subset,
        })
    }
}

pub const NO_OFFSET: &str = "This must be the offset of an event, which is a whole number.";

impl EventConditions {
    fn parse(at: &At<'_>) -> Option<Self> {
        const MOST: usize = limits::IDS_PER_AUDIENCE;
        let mut fields = at.object()?;
        let kinds = fields.nullable("types", |at| at.array(1..=RecordKind::NUMBERED.len(), kind));
        let device_types = fields.nullable("device_types", |at| at.array(1..=DEVICE_TYPES.len(), device_type));
        let channels = fields.nullable("devices", |at| at.array(1..=MOST, ChannelAudience::parse));
        let named_users = fields.nullable("users", |at| at.array(1..=MOST, UserFilter::parse));
        let pushes = fields.nullable("notifications", |at| at.array(1..=MOST, push));
        let latency = fields.nullable("latency", |at| at.integer(0..=i64::MAX));
        let predicates =
            fields.nullable("predicates", |at| at.one_or_many(1..=limits::EVENT_PREDICATES, Predicate::parse));
        fields.finish();
        Some(Self {
            kinds: kinds.map(BTreeSet::from_iter),
            device_types: device_types.map(BTreeSet::from_iter),
            channels: channels.map(|named| named.iter().flat_map(|some| some.channels().to_vec()).collect()),
            named_users: named_users.map(|users| users.into_iter().map(|user| user.0).collect()),
            pushes: pushes.map(BTreeSet::from_iter),
            latency: latency.and_then(|millis| u64::try_from(millis).ok()).map(Duration::from_millis),
            predicates: predicates.map(OneOrMany::into_vec).unwrap_or_default(),
        })
    }
}

/// The types of devices as events write them.
const DEVICE_TYPES: [&str; 9] = ["IOS", "ANDROID", "AMAZON", "WEB", "WNS", "SMS", "MMS", "EMAIL", "OPEN"];

fn kind(at: &At<'_>) -> Option<RecordKind> {
    let name = at.string()?;
    match RecordKind::from_public_name(name) {
        Some(kind) => Some(kind),
        None => at.invalid(format!("'{name}' is not a type of events; one of them is OPEN.")),
    }
}

fn device_type(at: &At<'_>) -> Option<String> {
    let name = at.string()?.to_uppercase();
    if DEVICE_TYPES.contains(&name.as_str()) {
        return Some(name);
    }
    at.invalid(format!("'{name}' is not a type of devices; use one of {}.", DEVICE_TYPES.join(", ")))
}

/// A named user whose events are wanted.
#[derive(Body)]
#[body(not_printed)]
struct UserFilter(#[body(rename = "named_user_id")] NamedUserId);

fn push(at: &At<'_>) -> Option<Uuid> {
    enum Anything {}
    let mut fields = at.object()?;
    let push = fields.optional("push_id", Id::<Anything>::parse);
    let group = fields.optional("group_id", Id::<Anything>::parse);
    let is_one = fields.has("push_id") != fields.has("group_id");
    fields.finish();
    if !is_one {
        return at.invalid("Give either a 'push_id' or a 'group_id'.");
    }
    push.or(group).map(|id| id.uuid())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn parse(body: &str) -> Result<EventRequest, String> {
        json::parse(body.as_bytes(), EventRequest::parse).map_err(|problems| problems.to_string())
    }

    #[test]
    fn requests_are_read_as_a_whole() {
        let everything = parse("{}").unwrap();
        assert_eq!((everything.start, everything.follow, everything.filters.len()), (EventStart::Earliest, true, 0));
        let body = r#"{"resume_offset": "131072", "limit": 5, "follow": false, "enable_offset_updates": true, "filters": [
            {"types": ["OPEN", "SEND"], "device_types": ["ios"], "users": [{"named_user_id": "ann"}]},
            {"devices": [{"ios_channel": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5"}],
             "notifications": [{"group_id": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5"}]}
        ]}"#;
        let request = parse(body).unwrap();
        assert_eq!(request.start, EventStart::After(EventOffset::from_number(131_072)));
        assert_eq!(request.filters[0].kinds, Some(BTreeSet::from([RecordKind::Open, RecordKind::Send])));
        assert_eq!(request.filters[0].device_types, Some(BTreeSet::from(["IOS".to_owned()])));
        assert_eq!(request.filters[1].channels.as_ref().map(Vec::len), Some(1));
        assert_eq!(request.filters[1].pushes.as_ref().map(BTreeSet::len), Some(1));
    }

    #[test]
    fn what_is_wrong_is_said_where_it_is() {
        for (body, expected) in [
            (r#"{"start": "NOW"}"#, "start: "),
            (r#"{"start": "LATEST", "resume_offset": "1"}"#, "Give a 'start' or a 'resume_offset', not both."),
            (r#"{"resume_offset": "x"}"#, "resume_offset: This must be the offset"),
            (r#"{"filters": []}"#, "filters: This array must not be empty."),
            (r#"{"filters": [{"types": ["TERMS"]}]}"#, "filters[0].types[0]: 'TERMS' is not a type of events"),
            (r#"{"filters": [{"device_types": ["toaster"]}]}"#, "filters[0].device_types[0]: 'TOASTER'"),
            (r#"{"filters": [{"notifications": [{}]}]}"#, "filters[0].notifications[0]: Give either"),
            (r#"{"filters": [{"latency": -5}]}"#, "filters[0].latency: "),
            (r#"{"filters": [{"predicates": []}]}"#, "filters[0].predicates: This array must not be empty."),
            (r#"{"filters": [{"predicates": {"key": "type"}}]}"#, "filters[0].predicates.value: "),
            (r#"{"subset": {}}"#, "subset.type: "),
            (r#"{"limit": 0}"#, "limit: "),
            (r#"{"whatever": 1}"#, "whatever: "),
        ] {
            let said = parse(body).unwrap_err();
            assert!(said.starts_with(expected), "{body}: {said}");
        }
    }
}
