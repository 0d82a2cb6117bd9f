//! An erasure, and what nodes keep in memory of the documents that it cleans.

use model::ids::AppId;
use model::limits;
use serde_json::{Value, json};
use store::documents::{self, DocumentKind};
use testkit::app::{TestApp, on_each_database};

use crate::pipelines;
use crate::privacy::register;
use crate::privacy_under_way::erase;
use crate::remote_data::{banner, in_app, keep};

const PHONE: &str = "10000000-0000-4000-8000-0000000000aa";
const OTHER: &str = "30000000-0000-4000-8000-0000000000cc";
const USER: &str = "ann.tanner@example.com";
const OTHER_USER: &str = "bob.miller@example.com";

async fn register_both(app: &TestApp) {
    for (channel, user) in [(PHONE, USER), (OTHER, OTHER_USER)] {
        register(app, channel, "android", &format!("registration-of-{channel}")).await;
        let body = json!({"channel_id": channel, "named_user_id": user});
        app.master().post("/api/named_users/associate", body).await.expect(200);
    }
}

/// What devices download.
async fn downloaded(app: &TestApp) -> Value {
    app.nobody().get(&format!("/api/remote-data/app/{}/android?random_value=42", app.app.key)).await.expect(200)
}

/// When an in-app message last changed, as devices are told.
fn last_updated<'d>(downloaded: &'d Value, id: &str) -> &'d str {
    let messages = downloaded["payloads"][1]["data"]["in_app_messages"].as_array().unwrap();
    messages.iter().find(|message| message["id"] == id).unwrap()["last_updated"].as_str().unwrap()
}

#[tokio::test]
async fn devices_download_no_name_that_was_erased() {
    on_each_database(async |app| {
        register_both(&app).await;
        let mut message = banner();
        message["in_app_message"]["message"]["display"]["body"]["text"] = json!(format!("Dear {USER}"));
        let (naming, other) = (keep(&app, &message).await, keep(&app, &banner()).await);
        let before = downloaded(&app).await;
        assert!(before.to_string().contains(&format!("Dear {USER}")), "{before}");
        erase(&app, json!({"named_user_id": OTHER_USER})).await;
        assert_eq!(downloaded(&app).await, before, "he is not named");
        erase(&app, json!({"named_user_id": USER})).await;
        let after = downloaded(&app).await;
        assert!(after.to_string().contains("Dear (erased)") && !after.to_string().contains(USER), "{after}");
        // Devices take what is not newer for known.
        let time = |downloaded: &Value| downloaded["payloads"][0]["timestamp"].as_str().unwrap().to_owned();
        assert!(time(&after) > time(&before), "{after}");
        assert!(last_updated(&after, &naming) > last_updated(&before, &naming), "{after}");
        assert_eq!(last_updated(&after, &naming), time(&after));
        assert_eq!(last_updated(&after, &other), last_updated(&before, &other), "it names nobody");
        let shown = app.master().get(&format!("{}/{naming}", in_app(&app))).await.expect(200);
        assert_eq!(shown["in_app_message"]["version"], 2, "{shown}");
    })
    .await;
}

#[tokio::test]
async fn neither_the_limit_nor_what_cannot_be_read_keeps_a_name_on_devices() {
    on_each_database(async |app| {
        register_both(&app).await;
        let mut message = banner();
        message["in_app_message"]["message"]["display"]["body"]["text"] = json!(format!("Dear {USER}"));
        let naming = keep(&app, &message).await;
        let before = downloaded(&app).await;
        // More than an app may have, which names her as well, and which no version can read.
        let body = json!({"text": format!("Dear {USER}"), "more": "x".repeat(limits::REMOTE_DATA_BYTES)}).to_string();
        let now = app.engine().clock().now();
        let write = move |tx: &mut store::Tx<'_>| {
            documents::put(tx, AppId(1), DocumentKind::FeatureFlag, "unreadable", &body, now)
        };
        app.engine().store().write(AppId(1), write).await.unwrap();
        erase(&app, json!({"named_user_id": USER})).await;
        let after = downloaded(&app).await;
        assert!(after.to_string().contains("Dear (erased)") && !after.to_string().contains(USER), "{after}");
        assert!(last_updated(&after, &naming) > last_updated(&before, &naming), "{after}");
    })
    .await;
}

/// The other buys something for her.
async fn buy_for_her(app: &TestApp) {
    let body = json!({"name": "bought", "properties": {"present_for": USER}});
    let event = json!({"user": {"android_channel": OTHER}, "body": body});
    app.master().post("/api/custom-events", event).await.expect(200);
}

async fn n_sent(app: &TestApp) -> usize {
    app.step_all().await;
    app.master().get("/api/sandbox?limit=1000").await.expect(200)["deliveries"].as_array().unwrap().len()
}

#[tokio::test]
async fn no_pipeline_waits_for_a_name_that_was_erased() {
    on_each_database(async |app| {
        register_both(&app).await;
        let name = json!({"key": "name", "value": {"equals": "bought"}});
        let her = json!({"key": "present_for", "scope": "properties", "value": {"equals": USER}});
        let push = json!({"audience": "triggered", "device_types": "all", "notification": {"alert": "Thanks"}});
        let body = json!({"name": "Presents", "enabled": true, "outcome": {"push": push},
                          "immediate_trigger": {"custom_event": {"and": [name, her]}}});
        let path = pipelines::create(&app, body).await;
        buy_for_her(&app).await;
        assert_eq!(n_sent(&app).await, 1);
        erase(&app, json!({"named_user_id": USER})).await;
        let left = app.master().get(&path).await.expect(200).to_string();
        assert!(left.contains("(erased)") && !left.contains(USER), "{left}");
        buy_for_her(&app).await;
        assert_eq!(n_sent(&app).await, 1);
    })
    .await;
}
