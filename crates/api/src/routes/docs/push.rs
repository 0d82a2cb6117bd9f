//! Sending, following and steering pushes.

use model::json::OneOrMany;
use model::payload::Push;
use serde_json::json;

use crate::answer::Done;
use crate::openapi::{Area, body, shape::Accepted};
use crate::routes::push::Status;

pub(super) fn area() -> Area {
    let mut area = Area::new("Push", "Send messages to an audience, follow them, and steer them on their way.");
    let push = json!({"audience": {"tag": "news"}, "notification": {"alert": "Hello"}, "device_types": "all"});
    area.post(
        "/api/push",
        "Send a push",
        "Takes one push or an array of up to 100. All of them are accepted or none; the answer comes when they are durable.",
    )
    .body(body::of::<OneOrMany<Push>>, push.clone())
    .ok::<Accepted>("Accepted: the pushes are sent from now on.");
    area.post("/api/push/validate", "Validate a push", "Checks everything that sending would, and sends nothing.")
        .body(body::of::<OneOrMany<Push>>, push)
        .ok::<Done>("The pushes would be accepted.");
    let create = json!({
        "audience": {"create_and_send": [{"ua_address": "lobby-1"}]},
        "device_types": ["open::kiosk"],
        "notification": {"open::kiosk": {"alert": "Hello"}},
    });
    area.post(
        "/api/create-and-send",
        "Create channels and send",
        "Registers the open channels that the audience brings along, and sends them one push. Addresses that exist are updated.",
    )
    .body(body::of::<Push>, create.clone())
    .ok::<Accepted>("Accepted.")
    .status(202);
    area.post(
        "/api/create-and-send/validate",
        "Validate create and send",
        "Checks such a push and does nothing with it.",
    )
    .body(body::of::<Push>, create)
    .ok::<Done>("The push would be accepted.");
    area.get(
        "/api/push/{push_id}",
        "Look up a push",
        "Its state (`accepted`, `sending`, `paused`, `done` or `canceled`) and how far it has got, by device type.",
    )
    .ok::<Status>("The push.");
    area.post(
        "/api/push/{push_id}/pause",
        "Pause a push",
        "Within a second no node starts another delivery; what is under way still arrives. A paused push still expires.",
    )
    .changed::<Status>("The push, paused.")
    .refuses(409, TOO_LATE);
    area.post("/api/push/{push_id}/resume", "Resume a push", "Lets a paused push go on.")
        .changed::<Status>("The push.")
        .refuses(409, TOO_LATE);
    area.post("/api/push/{push_id}/cancel", "Cancel a push", "Ends a push for good: what has not arrived never will.")
        .changed::<Status>("The push, canceled.")
        .refuses(409, TOO_LATE);
    area
}

const TOO_LATE: &str = "The push is done or was canceled (40900).";
