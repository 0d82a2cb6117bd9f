//! The last requests of an app.

use super::events::last_event_id;
use crate::openapi::query::Parameter;
use crate::openapi::{Area, query};
use crate::page_size::PageSize;
use crate::routes::requests::{BY, Page};

pub(super) fn area() -> Area {
    let mut area = Area::new("Requests", "The last requests of an app, to see what went wrong.");
    area.get(
        "/api/requests",
        "List requests",
        "The newest first. Of a development app all requests are kept, of a production app those that were refused; in the memory \
         of the node that answers, for a day at most.",
    )
    .takes(by())
    .takes(refused())
    .takes(text())
    .takes(query::limit(PageSize::REQUESTS))
    .ok::<Page>("The requests.");
    area.get(
        "/api/requests/stream",
        "Stream requests",
        "Server-sent events, one per request that this node answers, as they happen.",
    )
    .takes(by())
    .takes(refused())
    .takes(text())
    .takes(last_event_id())
    .stream("The requests, as `text/event-stream`.");
    area
}

fn by() -> Parameter {
    query::choice("by", &BY.map(|(word, _)| word), "Only those of servers, or of devices.")
}

fn text() -> Parameter {
    query::text("q", "A part of the path, of what was wrong, or of the request id, in letters of either case.")
}

fn refused() -> Parameter {
    query::choice("refused", &["true", "false"], "Only those that were refused, or that were not.")
}
