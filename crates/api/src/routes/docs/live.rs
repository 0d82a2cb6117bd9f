//! Live connections of devices.

use model::live::LiveAck;
use serde_json::json;

use super::devices::channel_id;
use super::events::last_event_id;
use crate::answer::Done;
use crate::openapi::{Area, body, query};
use crate::routes::live::{MOST_WAIT, Polled, PresenceRecord};

const NOT_LIVE: &str = "The channel is not live (40900).";
const NO_CHANNEL: &str = "There is no such channel, or it is uninstalled (40401).";
const TOO_MANY: &str = "There are too many connections, or too many were opened (42901).";

pub(super) fn area() -> Area {
    let mut area = Area::new(
        "Live connections",
        "Messages for channels that are registered with `live`, over connections of their own. docs/live.md has the protocol.",
    );
    area.get(
        "/live",
        "Get live messages",
        "A WebSocket with the protocol `aerogram.live.1` if the request asks for an upgrade; with `wait` a long poll, whose answer \
         is described here; server-sent events otherwise. Browsers give the token of the channel as protocol `token.…`.",
    )
    .takes(channel_id(false))
    .takes(query::text("after", "The `at` of the last message that the device has, which acknowledges it.").example("813"))
    .takes(query::number("ping", live::PINGS, "Seconds between two signs of life.").default(json!(live::USUAL_PING)))
    .takes(query::number("wait", 0..=MOST_WAIT, "How many seconds a long poll waits for the first message."))
    .takes(last_event_id())
    .ok::<Polled>("The messages of a long poll.")
    .refuses(400, "No channel is named, a value is wrong, or the handshake is (40000).")
    .refuses(404, NO_CHANNEL)
    .refuses(409, NOT_LIVE)
    .refuses(429, TOO_MANY);
    area.get(
        "/api/live",
        "Count who is connected",
        "Channels that have a live connection now, to whichever node: nodes tell each other within seconds.",
    )
    .ok::<PresenceRecord>("In all and by device type.");
    area.post(
        "/live/ack",
        "Acknowledge live messages",
        "For devices that get them as server-sent events: the device has this message and all before it.",
    )
    .takes(channel_id(false))
    .body(body::of::<LiveAck>, json!({"at": "813"}))
    .ok::<Done>("Noted.")
    .refuses(400, "No channel is named, or the position is none (40000).")
    .refuses(404, NO_CHANNEL)
    .refuses(409, NOT_LIVE);
    area
}
