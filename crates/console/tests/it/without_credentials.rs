//! An app in production without credentials: its pages say before and after something is sent that its devices get nothing.

use serde_json::json;
use testkit::app::TestApp;

use crate::visitor::{Visitor, on_each_database};

const WARNING: &str = "2 ios devices would get nothing: the app is in production and has no credentials for apns.";

/// Puts an app with two iPhones into production.
async fn put_into_production(app: &TestApp) {
    for address in ["a", "b"] {
        let channel = json!({"device_type": "ios", "opt_in": true, "push_address": address});
        app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
    }
    let path = format!("/operator/apps/{}", app.app.key);
    app.operator().patch(&path, json!({"mode": "production"})).await.expect(200);
}

#[tokio::test]
async fn compose_and_the_page_before_sending_warn() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let compose = format!("/console/{}/compose", app.app.key);
        let written = format!("{compose}?who=all&text=Hi");
        put_into_production(&app).await;
        sender.get(&written).await.shows(WARNING);
        let review = sender.post(&compose, &[("who", "all"), ("text", "Hi"), ("when", "now"), ("do", "review")]).await;
        for words in ["2 devices, now.", WARNING] {
            review.shows(words);
        }
        let path = format!("/operator/apps/{}", app.app.key);
        app.operator().patch(&path, json!({"mode": "development"})).await.expect(200);
        assert!(!sender.get(&written).await.expect(200).contains("would get nothing"));
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_message_that_failed_for_everybody_is_no_success() {
    on_each_database(async |app| {
        put_into_production(&app).await;
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Storm warning"}});
        let sent = app.master().post("/api/push", push).await.expect(200);
        app.step_all().await;
        let (viewer, admin) = (Visitor::with_role(&app, "viewer").await, Visitor::with_role(&app, "admin").await);
        let home = format!("/console/{}", app.app.key);
        let (failed, reason) =
            (r#"<span class="badge bad">failed</span>"#, "The app has no credentials for the platform ios.");
        let message = format!("{home}/messages/{}", sent["push_ids"][0].as_str().unwrap());
        for page in [&home, &format!("{home}/messages"), &message] {
            let shown = viewer.get(page).await;
            for words in [failed, reason] {
                shown.shows(words);
            }
            assert!(!shown.text.contains(">done</span>"), "{}", shown.text);
        }
        let told = "No notification was delivered: 2 failed. The app has no credentials";
        viewer.get(&message).await.shows(told);
        assert!(!viewer.get(&message).await.text.contains("See the platforms"));
        admin.get(&message).await.shows("See the platforms");
        // What is in inboxes has not failed, though it notified nobody.
        let push = json!({
            "audience": "all", "device_types": "all", "notification": {"alert": "All clear"},
            "message": {"title": "All clear", "body": "It is over."},
        });
        let sent = app.master().post("/api/push", push).await.expect(200);
        app.step_all().await;
        let shown = viewer.get(&format!("{home}/messages/{}", sent["push_ids"][0].as_str().unwrap())).await;
        for words in ["No notification was delivered: 2 failed.", "The message is in 2 inboxes.", ">done</span>"] {
            shown.shows(words);
        }
        assert!(!shown.text.contains(failed), "{}", shown.text);
        let list = viewer.get(&format!("{home}/messages")).await;
        assert_eq!((list.text.matches(failed).count(), list.text.matches(">done</span>").count()), (1, 1));
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn home_tells_those_who_can_set_platforms_up() {
    on_each_database(async |app| {
        let (owner, admin) = (Visitor::owner(&app).await, Visitor::with_role(&app, "admin").await);
        let viewer = Visitor::with_role(&app, "viewer").await;
        let home = format!("/console/{}", app.app.key);
        let live = json!({"channel": {"device_type": "web", "opt_in": true, "live": true}});
        app.device().post("/api/channels", live).await.expect(201);
        put_into_production(&app).await;
        for visitor in [&owner, &admin] {
            let shown = visitor.get(&home).await;
            for words in [WARNING, "See the platforms"] {
                shown.shows(words);
            }
            assert!(!shown.text.contains("1 web device"), "live connections need no credentials: {}", shown.text);
            visitor.get_with(&home, &[("x-fragment", "1")]).await.shows(WARNING);
        }
        assert!(!viewer.get(&home).await.expect(200).contains("would get nothing"));
        let path = format!("/operator/apps/{}", app.app.key);
        app.operator().patch(&path, json!({"mode": "development"})).await.expect(200);
        assert!(!admin.get(&home).await.expect(200).contains("would get nothing"));
        app.stop().await;
    })
    .await;
}

/// An app may do without Google on purpose. Only devices that need Google are told of.
#[tokio::test]
async fn home_asks_for_google_where_devices_need_it() {
    on_each_database(async |app| {
        let keys = json!({"p256dh": format!("BA{}", "A".repeat(85)), "auth": "A".repeat(22)});
        let phone = json!({"channel": {
            "device_type": "android", "opt_in": true, "push_address": "up",
            "android": {"delivery_type": "unifiedpush", "subscription": keys},
        }});
        app.device().post("/api/channels", phone).await.expect(201);
        put_into_production(&app).await;
        let admin = Visitor::with_role(&app, "admin").await;
        let home = format!("/console/{}", app.app.key);
        admin.get(&home).await.shows("1 android device with the delivery type unifiedpush would get nothing");
        let path = format!("/operator/apps/{}/platforms/webpush", app.app.key);
        app.operator().put(&path, json!({"subject": "mailto:push@example.com"})).await.expect(200);
        let shown = admin.get(&home).await;
        shown.shows(WARNING);
        assert!(!shown.text.contains("android device"), "{}", shown.text);
        let phone = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": "a".repeat(16)}});
        app.device().post("/api/channels", phone).await.expect(201);
        admin.get(&home).await.shows("1 android device would get nothing");
        app.stop().await;
    })
    .await;
}
