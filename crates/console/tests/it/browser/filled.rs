//! An app with something to show on every page.

use serde_json::{Value, json};
use testkit::app::TestApp;

/// What some pages show one of: the variables of their paths, with values.
pub(super) type Shown = Vec<(&'static str, String)>;

pub(super) async fn fill(app: &TestApp) -> Shown {
    let channel = devices(app).await;
    let push =
        json!({"audience": {"tag": "news"}, "device_types": "all", "notification": {"alert": "A <b>bold</b> claim"}});
    let sent = app.master().post("/api/push", push).await.expect(200);
    app.step_all().await;
    app.master().post("/api/push", json!({"audience": "all", "device_types": "toasters"})).await.expect(400);
    app.master().post("/api/lists", json!({"name": "readers"})).await.expect(201);
    let segment = json!({"display_name": "Readers of the news", "criteria": {"tag": "news"}});
    let segment = app.master().post("/api/segments", segment).await.expect(201);
    let template = json!({"name": "Greeting", "variables": [{"key": "name", "default_value": "you"}],
                          "push": {"notification": {"alert": "Hello {{name}}"}}});
    let template = app.master().post("/api/templates", template).await.expect(201);
    let (schedule, experiment, pipeline) = planned(app).await;
    let webhook = installed(app).await;
    let soon = json!({"audience": {"tag": "news"}, "device_types": "all", "notification": {"alert": "Soon"}});
    let export = json!({"channel_id": channel});
    let privacy = app.master().post("/api/privacy/export", export).await.expect(202);
    app.step_all().await;
    let draft = text(
        &app.master().post("/api/drafts", json!({"name": "Soon", "document": soon})).await.expect(201)["draft"]["draft_id"],
    );
    app.master().post(&format!("/api/drafts/{draft}/submit"), json!({"version": 1})).await.expect(200);
    vec![
        ("{draft}", draft),
        ("{push}", text(&sent["push_ids"][0])),
        ("{channel}", channel),
        ("{schedule}", schedule),
        ("{experiment}", experiment),
        ("{pipeline}", pipeline),
        ("{segment}", text(&segment["segment_id"])),
        ("{template}", text(&template["template_id"])),
        ("{webhook}", webhook),
        ("{platform}", "apns".to_owned()),
        ("{privacy}", text(&privacy["privacy_id"])),
    ]
}

/// Four devices of two people, and what they did.
async fn devices(app: &TestApp) -> String {
    let mut channel_id = String::new();
    for (n, kind) in ["ios", "android", "android", "web"].into_iter().enumerate() {
        let mut channel = json!({"device_type": kind, "opt_in": true, "push_address": format!("{n:064x}"), "set_tags": true, "tags": ["news"]});
        if kind == "web" {
            channel["push_address"] = json!("https://fcm.googleapis.com/fcm/send/abc");
            channel["web"] = json!({"subscription": {"p256dh": "BLXm8AgVtZ6mOaOHKVPqdA2FVC0oyGJDn4xCBWQZYzG1lGcbzzTJIqWtAJ9zuvuIQ4Yz2aDCoAMWrqgtpVSsDvI", "auth": "dGVzdC1hdXRoLXNlY3JldA"}});
        }
        let registered = app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
        channel_id = text(&registered["channel_id"]);
        let of = json!({"channel_id": channel_id, "named_user_id": format!("kim-{}", n % 2)});
        app.master().post("/api/named_users/associate", of).await.expect(200);
    }
    let about = json!({"tags": {"add": {"loyalty": ["gold"]}}, "attributes": [{"action": "set", "key": "plan", "value": "gold"}]});
    app.master().post("/api/named_users/kim-1", about).await.expect(200);
    let bought = json!([{"occurred": "2024-05-01T11:00:00", "user": {"named_user_id": "kim-1"},
                         "body": {"name": "bought", "value": 12.5, "interaction_type": "url"}}]);
    app.master().post("/api/custom-events", bought).await.expect(200);
    channel_id
}

/// A schedule, an experiment and an automation, by their ids.
async fn planned(app: &TestApp) -> (String, String, String) {
    let push = |alert: &str, audience: Value| json!({"audience": audience, "device_types": "all", "notification": {"alert": alert}});
    let weekly = json!({"cadence": {"type": "weekly", "count": 1, "days_of_week": ["monday"]}});
    let schedule = json!({"name": "Mondays", "push": push("The week", json!("all")),
                          "schedule": {"scheduled_time": "2024-05-06T09:00:00", "recurring": weekly}});
    let scheduled = app.master().post("/api/schedules", schedule).await.expect(201);
    let outcome = json!({"push": push("Welcome", json!("triggered"))});
    let pipeline = json!({"name": "Welcome", "enabled": true, "immediate_trigger": "first_open", "outcome": outcome});
    let pipeline = app.master().post("/api/pipelines", pipeline).await.expect(201);
    let variant = |name: &str| json!({"name": name, "push": {"notification": {"alert": name}}});
    let experiment = json!({"name": "Which greeting?", "audience": "all", "device_types": "all", "control": 0.2,
                            "variants": [variant("Plain"), variant("Friendly")]});
    let made = app.master().post("/api/experiments", experiment).await.expect(201);
    app.step_all().await;
    (text(&scheduled["schedule_ids"][0]), text(&made["experiment_id"]), text(&pipeline["pipeline_ids"][0]))
}

/// A platform with credentials and a webhook, whose id is returned.
async fn installed(app: &TestApp) -> String {
    let of_app = format!("/operator/apps/{}", app.app.key);
    let adm = json!({"client_id": "amzn1.application-oa2-client.one", "client_secret": "secret"});
    app.operator().put(&format!("{of_app}/platforms/adm"), adm).await.expect(200);
    let webhook = json!({"url": "https://shop.example/events", "types": ["OPEN"]});
    let made = app.operator().post(&format!("{of_app}/webhooks"), webhook).await.expect(201);
    text(&made["webhook"]["webhook_id"])
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}
