//! The first minute: a push of one click, seen arriving, and the same from a server.

use serde_json::json;

use crate::visitor::{Visitor, on_each_database};

#[tokio::test]
async fn a_first_push_is_one_click_and_arrives_where_one_looks() {
    on_each_database(async |app| {
        let owner = Visitor::owner(&app).await;
        let home = format!("/console/{}", app.app.key);
        let first = format!("{home}/first");
        owner.get(&home).await.shows("Send a first push");
        let ready = owner.get(&first).await;
        for words in ["A device is ready", "No notifications yet", "$AEROGRAM_MASTER_SECRET", &app.app.key] {
            ready.shows(words);
        }
        // A device is registered as by an app, which never has the master secret.
        let (_, registering) = ready.text.split_once("/api/channels -u").unwrap();
        assert!(registering.split_once('{').unwrap().0.contains(":$AEROGRAM_APP_SECRET"), "{registering}");
        let sent = owner.post(&first, &[]).await;
        sent.expect(303);
        owner.get(sent.location()).await.shows("It is on its way.");
        app.step_all().await;
        let arrived = owner.get(sent.location()).await;
        for words in ["It has arrived.", "<p>Hello from Aerogram</p>", "The exact request, in the sandbox"] {
            arrived.shows(words);
        }
        // A second click sends to the same device.
        owner.post(&first, &[]).await.expect(303);
        let channels = app.master().get("/api/channels").await.expect(200);
        assert_eq!(channels["channels"].as_array().unwrap().len(), 1);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_lines_for_a_server_work_with_the_token_that_is_in_them() {
    on_each_database(async |app| {
        let owner = Visitor::owner(&app).await;
        let first = format!("/console/{}/first", app.app.key);
        let sent = owner.post(&first, &[]).await;
        app.step_all().await;
        let push = sent.location().split_once("push=").unwrap().1;
        let lines = owner.post(&format!("{first}/token"), &[("push", push)]).await;
        lines.shows("It has arrived.");
        lines.shows("works for a day");
        lines.shows("Register a device, from your server");
        let (_, token) = lines.text.split_once("Authorization: Bearer ").unwrap();
        let server = app.nobody().bearer(token.split_once("&quot;").unwrap().0);
        let channel = json!({"device_type": "android", "opt_in": true, "push_address": "my-first-device", "set_tags": true, "tags": ["news"]});
        server.post("/api/channels", json!({"channel": channel})).await.expect(201);
        let push = json!({"audience": {"tag": "news"}, "device_types": "all", "notification": {"alert": "Hello from my server"}});
        server.post("/api/push", push).await.expect(200);
        app.step_all().await;
        let delivered = server.get("/api/sandbox").await.expect(200);
        assert_eq!(delivered["deliveries"].as_array().unwrap().len(), 2);
        // Tokens are for administrators.
        let sender = Visitor::with_role(&app, "sender").await;
        assert!(!sender.get(&first).await.expect(200).contains("Put a token"));
        sender.post(&format!("{first}/token"), &[]).await.expect(403);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_app_in_production_is_not_tried_out() {
    on_each_database(async |app| {
        let owner = Visitor::owner(&app).await;
        app.operator()
            .patch(&format!("/operator/apps/{}", app.app.key), json!({"mode": "production"}))
            .await
            .expect(200);
        let first = format!("/console/{}/first", app.app.key);
        owner.get(&first).await.shows("goes to real people");
        owner.post(&first, &[]).await.expect(403);
        app.stop().await;
    })
    .await;
}
