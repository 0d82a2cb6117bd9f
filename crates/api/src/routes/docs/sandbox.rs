//! The sandbox.

use serde_json::json;

use super::events::last_event_id;
use crate::openapi::{Area, query};
use crate::page_size::PageSize;
use crate::routes::sandbox::Page;

pub(super) fn area() -> Area {
    let mut area =
        Area::new("Sandbox", "What a development app would have sent to providers that it has no credentials for.");
    area.get("/api/sandbox", "List sandbox deliveries", "The newest, the oldest of them first.")
        .takes(query::id("push_id", "Only those of this push."))
        .takes(query::id("channel_id", "Only those to this channel."))
        .takes(query::limit(PageSize::SANDBOX))
        .takes(query::number("wait", 0..=30, "How many seconds to wait for the first delivery.").default(json!(0)))
        .ok::<Page>("The deliveries.");
    area.get(
        "/api/sandbox/stream",
        "Stream sandbox deliveries",
        "Server-sent events, one per delivery, as they happen.",
    )
    .takes(query::id("push_id", "Only those of this push."))
    .takes(query::id("channel_id", "Only those to this channel."))
    .takes(last_event_id())
    .stream("The deliveries, as `text/event-stream`.");
    area
}
