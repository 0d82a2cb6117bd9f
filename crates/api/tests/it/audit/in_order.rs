//! Changes that depend on each other, for the walk through all changes.

use http::Method;
use serde_json::json;
use testkit::app::TestApp;

use super::{call, send_push};
use crate::events_intake::event_at;
use crate::isolation::Belongings;

/// Calls that change something only in the right order, and with things of their own.
pub(super) async fn call_in_order(app: &TestApp, belongings: &Belongings) {
    let server = app.master();
    let push = send_push(app).await;
    for word in ["pause", "resume", "cancel"] {
        server.post(&format!("/api/push/{push}/{word}"), "").await.expect(200);
    }
    for action in ["/pause", "/resume"] {
        let reply = server.post(&belongings.schedule_path(action), "").await;
        assert!(reply.status.is_success(), "{}", reply.text());
    }
    let event = json!([event_at("app_foreground", app.clock().now().0, json!({}))]);
    call(&server, &Method::POST, "/warp9", belongings, &event).await.expect(200);
    let journey = json!({"audience": {"channel": belongings.channel}, "triggering_id": "welcome"});
    server.post("/api/journeys/trigger", journey).await.expect(200);
    server.post("/api/journeys/exit", json!({"triggering_id": "welcome"})).await.expect(200);
    let scoped = json!({"scoped": [{"scope": ["app"], "subscription_lists": {"subscribe": ["daily"]}}]});
    let device = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "ABCDEF4567"}});
    let channel = app.device().post("/api/channels", device).await.expect(201)["channel_id"].clone();
    let own = json!({"channel_id": channel, "device_type": "ios"});
    let user = json!({"channel_id": channel, "device_type": "ios", "named_user_id": "lee"});
    server.post("/api/named_users/associate", &user).await.expect(200);
    let contact = server.post("/api/contacts/resolve", &own).await.expect(200)["contact_id"].clone();
    let contact = contact.as_str().unwrap();
    server.post("/api/named_users/kim", json!({"tags": {"add": {"g": ["t"]}}})).await.expect(200);
    let of_kim = server.get("/api/contacts/lookup/named_user/kim").await.expect(200)["contact_id"].clone();
    for (path, body) in [
        ("/api/named_users/scoped/lee", &scoped),
        ("/api/tags/fresh", &json!({"ios_channels": {"add": [channel]}})),
        ("/api/tags/batch", &json!([{"ios_channel": channel, "tags": ["batch"]}])),
        (&*format!("/api/contacts/{contact}"), &json!({"tags": {"add": {"g": ["t"]}}})),
        ("/api/contacts/tags", &json!({"audience": {"contact_id": contact}, "add": {"g": ["more"]}})),
        (
            "/api/contacts/attributes",
            &json!([{"audience": {"contact_id": contact}, "attributes": [{"action": "set", "key": "k", "value": 1}]}]),
        ),
        (
            &*format!("/api/contacts/scoped/{contact}"),
            &json!({"scoped": [{"scope": ["app"], "subscription_lists": {"subscribe": ["hourly"]}}]}),
        ),
        (&*format!("/api/contacts/disassociate/{contact}"), &json!({"channel_id": channel})),
        ("/api/contacts/associate", &json!({"contact_id": of_kim, "channel_id": channel})),
        ("/api/named_users/associate", &user),
        ("/api/named_users/disassociate", &own),
        ("/api/contacts/identify", &user),
        ("/api/contacts/reset", &own),
    ] {
        let reply = server.post(path, body).await;
        assert!(reply.status.is_success(), "{path}: {}", reply.text());
    }
}
