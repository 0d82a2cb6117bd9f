//! The demonstration.

use model::demo::DemoPush;
use serde_json::json;

use crate::openapi::{Area, body, shape::Accepted};
use crate::routes::demo::{PHONES, Phone};
use crate::routes::push::Status;

const ELSEWHERE: &str = "The demo is not shown to this caller, or the code is wrong (40401).";

pub(super) fn area() -> Area {
    let mut area = Area::new(
        "Demo",
        "A page that is a device of an app in development, sends itself a push and shows it arriving. Shown on the same machine.",
    );
    for (path, summary, media_type, text) in [
        ("/demo", "Show the demo", "text/html; charset=utf-8", "The page."),
        ("/demo/demo.js", "Fetch the script of the demo", "text/javascript; charset=utf-8", "Part of the page."),
        ("/demo/demo.css", "Fetch the style of the demo", "text/css; charset=utf-8", "Part of the page."),
    ] {
        area.get(path, summary, text)
            .text(media_type, text)
            .header("ETag", "To be sent back as `If-None-Match`.")
            .not_modified_by_tag()
            .refuses(404, ELSEWHERE);
    }
    let push = json!({"channel_id": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5", "alert": "Hello"});
    area.post(
        "/demo/phones/{device_type}",
        "Play a phone in the demo",
        "By HTTP Basic, with the key of the app and the code of the link. The phone is a channel that is live and has no address.",
    )
    .variable("device_type", json!({"type": "string", "enum": PHONES}), "The type of the phone.")
    .changed::<Phone>("The channel, and a token of it.")
    .status(201)
    .refuses(404, ELSEWHERE);
    area.post(
        "/demo/push",
        "Send a push from the demo",
        "By HTTP Basic, with the key of the app and the code of the link.",
    )
    .body(body::of::<DemoPush>, push)
    .ok::<Accepted>("The push was accepted.")
    .refuses(404, ELSEWHERE);
    area.get("/demo/push/{push_id}", "Look up a push of the demo", "By HTTP Basic, as above.")
        .ok::<Status>("The push.");
    area
}
