//! Webhooks for events, for the operator.

use model::event::ReplayFrom;
use providers::webhook::{NewWebhook, WebhookChange};
use serde_json::json;

use crate::openapi::{Area, body, query};
use crate::page_size::PageSize;
use crate::routes::webhooks::record::{All, Attempts, Discarded, Letters, One, Proof, Sent};

pub(super) fn area() -> Area {
    let mut area = Area::new("Webhooks", "Addresses to which the events of an app are forwarded, one POST per event.");
    let webhook = json!({"name": "Warehouse", "url": "https://events.example.com/aerogram", "types": ["OPEN", "SEND"]});
    area.post(
        "/operator/apps/{key}/webhooks",
        "Create a webhook",
        "From now on, or with `\"start\": \"earliest\"` from what is kept.",
    )
    .body(body::of::<NewWebhook>, webhook)
    .changed::<One>("The webhook.")
    .status(201)
    .location()
    .refuses(
        409,
        "The app has as many webhooks as it may, or the idempotency key was used for another request (40900).",
    );
    area.get("/operator/apps/{key}/webhooks", "List webhooks", "With their state, and how far they are behind.")
        .ok::<All>("The webhooks.");
    area.get("/operator/apps/{key}/webhooks/{webhook_id}", "Look up a webhook", "Values of headers are never shown.")
        .ok::<One>("The webhook.");
    area.patch(
        "/operator/apps/{key}/webhooks/{webhook_id}",
        "Change a webhook",
        "What was to be tried later is tried at once.",
    )
    .body(body::of::<WebhookChange>, json!({"enabled": false}))
    .changed::<One>("The webhook as it is now.");
    area.delete(
        "/operator/apps/{key}/webhooks/{webhook_id}",
        "Delete a webhook",
        "With its history and its dead letters.",
    )
    .nothing("Deleted.");
    area.post("/operator/apps/{key}/webhooks/{webhook_id}/test", "Test a webhook", "Sends one made-up event.")
        .ok::<Proof>("The event was taken.")
        .refuses(409, "The event was not taken; `error` says why (40900).");
    area.get(
        "/operator/apps/{key}/webhooks/{webhook_id}/history",
        "List the requests of a webhook",
        "The last one first.",
    )
    .takes(query::limit(PageSize::OF_WEBHOOK))
    .ok::<Attempts>("The requests.");
    area.post(
        "/operator/apps/{key}/webhooks/{webhook_id}/replay",
        "Replay events",
        "Begins again after an event (`offset`) or at a time (`time`). Repeats have the same ids.",
    )
    .body(body::of::<ReplayFrom>, json!({"time": "2026-01-31T12:00:00"}))
    .changed::<One>("The webhook.");
    let after = || query::text("after", "The offset after which to begin.").example("131072");
    area.get(
        "/operator/apps/{key}/webhooks/{webhook_id}/dead",
        "List dead letters",
        "Events that were given up, with the reason.",
    )
    .takes(query::limit(PageSize::OF_WEBHOOK))
    .takes(after())
    .ok::<Letters>("A page of dead letters.");
    area.delete("/operator/apps/{key}/webhooks/{webhook_id}/dead", "Discard dead letters", "All of them.")
        .changed::<Discarded>("How many there were.");
    area.post(
        "/operator/apps/{key}/webhooks/{webhook_id}/dead/redeliver",
        "Redeliver dead letters",
        "Sends up to 100 of them once more, and ends early when they are not taken.",
    )
    .takes(after())
    .changed::<Sent>("How it went, and where to go on.");
    area
}
