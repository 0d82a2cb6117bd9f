//! The JSON Schema of audiences and selectors, whose grammar is read by hand: each selector is an object with
//! one key that says what it is, and for some keys companions beside it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::{Audience, DeviceToken, PastPush, Selector, SmsId};
use crate::bulk::Uploaded;
use crate::create_and_send::Recipients;
use crate::ids::{ChannelId, NamedUserId, SegmentId};
use crate::json::body::Read;
use crate::json::schema::{describe, limit_length, text};
use crate::json::{At, OneOrMany};
use crate::limits;
use crate::tag::{Tag, TagGroup};

/// A schema for the value of a key.
type OfValue = fn(&mut SchemaGenerator) -> Schema;

/// Selectors with a single key, with its description.
const PLAIN: [(&str, &str, OfValue); 21] = [
    ("segment", "Channels of a stored segment, by its id.", values::<SegmentId>),
    ("named_user", "Channels of a named user, by its id.", values::<NamedUserId>),
    ("alias", "Channels with this alias.", |_| texts(limits::ALIAS_CHARS)),
    ("static_list", "Channels on a static list, by its name.", |_| texts(limits::STATIC_LIST_NAME_CHARS)),
    ("subscription_list", "Channels that subscribe to a list, by its id.", |_| {
        texts(limits::SUBSCRIPTION_LIST_ID_CHARS)
    }),
    ("subscription_lists", "The same as `subscription_list`.", |_| texts(limits::SUBSCRIPTION_LIST_ID_CHARS)),
    ("channel", "A channel by its id, of any type.", values::<ChannelId>),
    ("ios_channel", "An iOS channel by its id.", values::<ChannelId>),
    ("android_channel", "An Android channel by its id.", values::<ChannelId>),
    ("amazon_channel", "An Amazon channel by its id.", values::<ChannelId>),
    ("web_channel", "A channel of a browser by its id.", values::<ChannelId>),
    ("open_channel", "A channel of an open platform by its address.", |_| texts(limits::OPEN_ADDRESS_CHARS)),
    ("device_token", "An iOS channel by the token that Apple gave the device.", values::<DeviceToken>),
    ("apid", "", |_| texts(limits::PUSH_ADDRESS_CHARS)),
    ("wns", "", |_| texts(limits::PUSH_ADDRESS_CHARS)),
    ("mpns", "", |_| texts(limits::PUSH_ADDRESS_CHARS)),
    ("device_pin", "", |_| texts(limits::PUSH_ADDRESS_CHARS)),
    ("push", "Channels for which an earlier push had this outcome.", |schemas| schemas.subschema_for::<PastPush>()),
    ("live", "Channels that have a live connection when the recipients are chosen.", |_| json_schema!({"const": true})),
    ("sms_id", "", values::<SmsId>),
    ("sms_sender", "", |_| texts(limits::SMS_SENDER_CHARS)),
];

const OPERATORS: [&str; 12] = [
    "equals",
    "contains",
    "not_contains",
    "less",
    "less_eq",
    "greater",
    "greater_eq",
    "is_empty",
    "not_empty",
    "before",
    "after",
    "range",
];

impl Read for Selector {
    fn read(at: &At<'_>) -> Option<Self> {
        Self::parse(at)
    }
}

impl JsonSchema for Audience {
    fn schema_name() -> Cow<'static, str> {
        "Audience".into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The channels that a push is for: all of them, those that a selector describes, or recipients that \
                the push brings along or that are in an uploaded file. In a pipeline, 'triggered' is the channel that \
                triggered it.",
            "anyOf": [
                {"type": "string", "pattern": "^([aA][lL][lL]|[tT][rR][iI][gG][gG][eE][rR][eE][dD])$"},
                schemas.subschema_for::<Selector>(),
                schemas.subschema_for::<Recipients>(),
                schemas.subschema_for::<Uploaded>(),
            ],
        })
    }
}

