//! Exporting and erasing a person.

use model::privacy::Subject;
use serde_json::json;

use crate::openapi::{Area, body};
use crate::routes::privacy::{Asked, PrivacyRequest};

pub(super) fn area() -> Area {
    let mut area = Area::new("Privacy", "Everything that is stored about a person: to have it, or to have it erased.");
    let accepted = "It is done soon; look it up.";
    area.post(
        "/api/privacy/export",
        "Export a person",
        "Collects everything that is stored about a named user and its channels, a channel, or the channels with an address.",
    )
    .body(body::of::<Subject>, json!({"named_user_id": "kim-7"}))
    .changed::<Asked>(accepted)
    .status(202)
    .location();
    area.post(
        "/api/privacy/erase",
        "Erase a person",
        "Deletes or anonymizes everything that is stored about a named user and its channels, a channel, or the channels with \
         an address. There is no way back.",
    )
    .body(body::of::<Subject>, json!({"named_user_id": "kim-7"}))
    .changed::<Asked>(accepted)
    .status(202)
    .location();
    area.get(
        "/api/privacy/{privacy_id}",
        "Look up a privacy request",
        "With the receipt: what was found in each table, and what was done with it. Kept for 3 days after an export, and for \
         90 days after an erasure.",
    )
    .ok::<PrivacyRequest>("The request.");
    area.get("/api/privacy/{privacy_id}/result", "Download an export", "One line of JSON for each row, for 3 days.")
        .any_content("The lines, as `application/x-ndjson`.")
        .refuses(409, "The export has not ended yet, or was sealed with a key that is lost (40900).");
    area
}
