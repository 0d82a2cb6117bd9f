//! The list of messages and the page of one, and what the audit log says of who acts there.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde_json::json;

use crate::visitor::{Visitor, on_each_database};

#[tokio::test]
async fn messages_are_listed_found_and_stopped_by_people_with_names() {
    on_each_database(async |app| {
        for (n, kind) in ["ios", "android", "android"].into_iter().enumerate() {
            let address = format!("{n:064x}");
            let channel = json!({"channel": {"device_type": kind, "opt_in": true, "push_address": address}});
            app.device().post("/api/channels", channel).await.expect(201);
        }
        let push = |text: &str| json!({"audience": "all", "device_types": "all", "notification": {"alert": text}});
        app.master().post("/api/push", push("Storm warning")).await.expect(200);
        app.step_all().await;
        let waiting = app.master().post("/api/push", push("The news of today")).await.expect(200);
        let id = waiting["push_ids"][0].as_str().unwrap();
        let sender = Visitor::with_role(&app, "sender").await;
        let home = format!("/console/{}", app.app.key);
        let start = sender.get(&home).await;
        let sent = r#"<p class="name">Sent in 24 hours</p><p class="value">3</p>"#;
        for words in ["Storm warning", "The news of today", "Show as API call", "/api/pushes?limit=8", sent] {
            start.shows(words);
        }
        let found = sender.get(&format!("{home}/messages?q=storm")).await;
        found.shows("Storm warning");
        assert!(!found.text.contains("The news of today"));
        sender.get(&format!("{home}/messages?q=nothing")).await.shows("No message fits");
        let page = format!("{home}/messages/{id}");
        let shown = sender.get(&page).await;
        let again = format!("compose?message={id}");
        for words in ["Pause", "<h1>The news of today</h1>", "broadcast", "What it says", &again] {
            shown.shows(words);
        }
        sender.post(&format!("{page}/pause"), &[]).await.expect_to(&page);
        sender.get(&page).await.shows("Resume");
        app.advance(Duration::from_secs(1));
        sender.post(&format!("{page}/cancel"), &[]).await.expect_to(&page);
        assert!(!sender.get(&page).await.expect(200).contains("Resume"));
        Visitor::with_role(&app, "viewer").await.post(&format!("{page}/cancel"), &[]).await.expect(403);
        let audit =
            app.operator().get(&format!("/operator/apps/{}/audit?credential=account", app.app.key)).await.expect(200);
        let actions: Vec<_> =
            audit["entries"].as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap()).collect();
        assert_eq!(actions, ["push.cancel", "push.pause"]);
        let admin = Visitor::with_role(&app, "admin").await;
        admin.get(&format!("{home}/audit")).await.shows("push.cancel");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_audit_log_leads_to_what_was_made_and_changed() {
    on_each_database(async |app| {
        let segment = json!({"display_name": "News", "criteria": {"tag": "news"}});
        let made = async || {
            let made = app.master().post("/api/segments", &segment).await.expect(201);
            made["segment_id"].as_str().unwrap().to_owned()
        };
        let (kept, deleted) = (made().await, made().await);
        app.master().delete(&format!("/api/segments/{deleted}")).await.expect(204);
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "One"}});
        let sent = app.master().post("/api/push", json!([push, push])).await.expect(200);
        let home = format!("/console/{}", app.app.key);
        let log = Visitor::with_role(&app, "admin").await.get(&format!("{home}/audit")).await;
        log.shows(&format!(r#"segment_id <a href="{home}/audience?segment={kept}"><code>{kept}</code></a>"#));
        for push in sent["push_ids"].as_array().unwrap() {
            let push = push.as_str().unwrap();
            log.shows(&format!(r#"<a href="{home}/messages/{push}"><code>{push}</code></a>"#));
        }
        // One row made the other segment, and one deleted it, which leads nowhere.
        log.shows(&format!("segment_id <code>{deleted}</code>"));
        // The log of the installation leads to the pages of the app.
        let of_all = Visitor::owner(&app).await.get("/console/-/audit").await;
        of_all.shows(&format!(r#"href="{home}/audience?segment={kept}""#));
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_message_to_nobody_is_no_success_and_tests_have_a_list_of_their_own() {
    on_each_database(async |app| {
        let channel =
            json!({"device_type": "ios", "opt_in": true, "push_address": "AB01", "set_tags": true, "tags": ["news"]});
        let made = app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
        let channel = made["channel_id"].as_str().unwrap();
        let push = |tag: &str, alert: &str| {
            let notification = json!({"alert": alert, "ios": {"title": "Sale"}});
            json!({"audience": {"tag": tag}, "device_types": "all", "notification": notification})
        };
        let typo = app.master().post("/api/push", push("nwes", "Everything must go")).await.expect(200);
        let right = app.master().post("/api/push", push("news", "Half price")).await.expect(200);
        app.master().put("/api/push/test-group", json!({"audience": {"tag": "news"}})).await.expect(200);
        app.master().post("/api/push/test", json!({"push": push("all", "Is this right?")})).await.expect(200);
        app.step_all().await;
        let sender = Visitor::with_role(&app, "sender").await;
        let messages = format!("/console/{}/messages", app.app.key);
        let list = sender.get(&messages).await;
        for words in ["notified nobody", "Nobody matches the audience"] {
            list.shows(words);
        }
        assert!(!list.text.contains("audience explain"), "{}", list.text);
        let tests = sender.get(&format!("{messages}?origin=test")).await;
        tests.shows("Is this right?");
        assert!(!tests.text.contains("Half price"), "{}", tests.text);
        tests.shows(r#"origin=test" aria-current="true""#);
        // By the days on which they were sent.
        sender.get(&format!("{messages}?from=2024-05-01&to=2024-05-02")).await.shows("Half price");
        sender.get(&format!("{messages}?from=2024-05-02")).await.shows("No message fits");
        let page = |of: &serde_json::Value| format!("{messages}/{}", of["push_ids"][0].as_str().unwrap());
        let nobody = sender.get(&page(&typo)).await;
        nobody.shows("No device got a notification. Nobody matches the audience");
        assert!(!nobody.text.contains("audience explain"), "{}", nobody.text);
        // Compose says what is probably meant.
        sender.get(&nobody.link_of("See in Compose whom it would reach")).await.shows("Did you mean news?");
        // It is called what the list calls it, and when it was opened is a chart.
        let shown = sender.get(&page(&right)).await;
        shown.shows("<h1>Sale</h1>");
        assert!(!shown.text.contains("Opens in the first"), "nobody has opened it");
        let session = json!({"session_id": "s", "push_id": right["push_ids"][0]});
        let opened = json!([{"type": "app_foreground", "event_id": "0d4f2a3e-7a5b-4f0e-9f57-1d1f6f0f8a01",
                             "time": format!("{}", app.clock().now().0 / 1000), "data": session}]);
        let request = app.nobody().request(Method::POST, "/warp9/");
        let request = request.header("X-UA-App-Key", &app.app.key).header("X-UA-Channel-ID", channel);
        app.nobody().send(request.body(Bytes::from(opened.to_string())).unwrap()).await.expect(200);
        app.step_all().await;
        let shown = sender.get(&page(&right)).await;
        for words in ["Opens in the first twelve hours", "opened after it"] {
            shown.shows(words);
        }
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_page_that_has_not_changed_is_not_sent_again() {
    on_each_database(async |app| {
        let owner = Visitor::owner(&app).await;
        let home = format!("/console/{}", app.app.key);
        let first = owner.get_with(&format!("{home}/messages"), &[("x-fragment", "content")]).await;
        assert!(first.expect(200).starts_with(r#"<div id="content">"#));
        let tag = first.headers.get("etag").unwrap().to_str().unwrap();
        let again =
            owner.get_with(&format!("{home}/messages"), &[("x-fragment", "content"), ("if-none-match", tag)]).await;
        again.expect(304);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_devices_have_received_over_live_connections_is_shown() {
    on_each_database(async |app| {
        let channel = json!({"channel": {"device_type": "web", "opt_in": true, "live": true}});
        let made = app.device().post("/api/channels", channel).await.expect(201);
        let asked = app.device().request(Method::GET, "/api/auth/device");
        let asked = asked.header("X-UA-Channel-ID", made["channel_id"].as_str().unwrap()).body(Bytes::new()).unwrap();
        let token = app.device().send(asked).await.expect(200)["token"].as_str().unwrap().to_owned();
        let device = app.nobody().bearer(&token);
        let start = device.get("/live?wait=0").await.expect(200)["at"].as_str().unwrap().to_owned();
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Storm warning"}});
        let sent = app.master().post("/api/push", push).await.expect(200);
        app.step_all().await;
        let told = device.get(&format!("/live?wait=0&after={start}")).await.expect(200);
        device.post("/live/ack", json!({"at": told["at"]})).await.expect(200);
        let sender = Visitor::with_role(&app, "sender").await;
        let page = format!("/console/{}/messages/{}", app.app.key, sent["push_ids"][0].as_str().unwrap());
        // It is written within a second.
        while !sender.get(&page).await.expect(200).contains("over live connections") {
            tokio::task::yield_now().await;
        }
        let shown = sender.get(&page).await;
        shown.shows(r#"<p class="name">Received</p><p class="value">1</p>"#);
        shown.shows("1 received it");
        sender.get(&format!("{page}/people?outcome=received")).await.shows("received it");
        let home = sender.get(&format!("/console/{}", app.app.key)).await;
        home.shows(r#"<p class="name">Connected now</p><p class="value">0</p>"#);
        home.shows("of 1 live");
        app.stop().await;
    })
    .await;
}
