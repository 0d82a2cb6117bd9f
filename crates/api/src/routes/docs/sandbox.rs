//! The sandbox.

use model::sandbox::SandboxFaults;
use serde_json::json;

use super::events::last_event_id;
use crate::openapi::query::Parameter;
use crate::openapi::{Area, Operation, body, query};
use crate::page_size::PageSize;
use crate::routes::sandbox::{Faults, Page, Pushes, TRANSPORTS};

pub(super) fn area() -> Area {
    let mut area =
        Area::new("Sandbox", "What a development app would have sent to providers that it has no credentials for.");
    let list = area.get("/api/sandbox", "List sandbox deliveries", "The newest, the oldest of them first.");
    filters()
        .into_iter()
        .fold(list, Operation::takes)
        .takes(query::limit(PageSize::SANDBOX))
        .takes(query::number("wait", 0..=30, "How many seconds to wait for the first delivery.").default(json!(0)))
        .takes(start())
        .ok::<Page>("The deliveries.");
    let pushes = area.get(
        "/api/sandbox/pushes",
        "List the pushes in the sandbox",
        "By push, those with the newest deliveries first: how many deliveries there are, and the newest by each transport.",
    );
    filters()
        .into_iter()
        .fold(pushes, Operation::takes)
        .takes(query::limit(PageSize::SANDBOX_PUSHES))
        .takes(start())
        .ok::<Pushes>("The pushes.");
    area.delete("/api/sandbox", "Clear the sandbox", "Deletes all deliveries. Streams go on.").nothing("Deleted.");
    let stream = area.get(
        "/api/sandbox/stream",
        "Stream sandbox deliveries",
        "Server-sent events, one per delivery, as they happen.",
    );
    filters()
        .into_iter()
        .fold(stream, Operation::takes)
        .takes(last_event_id())
        .stream("The deliveries, as `text/event-stream`.");
    area.get("/api/sandbox/faults", "Show the faults of the sandbox", "The answers that are not used up.")
        .ok::<Faults>("The faults.");
    let faults = json!({"faults": [{"answer": "gone", "count": 2, "device_type": "ios"}, {"answer": "busy"}]});
    area.put(
        "/api/sandbox/faults",
        "Have the sandbox answer otherwise",
        "The next messages are answered as `gone`, `busy` or `refused` instead of being taken, to see what follows. Replaces the \
         faults that are left.",
    )
    .body(body::of::<SandboxFaults>, faults)
    .done()
    .refuses(409, "The app is in production mode, and has no sandbox (40900).");
    area
}

fn start() -> Parameter {
    query::text("start", "Where the page begins, as `next_page` has it.").example("131072")
}

fn filters() -> [Parameter; 6] {
    [
        query::id("push_id", "Only those of this push."),
        query::id("channel_id", "Only those to this channel."),
        query::text("device_type", "Only those to devices of this type.").example("ios"),
        query::choice("transport", &TRANSPORTS, "Only those that went this way."),
        query::date("since", "Only from this time on."),
        query::text("q", "Only those with this in their request, in letters of either case."),
    ]
}
