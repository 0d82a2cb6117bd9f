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
