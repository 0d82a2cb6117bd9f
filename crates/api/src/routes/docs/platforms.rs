//! How platforms are reached, for the operator.

use serde_json::json;

use crate::answer::Done;
use crate::openapi::{Area, body};
use crate::routes::platforms::record::PlatformRecord;
use crate::routes::platforms::{All, Notices, PlatformPause};

const NAME: &str = "The body is invalid, or there is no such kind of platform (40000).";

pub(super) fn area() -> Area {
    let mut area =
        Area::new("Platforms", "Credentials of providers, endpoints of open platforms, and what hinders them.");
    area.get(
        "/operator/platforms/notices",
        "List notices",
        "What to look at in all apps: what expires, is paused, waits or cannot be read.",
    )
    .ok::<Notices>("The notices.");
    area.get("/operator/apps/{key}/platforms", "List platforms", "Those that are configured, paused or waiting.")
        .ok::<All>("The platforms.");
    let kiosk = json!({"url": "https://kiosks.example.com/aerogram", "auth": {"type": "none"}, "validate": false});
    area.put(
        "/operator/apps/{key}/platforms/{platform}",
        "Configure a platform",
        "Credentials of a provider, or the endpoint of an open platform, which has to answer a handshake first. Replaces all keys.",
    )
    .body(body::platform, kiosk)
    .changed::<PlatformRecord>("The platform, without its secrets.")
    .refuses(409, "The endpoint did not answer the handshake (40900).");
    area.get("/operator/apps/{key}/platforms/{platform}", "Look up a platform", "Without its secrets.")
        .ok::<PlatformRecord>("The platform.")
        .refuses(400, NAME);
    area.delete("/operator/apps/{key}/platforms/{platform}", "Delete a platform", "Nothing is sent to it any more.")
        .nothing("Deleted.")
        .refuses(400, NAME);
    area.post(
        "/operator/apps/{key}/platforms/{platform}/test",
        "Test a platform",
        "Asks the provider about every key, or the endpoint for its handshake. Nothing is sent to any device.",
    )
    .ok::<Done>("Everything works.")
    .refuses(400, NAME)
    .refuses(409, "A key or the endpoint does not work; `error` says why (40900).");
    area.post(
        "/operator/apps/{key}/platforms/{platform}/pause",
        "Pause a platform",
        "Nothing is sent to it until it is resumed.",
    )
    .optional_body(body::of::<PlatformPause>, json!({"reason": "Maintenance until noon"}))
    .done();
    area.post(
        "/operator/apps/{key}/platforms/{platform}/resume",
        "Resume a platform",
        "Lets everything go on that waits for it.",
    )
    .done()
    .refuses(400, NAME);
    area.post(
        "/operator/apps/{key}/platforms/{platform}/keys",
        "Add keys",
        "Behind those that are there, which are tried first.",
    )
    .body(body::platform_keys, json!({"client_id": "amzn1.application-oa2-client.0", "client_secret": "secret"}))
    .changed::<PlatformRecord>("The platform.")
    .refuses(409, "The platform has as many keys as it may (40900).");
    area.delete("/operator/apps/{key}/platforms/{platform}/keys/{fingerprint}", "Remove a key", "By its fingerprint.")
        .nothing("Removed.")
        .refuses(400, NAME)
        .refuses(409, "It is the only key; delete the platform instead (40900).");
    area
}
