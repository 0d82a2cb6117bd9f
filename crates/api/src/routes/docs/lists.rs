//! Uploaded lists.

use model::change_list::{NewAttributeList, NewTagList};
use model::static_list::{ListUpdate, NewList};
use serde_json::json;

use crate::answer::Done;
use crate::openapi::{Area, body, query};
use crate::routes::change_lists::{AttributeLists, TagLists};
use crate::routes::lists::{All, ListRecord, Uploaded};

const RESERVED: &str = "Names that begin with `ua_` belong to the lists of the service (40300).";

pub(super) fn area() -> Area {
    let mut area =
        Area::new("Lists", "Channels and people in a file, which audiences refer to by the name of the list.");
    area.post(
        "/api/lists",
        "Create a list",
        "Empty, until rows are uploaded. The name of a deleted list cannot be used again.",
    )
    .body(body::of::<NewList>, json!({"name": "vip", "description": "Gold members"}))
    .changed::<Done>("Created.")
    .status(201)
    .location()
    .refuses(403, RESERVED)
    .refuses(
        409,
        "The name is or was in use, the app has as many lists as it may, or the idempotency key was used for another \
         request (40900).",
    );
    area.get("/api/lists", "List lists", "All in one page.")
        .takes(
            query::choice("type", &["user", "lifecycle", "all"], "Uploaded lists, those of the service, or both.")
                .default(json!("user")),
        )
        .ok::<All>("The lists.");
    area.get("/api/lists/{list}", "Look up a list", "With the number of channels that are on it now.")
        .ok::<ListRecord>("The list.");
    area.put("/api/lists/{list}", "Change a list", "Replaces what is given. A list keeps its name.")
        .body(body::of::<ListUpdate>, json!({"description": "Gold and platinum members"}))
        .done()
        .refuses(400, "Something is invalid (40000), or the name is another (40001).")
        .refuses(403, RESERVED);
    area.delete("/api/lists/{list}", "Delete a list", "It reaches nobody from that moment on.")
        .nothing("Deleted.")
        .refuses(403, RESERVED);
    area.put(
        "/api/lists/{list}/csv",
        "Upload the rows of a list",
        "Rows of two columns, the identifier type and the identifier; plain or gzip. An upload replaces all rows or none.",
    )
    .text_body("text/csv", "named_user,kim-7\r\nios_channel,9c36e8c7-5a73-47c0-9716-99fd3d4197d5\r\n")
    .changed::<Uploaded>("Every row is stored, but those that `warning` counts.")
    .status(202)
    .refuses(
        400,
        "The upload has more than ten million rows (40002), a row without two columns (40003), an unknown identifier type \
         (40004), a channel id that is no UUID (40005), or cannot be read (40000).",
    )
    .refuses(403, RESERVED)
    .refuses(408, "Nothing arrived for a minute (40800).")
    .refuses(409, "The upload took too long and was given up (40900).")
    .refuses(413, "The rows are larger than 8 GiB when unpacked (41300).");
    area.get("/api/lists/{list}/csv", "Download the rows of a list", "Sorted, each once.")
        .text("text/csv; charset=utf-8", "The rows.")
        .refuses(403, "Lists of the service have no rows to download (40300).");
    area.get(
        "/api/lists/{list}/errors",
        "List the rows that were left out",
        "Of the last upload: the line, and what is wrong.",
    )
    .text("text/csv; charset=utf-8", "The rows, after a header.")
    .refuses(403, RESERVED);
    area
}

pub(super) fn change_area() -> Area {
    let mut area = Area::new(
        "Tag and attribute lists",
        "Channels or people in a file, whose tags or attributes change when the file is uploaded.",
    );
    area.post(
        "/api/tag-lists",
        "Create a tag list",
        "It says which tags change. Nothing happens until a file is uploaded.",
    )
    .body(
        body::of::<NewTagList>,
        json!({"name": "ua_tags_gold", "add": {"loyalty": ["gold"]}, "remove": {"loyalty": ["silver"]}}),
    )
    .changed::<Done>("Created.")
    .status(201)
    .location()
    .refuses(403, "A tag group follows from device properties (40300).")
    .refuses(409, TAKEN);
    area.get("/api/tag-lists", "List tag lists", "All in one page, with what became of the last upload.")
        .ok::<TagLists>("The lists.");
    upload(
        &mut area,
        "/api/tag-lists/{list}/csv",
        "Upload a file for a tag list",
        "channel_id\r\n9c36e8c7-5a73-47c0-9716-99fd3d4197d5\r\n",
    );
    errors(&mut area, "/api/tag-lists/{list}/errors", "List the rows of a tag list that were not applied");
    area.delete(
        "/api/tag-lists/{list}",
        "Delete a tag list",
        "No file is taken any more. What is uploaded is still applied, and tags stay.",
    )
    .nothing("Deleted.");
    area.post("/api/attribute-lists", "Create an attribute list", "Nothing happens until a file is uploaded.")
        .body(body::of::<NewAttributeList>, json!({"name": "ua_attributes_crm", "description": "From the CRM"}))
        .changed::<Done>("Created.")
        .status(201)
        .location()
        .refuses(409, TAKEN);
    area.get("/api/attribute-lists", "List attribute lists", "All in one page, with what became of the last upload.")
        .ok::<AttributeLists>("The lists.");
    let rows = "named_user,plan,seats\r\nkim-7,gold,12\r\n";
    upload(&mut area, "/api/attribute-lists/{list}/csv", "Upload a file for an attribute list", rows);
    errors(&mut area, "/api/attribute-lists/{list}/errors", "List the rows of an attribute list that were not applied");
    area
}

const TAKEN: &str = "The name is in use, the app has as many lists as it may, or the idempotency key was used for another request \
                     (40900).";

fn upload(area: &mut Area, path: &'static str, summary: &'static str, rows: &'static str) {
    area.put(
        path,
        summary,
        "The first line names the columns, of which the first is `channel_id` or `named_user`; plain or gzip. Rows that cannot be \
         applied do not keep the others from it.",
    )
    .text_body("text/csv", rows)
    .done()
    .status(202)
    .refuses(
        400,
        "The file has more than ten million rows (40002), more than 100 attributes (40003), another first column (40013), a column \
         twice (40017), or cannot be read (40000); or the list changes no tags (40000).",
    )
    .refuses(408, "Nothing arrived for a minute (40800).")
    .refuses(409, "The upload took too long and was given up (40900).")
    .refuses(413, "The file is larger than 8 GiB when unpacked (41300).");
}

fn errors(area: &mut Area, path: &'static str, summary: &'static str) {
    area.get(path, summary, "Of the last upload: whom each is about, and what is wrong with it.")
        .text("text/csv; charset=utf-8", "The rows: an identifier, the word ERROR, and a sentence.");
}
