//! Tags in groups, and the old endpoints of flat tags.

use model::legacy_tag::{LegacyTagging, TagBatch};
use model::tagging::{ChannelTagging, NamedUserTagging};
use serde_json::json;

use super::channels::READ_ONLY;
use crate::openapi::{Area, body};
use crate::routes::legacy_tags::All;

pub(super) fn area() -> Area {
    let mut area = Area::new("Tags", "Words on channels and named users, in groups, to address them by.");
    let channel = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";
    area.post(
        "/api/channels/tags",
        "Tag channels",
        "`add` and `remove` change the named tags; `set` replaces those of its groups.",
    )
    .body(
        body::of::<ChannelTagging>,
        json!({"audience": {"ios_channel": [channel]}, "add": {"interests": ["news", "sports"]}}),
    )
    .done_except()
    .refuses(403, READ_ONLY);
    let named =
        json!({"audience": {"named_user_id": "kim-7"}, "add": {"loyalty": ["gold"]}, "remove": {"loyalty": "silver"}});
    area.post("/api/named_users/tags", "Tag named users", "Their tags count for all of their channels.")
        .body(body::of::<NamedUserTagging>, named)
        .done_except()
        .refuses(403, READ_ONLY);
    area.get("/api/tags", "List tags", "The first 100 flat tags of the app.").bare::<All>("The tags.");
    area.put("/api/tags/{tag}", "Create a tag", "The tag is there until it is deleted, even if nobody has it.")
        .done()
        .changed::<crate::answer::Done>("The tag is new.")
        .status(201)
        .refuses(400, "The tag is too long, or has control characters (40000).");
    area.post("/api/tags/{tag}", "Put a tag on devices", "Adds a flat tag to devices, and takes it from others.")
        .body(body::of::<LegacyTagging>, json!({"ios_channels": {"add": [channel]}}))
        .done_except();
    area.delete("/api/tags/{tag}", "Delete a tag", "From all devices at once.").nothing("Deleted.");
    let rows = json!([{"ios_channel": channel, "tags": ["news", "sports"]}]);
    area.put(
        "/api/tags/batch",
        "Set the tags of devices",
        "The flat tags of each device become those of its row: all rows or none.",
    )
    .body(body::of::<TagBatch>, rows.clone())
    .done_except();
    area.post("/api/tags/batch", "Set the tags of devices by POST", "The same by another method.")
        .body(body::of::<TagBatch>, rows)
        .done_except();
    area
}
