//! Personalized messages in inboxes: what is filled in when they are read, and what stays as it is.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use super::{send, set};
use crate::inbox::Phone;
use crate::pipelines::create;

async fn body(app: &TestApp, phone: &Phone, listed: &Value) -> Vec<u8> {
    let url = listed["message_body_url"].as_str().unwrap();
    phone.caller(app).get(&url[url.find("/api").unwrap()..]).await.body.to_vec()
}

#[tokio::test]
async fn messages_are_filled_in_when_they_are_read() {
    on_each_database(async |app| {
        let kim = Phone::new(&app, "ios", json!({})).await;
        let nobody = Phone::new(&app, "android", json!({})).await;
        set(&app, json!({"channel": [kim.channel]}), json!({"name": "<Kim>"})).await;
        let message =
            json!({"title": "For {{$required name}}", "body": "<p>{{name}} {{place}}</p>", "extra": {"k": "{{name}}"}});
        send(&app, json!({"message": message, "global_attributes": {"place": "here"}})).await;
        let [listed] = &kim.messages(&app).await[..] else { panic!("one message") };
        assert_eq!((&listed["title"], &listed["extra"]["k"]), (&json!("For <Kim>"), &json!("<Kim>")));
        assert_eq!(listed.get("filling"), None, "{listed}");
        assert_eq!(body(&app, &kim, listed).await, b"<p>&lt;Kim&gt; here</p>");
        assert!(nobody.messages(&app).await.is_empty(), "it needs a name");
        // What is known later counts when it is read.
        set(&app, json!({"channel": [nobody.channel]}), json!({"name": "Lee"})).await;
        assert_eq!(nobody.titles(&app).await, ["For Lee"]);
    })
    .await;
}

#[tokio::test]
async fn a_message_is_not_there_for_somebody_whom_its_body_cannot_be_filled_in_for() {
    on_each_database(async |app| {
        let kim = Phone::new(&app, "ios", json!({})).await;
        let nobody = Phone::new(&app, "ios", json!({})).await;
        set(&app, json!({"channel": [kim.channel]}), json!({"name": "Kim"})).await;
        let message = json!({"title": "Hi", "body": "{{#if (not place)}}{{$required name}}{{/if}}"});
        send(&app, json!({"message": message, "options": {"personalization": true}})).await;
        let listed = kim.messages(&app).await.remove(0);
        assert_eq!(body(&app, &kim, &listed).await, b"Kim");
        assert!(nobody.messages(&app).await.is_empty());
        set(&app, json!({"channel": [nobody.channel]}), json!({"place": "here"})).await;
        assert_eq!(nobody.titles(&app).await, ["Hi"]);
    })
    .await;
}

#[tokio::test]
async fn a_message_that_would_be_too_large_for_its_reader_is_not_there() {
    on_each_database(async |app| {
        let phone = Phone::new(&app, "ios", json!({})).await;
        let extra = |n: usize| -> Value { (0..n).map(|n| (format!("k{n}"), json!("{{a}}"))).collect() };
        for (title, n) in [("Two", 2), ("Three", 3)] {
            let message = json!({"title": title, "body": "Hi", "extra": extra(n)});
            send(&app, json!({"message": message, "global_attributes": {"a": "v".repeat(100 * 1024)}})).await;
        }
        assert_eq!(phone.titles(&app).await, ["Two"]);
    })
    .await;
}

#[tokio::test]
async fn a_body_that_came_in_base64_is_the_same_for_everybody() {
    on_each_database(async |app| {
        let kim = Phone::new(&app, "ios", json!({})).await;
        set(&app, json!({"channel": [kim.channel]}), json!({"name": "Kim"})).await;
        // Bytes that are no text, a text, and one that could not be filled in.
        for (n, written) in [&b"\xff\xfe{{name}}\x80"[..], b"Hi {{name}}", b"{{#if"].into_iter().enumerate() {
            let message = json!({"title": format!("{n} for {{{{name}}}}"), "body": BASE64_STANDARD.encode(written),
                "content_type": "application/octet-stream", "content_encoding": "base64"});
            send(&app, json!({"message": message, "options": {"personalization": true}})).await;
            let listed = kim.messages(&app).await.remove(0);
            assert_eq!(listed["title"], format!("{n} for Kim"));
            assert_eq!(body(&app, &kim, &listed).await, written);
        }
    })
    .await;
}

#[tokio::test]
async fn every_message_tells_of_the_event_that_caused_it() {
    on_each_database(async |app| {
        let kim = Phone::new(&app, "android", json!({})).await;
        set(&app, json!({"channel": [kim.channel]}), json!({"name": "Kim", "item": "nothing"})).await;
        let message = json!({"title": "{{name}}: {{item}}", "body": "{{item}}{{size}}"});
        let push = json!({"audience": "triggered", "device_types": "all", "message": message,
            "options": {"personalization": true}});
        create(
            &app,
            json!({"name": "bought", "enabled": true, "outcome": {"push": push},
                "immediate_trigger": {"custom_event": {"key": "name", "value": {"equals": "bought"}}}}),
        )
        .await;
        for properties in [json!({"item": "Boots", "size": 40}), json!({"item": "Hat"})] {
            let bought = json!({"name": "bought", "properties": properties});
            let event = json!({"user": {"android_channel": kim.channel}, "body": bought});
            app.master().post("/api/custom-events", event).await.expect(200);
            app.step_all().await;
        }
        send(&app, json!({"message": {"title": "{{item}}", "body": "b"}, "options": {"personalization": true}})).await;
        assert_eq!(kim.titles(&app).await, ["nothing", "Kim: Hat", "Kim: Boots"]);
        let listed = kim.messages(&app).await;
        assert_eq!(body(&app, &kim, &listed[1]).await, b"Hat");
        assert_eq!(body(&app, &kim, &listed[2]).await, b"Boots40");
    })
    .await;
}
