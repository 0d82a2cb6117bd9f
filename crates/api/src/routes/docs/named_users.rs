//! Named users.

use model::named_user::{Association, Disassociation, NamedUserUninstall, NamedUserUpdate};
use serde_json::json;

use super::channels::{READ_ONLY, timeline};
use crate::openapi::{Area, body, query};
use crate::page_size::PageSize;
use crate::routes::named_users::{Count, One, Page};

const SERVERS_ONLY: &str =
    "A rule of the app about named users does not allow this to devices, or the caller may not do this (40300).";

pub(super) fn area() -> Area {
    let mut area = Area::new("Named users", "People by your own ids, with all of their channels.");
    area.get("/api/named_users", "List named users", "One user with `id`; otherwise a page of users, in the order of their ids.")
        .takes(query::text("id", "The user to look up."))
        .takes(query::text("start", "The first user of the page."))
        .takes(query::limit(PageSize::NAMED_USERS))
        .ok_with(
            |generator| schemars::json_schema!({"anyOf": [generator.subschema_for::<One>(), generator.subschema_for::<Page>()]}),
            "The user, or a page of users.",
        )
        .paged()
        .refuses(404, "There is no user with this `id` (40401).");
    area.get("/api/named_users/count", "Count named users", "All of the app.").ok::<Count>("How many there are.");
    let association =
        json!({"channel_id": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5", "device_type": "ios", "named_user_id": "kim-7"});
    area.post(
        "/api/named_users/associate",
        "Associate a channel",
        "Gives a channel to a user, who is created if need be. One that has not registered yet is associated when it does.",
    )
    .body(body::of::<Association>, association.clone())
    .done_except()
    .refuses(403, SERVERS_ONLY);
    area.post("/api/named_users/disassociate", "Disassociate a channel", "Takes a channel from its user.")
        .body(body::of::<Disassociation>, association)
        .done_except()
        .refuses(403, SERVERS_ONLY);
    area.post(
        "/api/named_users/uninstall",
        "Uninstall named users",
        "Uninstalls all channels of the users and forgets them.",
    )
    .body(body::of::<NamedUserUninstall>, json!({"named_user_id": ["kim-7"]}))
    .done();
    area.post(
        "/api/named_users/scoped",
        "Subscribe nobody",
        "Needs the id of a user behind it: always answered with 404.",
    )
    .refuses(404, "There is nothing under this path (40400).");
    timeline(area.get(
        "/api/named_users/{named_user_id}/timeline",
        "Show what happened to a named user",
        "To the channels that are theirs and that were, while they were, newest first, as far back as events are kept.",
    ));
    area.post(
        "/api/named_users/{named_user_id}",
        "Change a named user",
        "Channels, tags and attributes in one request: all or nothing.",
    )
    .body(
        body::of::<NamedUserUpdate>,
        json!({"tags": {"add": {"loyalty": ["gold"]}}, "attributes": [{"action": "set", "key": "plan", "value": "gold"}]}),
    )
    .done_except()
    .refuses(403, READ_ONLY);
    area
}
