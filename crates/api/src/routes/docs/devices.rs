//! What device libraries ask for and report.

use model::remote_data::AudienceCheck;
use remote_data::DataPayloads;
use serde_json::json;

use crate::answer::Done;
use crate::openapi::{Area, body, query};
use crate::routes::device_tokens::{ProofKey, Token};
use crate::routes::platforms::WebKey;
use crate::routes::remote_data::Allowed;

const TUNING: [(&str, &str); 3] = [
    ("X-UA-Max-Total", "How much a device may keep until it sends it, in kilobytes."),
    ("X-UA-Max-Batch", "How much it may send at once, in kilobytes."),
    ("X-UA-Min-Batch-Interval", "How many seconds it waits between uploads."),
];

pub(super) fn area() -> Area {
    let mut area = Area::new(
        "Device libraries",
        "What stock libraries of devices call, so that they can be pointed at this service.",
    );
    for (path, summary, text) in [
        (
            "/warp9",
            "Upload events of a device",
            "An array of events or one. An event that makes no sense loses only itself.",
        ),
        ("/api/web-events", "Upload events of a browser", "The same for browsers."),
    ] {
        let events = json!([{
            "type": "app_foreground", "event_id": "0d4f2a3e-7a5b-4f0e-9f57-1d1f6f0f8a01", "time": "1893456000",
            "data": {"session_id": "6e1f8b5c-3f0b-4a55-8f5e-0d1a2b3c4d5e"},
        }]);
        let operation = area.post(path, summary, text).takes(channel_id(false)).body(body::device_events, events);
        operation.ok::<Done>("Taken, and how devices may go on.");
        for (name, text) in TUNING {
            operation.header(name, text);
        }
    }
    area.get(
        "/api/auth/device",
        "Get a token of a channel",
        "For the channel that signed the request, or that the header names.",
    )
    .takes(channel_id(false))
    .ok::<Token>("The token, and for how many milliseconds it is good.")
    .refuses(400, "No channel is named (40000).")
    .refuses(404, "There is no such channel (40401).");
    area.get(
        "/api/auth/proof-key",
        "Get the key for proofs of users",
        "For servers, which sign with it who the user of a device is. It is another one when the master secret is replaced.",
    )
    .ok::<ProofKey<'_>>("The key, how to sign with it, and the audience to name.");
    area.post("/api/metered-usage", "Report usage", "Taken, so that no device tries again. Nothing is billed.")
        .ok::<Done>("Taken.");
    area.get(
        "/api/platforms/web/vapid",
        "Show the key for browsers",
        "The public key with which web pages of the app subscribe.",
    )
    .ok::<WebKey>("The key, and whether messages are sent with it.");
    for (path, summary, text) in [
        (
            "/api/remote-data/app/{key}/{platform}",
            "Get the data of an app",
            "Where the service is, which libraries ask for before anything else, and the app's in-app messages, preference forms, \
             feature flags and holdout groups.",
        ),
        (
            "/api/remote-data-contact/{platform}/{contact_id}",
            "Get the data of a contact",
            "In-app messages that are for devices with a contact only.",
        ),
    ] {
        area.get(path, summary, text)
            .variable(
                "platform",
                json!({"type": "string", "enum": ["android", "amazon", "ios", "web"]}),
                "The platform that asks.",
            )
            .takes(query::text("sdk_version", "The version of the library, which decides about units."))
            .takes(query::text("language", "The language of the device, for localized messages."))
            .takes(query::text("country", "The country of the device."))
            .bare::<DataPayloads>("The data, packed if the device takes gzip.")
            .header("Last-Modified", "To be sent back as `If-Modified-Since`.")
            .header("ETag", "To be sent back as `If-None-Match`.")
            .not_modified();
    }
    area.post(
        "/api/remote-audience-check/app/{key}",
        "Check whether a device may show a message",
        "By the `server_audience` of the message, or the segment, that the context names; without either it may.",
    )
    .body(
        body::of::<AudienceCheck>,
        json!({
            "channel_id": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5", "contact_id": "3f1c7d2e-9a51-4a0f-8d2b-6f1f6f0f8a01",
            "context": {"segment_id": "0190b1c5-5c7e-7000-8000-000000000000"},
        }),
    )
    .takes(query::header(
        "X-UA-Contact-ID",
        "The contact that calls with a token.",
        json!({"type": "string", "format": "uuid"}),
    ))
    .ok::<Allowed>("Whether it may, and for how long that holds.");
    area
}

pub(super) fn channel_id(is_required: bool) -> query::Parameter {
    let schema = json!({"type": "string", "format": "uuid"});
    let parameter = query::header("X-UA-Channel-ID", "The channel that calls, unless its token says so.", schema);
    if is_required { parameter.required() } else { parameter }
}
