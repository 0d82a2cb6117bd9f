//! Channels with names, and which of them a push to an audience reaches.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use testkit::app::TestApp;

pub(crate) struct Crowd(BTreeMap<&'static str, Member>);

struct Member {
    id: String,
    device_type: &'static str,
}

impl Crowd {
    /// Registers channels that can be reached, each a name and a device type.
    pub(crate) async fn register(app: &TestApp, members: &[(&'static str, &'static str)]) -> Self {
        let mut crowd = BTreeMap::new();
        for (name, device_type) in members {
            let reply = match device_type.strip_prefix("open::") {
                Some(platform) => {
                    let open = json!({"open_platform_name": platform});
                    let channel = json!({"type": "open", "opt_in": true, "address": name, "open": open});
                    app.master().post("/api/channels/open", json!({ "channel": channel })).await.expect(200)
                }
                None => {
                    let channel = json!({"device_type": device_type, "opt_in": true, "push_address": name});
                    app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201)
                }
            };
            let id = reply["channel_id"].as_str().unwrap().to_owned();
            crowd.insert(*name, Member { id, device_type });
        }
        Self(crowd)
    }

    pub(crate) fn id(&self, name: &str) -> &str {
        &self.0[name].id
    }

    /// Makes a channel of a device belong to a named user, or to nobody.
    pub(crate) async fn associate(&self, app: &TestApp, name: &str, user: Option<&str>) {
        let Member { id, device_type } = &self.0[name];
        let channel = json!({"device_type": device_type, "opt_in": true, "named_user_id": user});
        app.device().put(&format!("/api/channels/{id}"), json!({ "channel": channel })).await.expect(200);
    }

    pub(crate) async fn uninstall(&self, app: &TestApp, name: &str) {
        let Member { id, device_type } = &self.0[name];
        let body = json!({"channel_id": id, "device_type": device_type});
        app.master().post("/api/channels/uninstall", body).await.expect(202);
    }

    pub(crate) async fn look_up(&self, app: &TestApp, name: &str) -> Value {
        let path = format!("/api/channels/{}", self.id(name));
        app.device().get(&path).await.expect(200)["channel"].clone()
    }

    /// Sends to an audience and answers the names of those who got it, in order and with spaces between them.
    pub(crate) async fn reached(&self, app: &TestApp, audience: &Value) -> String {
        let push = json!({"audience": audience, "device_types": "all", "notification": {"alert": "Hi"}});
        let accepted = app.master().post("/api/push", push).await.expect(200);
        app.step_all().await;
        let path = format!("/api/sandbox?limit=1000&push_id={}", accepted["push_ids"][0].as_str().unwrap());
        let sandbox = app.master().get(&path).await.expect(200);
        let reached: Vec<&str> =
            sandbox["deliveries"].as_array().unwrap().iter().map(|it| it["channel_id"].as_str().unwrap()).collect();
        let names = self.0.iter().filter(|(_, member)| reached.contains(&member.id.as_str())).map(|(name, _)| *name);
        names.collect::<Vec<_>>().join(" ")
    }
}
