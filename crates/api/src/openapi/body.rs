//! The bodies of requests: the schemas of the types that read them, and of the few that have no type of their own.

mod operator;

pub(crate) use operator::{
    app_change, new_app, new_webhook, platform, platform_keys, platform_pause, replay, secret_choice, webhook_change,
};

use model::limits;
use model::payload::device_types::DeviceTypes;
use model::pipeline::Rate;
use model::selector::Audience;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::json;

/// The body that a type reads.
pub(crate) fn of<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Schema {
    schemas.subschema_for::<T>()
}

/// The question of which channels an audience selects.
pub(crate) fn audience_question(schemas: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "audience": schemas.subschema_for::<Audience>(),
            "device_types": schemas.subschema_for::<DeviceTypes>(),
        },
        "required": ["audience"],
        "additionalProperties": false,
    })
}

/// Rates of all pipelines together: alone, or as callers were shown them.
pub(crate) fn global_rates(schemas: &mut SchemaGenerator) -> Schema {
    let rate = schemas.subschema_for::<Rate>();
    let rates = json!({"anyOf": [rate, {"type": "array", "maxItems": limits::GLOBAL_RATES, "items": rate}]});
    json_schema!({"anyOf": [
        rates,
        {
            "type": "object",
            "properties": {"constraints": rates, "ok": true},
            "required": ["constraints"],
            "additionalProperties": false,
        },
    ]})
}

/// Reading is lenient here: whatever is no event of a device is passed over.
pub(crate) fn device_events(_: &mut SchemaGenerator) -> Schema {
    let event = json!({
        "type": "object",
        "properties": {
            "type": {"type": "string", "examples": ["app_foreground"], "description": "What happened."},
            "event_id": {"type": "string", "description": "By which a repeat is recognized."},
            "time": {"type": "string", "description": "Seconds since 1970, with a fraction."},
            "data": {"type": "object", "description": "By the type of the event."},
        },
    });
    json_schema!({"anyOf": [event, {"type": "array", "items": event}]})
}
