//! Events: those of servers, and the stream of all of them.

use model::custom_event::CustomEvent;
use model::event::EventRequest;
use model::json::OneOrMany;
use serde_json::json;

use crate::openapi::{Area, body, query};
use crate::page_size::PageSize;
use crate::routes::custom_events::Spelled;
use crate::routes::newest_events::Page;

const STREAM: &str = "One event a line as `application/vnd.urbanairship+x-ndjson` or `application/x-ndjson`, or server-sent \
    events, as the `Accept` header asks. Empty lines, or comments, show that the stream is alive.";

pub(super) fn area() -> Area {
    let mut area =
        Area::new("Events", "Everything that happens to an app, in order and resumable; and events of your own.");
    area.post("/api/custom-events", "Send custom events", "Takes one event or an array of up to 100: all or none.")
        .body(
            body::of::<OneOrMany<CustomEvent>>,
            json!([{
                "occurred": "2026-01-31T12:00:00", "user": {"named_user_id": "kim-7"},
                "body": {"name": "purchased", "value": 239.85, "interaction_type": "url", "interaction_id": "shop",
                         "properties": {"currency": "EUR"}},
            }]),
        )
        .changed::<Spelled>("Accepted.");
    let truth = ["true", "false"];
    area.get("/api/events", "Stream events", "From the beginning of what is kept, unless the query says otherwise.")
        .takes(query::choice("start", &["earliest", "latest"], "Where to begin.").default(json!("earliest")))
        .takes(
            query::text("offset", "The offset of the last event that is known. Not together with `start`.")
                .example("131072"),
        )
        .takes(query::text("types", "Only these types, with commas between them.").example("OPEN,SEND,UNINSTALL"))
        .takes(query::text("channel", "Only these channels, with commas between their ids."))
        .takes(query::text(
            "push",
            "Only what is about these pushes, or groups of pushes, with commas between their ids.",
        ))
        .takes(query::choice("follow", &truth, "Whether to wait for what is yet to happen.").default(json!("true")))
        .takes(query::number("limit", EventRequest::LIMITS, "After how many events the stream ends."))
        .takes(
            query::choice("enable_offset_updates", &truth, "Whether to show the offset while nothing happens.")
                .default(json!("false")),
        )
        .takes(last_event_id())
        .stream(STREAM);
    area.post(
        "/api/events",
        "Stream events by filters",
        "The same, asked for with a body, which can have several filters.",
    )
    .body(body::of::<EventRequest>, json!({"start": "EARLIEST", "filters": [{"types": ["OPEN", "SEND"]}]}))
    .stream(STREAM);
    area.get("/api/events/newest", "List the newest events", "Newest first, as far back as events are kept.")
        .takes(query::text("before", "Only events before the one with this offset.").example("131072"))
        .takes(query::limit(PageSize::TIMELINE))
        .takes(query::text("types", "Only these types, with commas between them.").example("OPEN,SEND,UNINSTALL"))
        .takes(query::text("channel", "Only these channels, with commas between their ids."))
        .takes(query::text(
            "push",
            "Only what is about these pushes, or groups of pushes, with commas between their ids.",
        ))
        .ok::<Page>("Some events. There may be fewer than `limit`, even none, although `before` leads to more.");
    area
}

/// For streams of server-sent events, which clients resume with this header.
pub(super) fn last_event_id() -> query::Parameter {
    query::header(
        "Last-Event-ID",
        "The id of the last event that is known, from which to go on.",
        json!({"type": "string", "pattern": "^[0-9]+$"}),
    )
}
