//! The variable segments of paths. A name means the same wherever it appears, unless an operation says otherwise.

use serde_json::{Value, json};

use super::query::{self, Parameter};

/// The names of the variables of a path, in their order.
pub(super) fn names(path: &'static str) -> impl Iterator<Item = &'static str> {
    path.split('/').filter_map(|segment| Some(segment.strip_prefix('{')?.strip_suffix('}')?.trim_start_matches('*')))
}

/// The path as OpenAPI writes it, which has no variables of several segments.
pub(super) fn path(path: &str) -> String {
    path.replace("{*", "{")
}

/// `None` for a name that is not in the table.
pub(super) fn variable(name: &'static str) -> Option<Parameter> {
    let uuid = || json!({"type": "string", "format": "uuid"});
    let text = || json!({"type": "string"});
    let (schema, text): (Value, &str) = match name {
        "push_id" => (uuid(), "The id of a push."),
        "channel_id" => (uuid(), "The id of a channel."),
        "device_token" => (text(), "The device token of an iOS device."),
        "apid" => (uuid(), "The id of the channel of an Android device."),
        "device_pin" => (text(), "The PIN of a BlackBerry device."),
        "region_id" => (text(), "The id of a region."),
        "contact_id" => (text(), "The id of a contact, a UUID. Servers may also give the id of a named user."),
        "segment_id" => (uuid(), "The id of a segment."),
        "schedule_id" => (uuid(), "The id of a schedule."),
        "draft_id" => (uuid(), "The id of a draft."),
        "type" => (
            json!({"type": "string", "enum": ["app", "web", "open", "message_center"]}),
            "The type of a content template.",
        ),
        "external_id" => (text(), "The id that the caller has given to a content template."),
        "template_id" => (uuid(), "The id of a template."),
        "experiment_id" => (uuid(), "The id of an experiment."),
        "pipeline_id" => (uuid(), "The id of a pipeline."),
        "account_id" => (uuid(), "The id of an account."),
        "sign_in_id" => (uuid(), "The id of a sign-in, from the list of an account's."),
        "token_id" => (uuid(), "The id of a token."),
        "client_id" => (uuid(), "The id of an OAuth client."),
        "automation_id" => (uuid(), "The id of an in-app message."),
        "flag_id" => (uuid(), "The id of a feature flag."),
        "holdout_id" => (uuid(), "The id of a holdout group."),
        "form_id" => (text(), "The id that the caller has given to a preference form."),
        "webhook_id" => (uuid(), "The id of a webhook."),
        "privacy_id" => (uuid(), "The id of a request to export or erase a person."),
        "group_id" => (uuid(), "The id of the schedule, experiment or pipeline that the pushes belong to."),
        "send_id" => (uuid(), "The id that devices report for a push."),
        "message_id" => (text(), "The id of a Message Center message."),
        "named_user_id" => (text(), "The id of a named user, 1 to 128 characters, percent-encoded."),
        "user_id" => (text(), "The user of an inbox, which is also the user of the credentials."),
        "tag" => (text(), "A tag, 1 to 128 characters, percent-encoded."),
        "list" => (text(), "The name of a list."),
        "place" => {
            let example = "45.52,-122.68";
            let schema = json!({"type": "string", "examples": [example]});
            (
                schema,
                "The id of a place, a point as `LATITUDE,LONGITUDE`, or a box as the same of two opposite corners.",
            )
        }
        "variant" => (json!({"type": "integer", "minimum": 0}), "The position of a variant, counted from 0."),
        "key" => (text(), "The key of an app: 22 characters of `[A-Za-z0-9_-]`."),
        "platform" => {
            let schema = json!({"type": "string", "examples": ["apns", "fcm", "open::kiosk"]});
            (schema, "`apns`, `fcm`, `adm`, `wns`, `webpush`, or `open::` and the name of an open platform.")
        }
        "device_type" => {
            (json!({"type": "string", "enum": ["ios", "android", "amazon", "web"]}), "The devices of the recipients.")
        }
        "open_platform" => (text(), "The name of an open platform, without `open::`."),
        "fingerprint" => (text(), "The fingerprint of a key, as listed with the platform."),
        "number" => (json!({"type": "integer", "minimum": 0}), "The position of the page in its push, counted from 0."),
        "file" => (json!({"type": "string", "enum": crate::routes::sdk_files()}), "The name of a file of the SDK."),
        "below" => (text(), "Any further segments."),
        _ => return None,
    };
    Some(query::path(name, text, schema))
}