impl JsonSchema for Selector {
    fn schema_name() -> Cow<'static, str> {
        "Selector".into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let selector = schemas.subschema_for::<Selector>();
        let mut tag = values::<Tag>(schemas);
        describe(&mut tag, "Channels with this tag.");
        let members =
            json!({"type": "array", "minItems": 1, "maxItems": limits::SELECTORS_PER_AUDIENCE, "items": selector});
        let mut forms = vec![
            // Operators may be written in any letter case.
            compound("^([aA][nN][dD]|[oO][rR])$", &members),
            compound(
                "^[nN][oO][tT]$",
                &json!({"anyOf": [selector, {"type": "array", "minItems": 1, "maxItems": 1, "items": selector}]}),
            ),
            json!({
                "type": "object",
                "properties": {
                    "tag": tag,
                    "group": schemas.subschema_for::<TagGroup>(),
                    "tag_class": {"type": "string"},
                },
                "required": ["tag"],
                "additionalProperties": false,
            }),
            attribute(),
            activity(),
            location(),
        ];
        forms.extend(PLAIN.iter().map(|(key, about, schema)| {
            let mut value = schema(schemas);
            describe(&mut value, about);
            one_key(key, &value.to_value())
        }));
        json_schema!({
            "description": "A description of channels: one property that they have, or several joined by AND, OR and NOT.",
            "anyOf": forms,
        })
    }
}

fn compound(pattern: &str, members: &Value) -> Value {
    json!({
        "type": "object",
        "patternProperties": {pattern: members},
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": false,
    })
}

fn one_key(key: &str, value: &Value) -> Value {
    json!({"type": "object", "properties": {key: value}, "required": [key], "additionalProperties": false})
}

/// The keys of a comparison; which of them belong together depends on the operator.
fn comparison(own: &Value) -> Value {
    let mut properties = json!({
        "operator": {"type": "string", "enum": OPERATORS, "description": "How values are compared."},
        "value": {"type": ["string", "number", "boolean", "null"], "description": "What they are compared with."},
        "precision": {"type": "string"},
        "relative_to": {"type": "string", "enum": ["past", "future"]},
    });
    if let (Some(properties), Some(own)) = (properties.as_object_mut(), own.as_object()) {
        properties.extend(own.clone());
    }
    properties
}

/// A property inside a JSON object.
fn property() -> Value {
    let own = json!({
        "property": {"type": "string", "minLength": 1, "maxLength": limits::PROPERTY_PATH_CHARS},
        "compare_as": {"type": "string", "enum": ["text", "number", "date", "boolean"]},
    });
    json!({
        "type": "object",
        "properties": comparison(&own),
        "required": ["property", "operator"],
        "additionalProperties": false,
    })
}

fn attribute() -> Value {
    let own = json!({
        "attribute": {
            "type": "string", "minLength": 1, "maxLength": limits::SELECTOR_ATTRIBUTE_CHARS,
            "description": "The name of the attribute that is compared.",
        },
        "where": property(),
    });
    json!({
        "type": "object",
        "properties": comparison(&own),
        "required": ["attribute"],
        "additionalProperties": false,
    })
}

fn activity() -> Value {
    let moment = json!({"type": ["integer", "string"]});
    let unit = json!({"type": "string", "enum": ["days", "weeks", "months", "years"]});
    json!({
        "type": "object",
        "properties": {
            "activity": {"type": "string", "minLength": 1, "maxLength": limits::ACTIVITY_CHARS},
            "metric": {"type": "string", "enum": ["count", "total_value", "first", "last"]},
            "operator": {"type": "string", "enum": ["less", "less_eq", "equals", "greater", "greater_eq"]},
            "value": {"type": "number"},
            "after": moment,
            "before": moment,
            "precision": unit,
            "on": moment,
            "on_precision": unit,
            "where": property(),
        },
        "required": ["activity", "metric"],
        "additionalProperties": false,
    })
}

/// Beside `date` there is exactly one key: `id`, or the type of an alias.
fn location() -> Value {
    let name = json!({"type": "string", "minLength": 1, "maxLength": limits::LOCATION_NAME_CHARS});
    let place = json!({
        "type": "object",
        "properties": {"date": {"type": "object"}},
        "required": ["date"],
        "minProperties": 2,
        "maxProperties": 2,
        "additionalProperties": name,
    });
    one_key("location", &place)
}

/// One value, or several of which one has to match.
fn values<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Schema {
    let mut schema = OneOrMany::<T>::json_schema(schemas);
    limit_length(&mut schema, "minItems", "maxItems", &(1..=limits::VALUES_PER_SELECTOR));
    schema
}

fn texts(most_chars: usize) -> Schema {
    let one = text(1..=most_chars);
    let length = limits::VALUES_PER_SELECTOR;
    json_schema!({"anyOf": [one, {"type": "array", "minItems": 1, "maxItems": length, "items": one}]})
}
