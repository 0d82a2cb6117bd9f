//! What device libraries ask for and report.

use serde_json::json;

use crate::answer::Done;
use crate::openapi::{Area, body, query};
use crate::routes::device_tokens::{ProofKey, Token};
use crate::routes::platforms::WebKey;
use crate::routes::remote_data::RemoteData;

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
    .ok::<WebKey>("The key.");
    area.get(
        "/api/remote-data/app/{key}/{platform}",
        "Show where everything is",
        "The address of this service for each part of the API, which libraries ask for before anything else.",
    )
    .variable(
        "platform",
        json!({"type": "string", "enum": ["android", "amazon", "ios", "web"]}),
        "The platform that asks.",
    )
    .bare::<RemoteData>("The addresses.")
    .header("Last-Modified", "To be sent back as `If-Modified-Since`.")
    .not_modified();
    area.get("/api/remote-data-contact/{platform}/{contact_id}", "Show the data of a contact", "There is none.")
        .variable(
            "platform",
            json!({"type": "string", "enum": ["android", "amazon", "ios", "web"]}),
            "The platform that asks.",
        )
        .bare::<RemoteData>("Nothing.");
    area
}

pub(super) fn channel_id(is_required: bool) -> query::Parameter {
    let schema = json!({"type": "string", "format": "uuid"});
    let parameter = query::header("X-UA-Channel-ID", "The channel that calls, unless its token says so.", schema);
    if is_required { parameter.required() } else { parameter }
}
