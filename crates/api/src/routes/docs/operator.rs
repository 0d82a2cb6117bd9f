//! Apps and pushes, for the operator.

use model::app::{AppChange, NewApp, Rotation};
use serde_json::json;

use crate::openapi::{Area, body, query};
use crate::page_size::PageSize;
use crate::routes::doctor::Checks;
use crate::routes::operator_nodes::Nodes;
use crate::routes::{apps, audit_log, operator_pushes};

pub(super) fn area() -> Area {
    let mut area = Area::new("Operator", "Apps with their secrets, and the pushes of all apps.");
    area.post("/operator/apps", "Create an app", "Only now the secrets are shown.")
        .body(body::of::<NewApp>, json!({"name": "My app", "mode": "development"}))
        .changed::<apps::Created>("The app and its secrets.")
        .status(201)
        .location()
        .refuses(409, "The key is taken, or the idempotency key was used for another request (40900).");
    area.get("/operator/apps", "List apps", "All of them.").ok::<apps::All>("The apps.");
    area.get("/operator/apps/{key}", "Look up an app", "Without its secrets.").ok::<apps::One>("The app.");
    area.patch(
        "/operator/apps/{key}",
        "Change an app",
        "Its name, its mode, who may say what about named users, and which web pages may register browsers.",
    )
    .body(body::of::<AppChange>, json!({"mode": "production", "named_users": {"associate": "servers"}}))
    .changed::<apps::One>("The app as it is now.");
    area.delete(
        "/operator/apps/{key}",
        "Delete an app",
        "Credentials stop working at once; data is erased in the background.",
    )
    .nothing("Deleted.");
    area.get(
        "/operator/apps/{key}/demo",
        "Get the link to the demo",
        "To the page that shows a push arriving, with the code that lets it send to itself.",
    )
    .ok::<apps::Demo>("The link.")
    .refuses(409, "The app is not in development (40900).");
    area.post(
        "/operator/apps/{key}/rotate",
        "Replace secrets",
        "The old ones stop working at once, or after the seconds of `overlap`, on all nodes. Of secrets that were replaced one of \
         each kind is good at most: a new replacement ends the one before.",
    )
    .body(body::of::<Rotation>, json!({"secret": "master", "overlap": 86_400}))
    .changed::<apps::Rotated>("The new secrets, which are shown only now.");
    area.get(
        "/operator/apps/{key}/former-secrets",
        "List replaced secrets that are good yet",
        "Only which they are and until when; secrets are never shown again.",
    )
    .ok::<apps::FormerSecrets>("The replaced secrets.");
    area.delete(
        "/operator/apps/{key}/former-secrets/{secret}",
        "End a replaced secret",
        "Before its time. It is refused at once, on all nodes.",
    )
    .variable("secret", json!({"type": "string", "enum": ["app", "master"]}), "Which of the two.")
    .nothing("Ended.");
    area.get(
        "/operator/audit",
        "Show who asked for which change",
        "Changes by servers, by the operator and by commands that open the database, the newest first. A page can be short \
         although there is a next one: a call looks at 10,000 entries at most.",
    )
    .takes(query::text("app", "Only changes of the app with this key."))
    .takes(query::text("credential", "Only by this credential, or by this kind of credential, such as `master secret`."))
    .takes(query::text("action", "Only changes of this name, such as `push.send`."))
    .takes(query::date("from", "Only from this time on."))
    .takes(query::date("to", "Only before this time."))
    .takes(query::text("start", "Where the page begins, from `next_page`."))
    .takes(query::limit(PageSize::AUDIT))
    .ok::<audit_log::Page>("A page of entries.")
    .refuses(404, "There is no app with this key (40401).")
    .paged();
    area.get("/operator/apps/{key}/audit", "Show who asked for which change of an app", "As for all apps.")
        .takes(query::text("credential", "Only by this credential, or by this kind of credential, such as `account`."))
        .takes(query::text("action", "Only changes of this name, such as `push.send`."))
        .takes(query::date("from", "Only from this time on."))
        .takes(query::date("to", "Only before this time."))
        .takes(query::text("start", "Where the page begins, from `next_page`."))
        .takes(query::limit(PageSize::AUDIT))
        .ok::<audit_log::Page>("A page of entries.")
        .paged();
    area.get("/operator/pushes", "List pushes on their way", "Of all apps, in the order of their ids.")
        .takes(query::choice("state", &["accepted", "sending", "paused"], "Only those in this state."))
        .takes(query::id("start", "The first push of the page."))
        .takes(query::limit(PageSize::PUSHES_ON_THEIR_WAY))
        .ok::<operator_pushes::Page>("A page of pushes.")
        .paged();
    area.get("/operator/pushes/{push_id}", "Look up a push of any app", "Also when it is over.")
        .ok::<operator_pushes::One>("The push.");
    area.get(
        "/operator/nodes",
        "List nodes",
        "The nodes that were there in the last day and have not ended in order, with what each is doing.",
    )
    .ok::<Nodes>("The nodes.");
    area.get(
        "/operator/doctor",
        "Check the installation",
        "The checks of `aerogram doctor` that a running server can make, each with a sentence. While the database cannot be read, \
         only that is told.",
    )
    .ok::<Checks>("The checks.");
    area
}
