//! Segments, and explaining audiences.

use model::segment::SegmentBody;
use serde_json::json;

use crate::openapi::{Area, body, query};
use crate::page_size::PageSize;
use crate::routes::audience::{ExplanationRecord, Question};
use crate::routes::segments::{Created, Cutoff, Page};
use crate::routes::tags_in_use::{Groups, Tags};

pub(super) fn area() -> Area {
    let mut area = Area::new("Audiences", "Stored audiences, and who an audience reaches and why.");
    let criteria = json!({"or": [{"tag": "gold", "group": "loyalty"}, {"tag": "news"}]});
    area.post(
        "/api/audience/explain",
        "Explain an audience",
        "How many channels it matches and reaches, clause by clause, without sending.",
    )
    .body(body::of::<Question>, json!({"audience": criteria, "device_types": ["ios", "android"]}))
    .ok::<ExplanationRecord>("The explanation.");
    let prefix = || query::text("prefix", "Only those that begin with this, in letters of either case.");
    area.get(
        "/api/audience/terms",
        "List the tags of a group",
        "Those that a channel has, with how many channels have each, as an audience would select them now.",
    )
    .takes(query::text("group", "The tag group.").default(json!("device")))
    .takes(prefix())
    .takes(query::limit(PageSize::TAGS_IN_USE))
    .ok::<Tags>("The tags.");
    area.get("/api/audience/groups", "List tag groups", "Those with a tag that a channel has.")
        .takes(prefix())
        .takes(query::limit(PageSize::TAGS_IN_USE))
        .ok::<Groups>("The groups.");
    let segment = json!({"display_name": "Gold or news", "criteria": criteria});
    area.post("/api/segments", "Create a segment", "An audience that pushes and other segments select by its id.")
        .body(body::of::<SegmentBody>, segment.clone())
        .changed::<Created>("Its id.")
        .status(201)
        .location();
    area.get("/api/segments", "List segments", "In the order of their creation.")
        .takes(query::id("start", "The first segment of the page."))
        .takes(query::limit(PageSize::SEGMENTS))
        .takes(query::choice("sort", &["id"], "There is nothing else to sort by."))
        .takes(query::choice("order", &["asc", "desc"], "The oldest first, or the newest.").default(json!("asc")))
        .bare::<Page>("A page of segments.")
        .paged();
    area.get(
        "/api/segments/dates",
        "Show how far back periods reach",
        "For every unit of recent periods, the first that counts.",
    )
    .bare::<Vec<Cutoff>>("The units.");
    area.get("/api/segments/{segment_id}", "Look up a segment", "Only what was sent: `display_name` and `criteria`.")
        .bare_with(body::of::<SegmentBody>, "The segment.");
    area.put("/api/segments/{segment_id}", "Replace a segment", "Pushes that wait go by the new criteria.")
        .body(body::of::<SegmentBody>, segment)
        .done();
    area.delete("/api/segments/{segment_id}", "Delete a segment", "From then on it selects nobody.")
        .nothing("Deleted.");
    area
}
