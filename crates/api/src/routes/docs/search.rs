//! Searching an app.

use crate::openapi::{Area, query};
use crate::routes::search::Results;

pub(super) fn area() -> Area {
    let mut area = Area::new("Search", "Find anything in an app by what one knows of it.");
    area.get(
        "/api/search",
        "Search an app",
        "Finds pushes, channels, segments, lists, schedules, templates, pipelines and experiments by their ids, channels by an \
         address, named users by the beginning of their ids, and all that have names by a part of these, in letters of either \
         case. Up to ten of a kind; by name among the newest 1,000 of each kind.",
    )
    .takes(query::text("q", "What is looked for.").example("storm").required())
    .ok::<Results>("What was found.");
    area
}
