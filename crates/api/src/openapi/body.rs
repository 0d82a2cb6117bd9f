//! The bodies of requests: the schemas of the types that read them, and of the few that no type reads as a whole.

use model::limits;
use model::pipeline::Rate;
use providers::adm::AdmCredentials;
use providers::apns::ApnsCredentials;
use providers::fcm::FcmCredentials;
use providers::open::OpenPlatformChange;
use providers::platform::Keys;
use providers::webpush::{WebPushContact, WebPushCredentials};
use providers::wns::WnsCredentials;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::json;

use super::operation::MakeSchema;

/// The body that a type reads.
pub(crate) fn of<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Schema {
    schemas.subschema_for::<T>()
}

/// How a platform is reached. The path says which of these is meant.
pub(crate) fn platform(schemas: &mut SchemaGenerator) -> Schema {
    any(schemas, &[of::<OpenPlatformChange>, of::<WebPushContact>, platform_keys])
}

/// The keys of a provider. The path says of which.
pub(crate) fn platform_keys(schemas: &mut SchemaGenerator) -> Schema {
    let providers = [
        of::<Keys<ApnsCredentials>>,
        of::<Keys<FcmCredentials>>,
        of::<Keys<AdmCredentials>>,
        of::<Keys<WnsCredentials>>,
        of::<Keys<WebPushCredentials>>,
    ];
    any(schemas, &providers)
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

/// One of several forms. The forms of a form stand among the others.
fn any(schemas: &mut SchemaGenerator, forms: &[MakeSchema]) -> Schema {
    let forms = forms.iter().map(|form| form(schemas).to_value());
    let flat = forms.flat_map(|form| form["anyOf"].as_array().cloned().unwrap_or_else(|| vec![form]));
    json_schema!({"anyOf": flat.collect::<Vec<_>>()})
}
