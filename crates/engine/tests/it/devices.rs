//! Devices and pushes as the tests of this folder need them.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::app::TestApp;

/// Registers a device and returns its channel id. `more` goes over an opted-in device with an address of its own.
pub(crate) async fn register(app: &TestApp, device_type: &str, address: &str, more: Value) -> String {
    let mut channel = json!({"device_type": device_type, "opt_in": true, "push_address": address});
    merge(&mut channel, more);
    let reply = app.device().post("/api/channels", json!({ "channel": channel })).await;
    reply.expect(201)["channel_id"].as_str().unwrap().to_owned()
}

pub(crate) async fn register_open(app: &TestApp, platform: &str, address: &str, more: Value) -> String {
    let mut channel =
        json!({"type": "open", "opt_in": true, "address": address, "open": {"open_platform_name": platform}});
    merge(&mut channel, more);
    let reply = app.master().post("/api/channels/open", json!({ "channel": channel })).await;
    reply.expect(200)["channel_id"].as_str().unwrap().to_owned()
}

fn merge(object: &mut Value, more: Value) {
    let Value::Object(more) = more else { panic!("{more} is no object") };
    object.as_object_mut().unwrap().extend(more);
}

/// Sends a push and returns its id.
pub(crate) async fn push(app: &TestApp, push: Value) -> String {
    let reply = app.master().post("/api/push", &push).await;
    reply.expect(200)["push_ids"][0].as_str().unwrap().to_owned()
}

/// The deliveries of a push to the sandbox.
pub(crate) async fn deliveries(app: &TestApp, push_id: &str) -> Vec<Value> {
    let reply = app.master().get(&format!("/api/sandbox?push_id={push_id}&limit=1000")).await;
    reply.expect(200)["deliveries"].as_array().unwrap().clone()
}

/// The channels that a push reached in the sandbox.
pub(crate) async fn reached(app: &TestApp, push_id: &str) -> BTreeSet<String> {
    let deliveries = deliveries(app, push_id).await;
    let reached: BTreeSet<_> =
        deliveries.iter().map(|delivery| delivery["channel_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(reached.len(), deliveries.len(), "nobody is served twice");
    reached
}

/// The state of a push and its counts, as the API tells them.
pub(crate) async fn status(app: &TestApp, push_id: &str) -> Value {
    app.master().get(&format!("/api/push/{push_id}")).await.expect(200)["push"].clone()
}
