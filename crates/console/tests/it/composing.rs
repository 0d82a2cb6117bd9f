//! Composing a message: from the first device to the page of the message that was sent.

use std::time::Duration;

use serde_json::{Value, json};

use crate::visitor::{Visitor, on_each_database};

/// The value of a hidden field.
fn hidden<'t>(text: &'t str, name: &str) -> &'t str {
    text.split_once(&format!(r#"name="{name}" value=""#)).unwrap().1.split('"').next().unwrap()
}

#[tokio::test]
async fn a_newcomer_sends_a_first_message_and_a_second_click_sends_nothing() {
    on_each_database(async |app| {
        let owner = Visitor::owner(&app).await;
        let home = format!("/console/{}", app.app.key);
        owner.get(&home).await.shows("Make a test device");
        let made = owner.post(&format!("{home}/first-device"), &[]).await;
        made.expect(303);
        let page = owner.get(made.location()).await;
        page.shows("device will see it");
        page.shows("Hello from Aerogram");
        let compose = format!("{home}/compose");
        let fields = [
            ("who", "some"),
            ("kind0", "tag"),
            ("value0", "test"),
            ("title", "Hi"),
            ("text", "It's <b>here</b>"),
            ("when", "now"),
        ];
        let with = |more: &[(&'static str, &'static str)]| [&fields[..], more].concat();
        let review = owner.post(&compose, &with(&[("do", "review")])).await;
        review.shows("1 device, now.");
        let once = hidden(&review.text, "once").to_owned();
        let mut send: Vec<(&str, &str)> = with(&[("do", "send"), ("expected", "1")]);
        send.push(("once", &once));
        let sent = owner.post(&compose, &send).await;
        sent.expect(303);
        let again = owner.post(&compose, &send).await;
        assert_eq!(again.location(), sent.location());
        owner.get(sent.location()).await.shows("Undo");
        app.step_all().await;
        owner.get(sent.location()).await.shows("Undo");
        app.advance(Duration::from_secs(11));
        app.step_all().await;
        let message = owner.get(sent.location()).await;
        message.expect(303);
        owner.get(message.location()).await.shows("done");
        let pushes = app.master().get("/api/pushes").await.expect(200);
        let pushes = pushes["pushes"].as_array().unwrap();
        assert_eq!((pushes.len(), &pushes[0]["alert"]), (1, &json!("It's <b>here</b>")));
        assert_eq!(pushes[0]["origin"]["type"], "schedule");
        let log = app.operator().get("/operator/audit?action=schedule.create").await.expect(200);
        assert_eq!(log["entries"][0]["credential"], "account owner@example.com");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_message_can_be_taken_back_before_it_is_sent() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let compose = format!("/console/{}/compose", app.app.key);
        let fields = [
            ("who", "all"),
            ("text", "Oops"),
            ("when", "now"),
            ("do", "send"),
            ("expected", "0"),
            ("once", "once-only"),
        ];
        let sent = sender.post(&compose, &fields).await;
        let undo = format!("{}/undo", sent.location());
        sender.post(&undo, &[]).await.expect_to(sent.location());
        sender.get(sent.location()).await.shows("nothing was sent");
        sender.post(&undo, &[]).await.expect_to(sent.location());
        app.advance(Duration::from_secs(60));
        app.step_all().await;
        assert_eq!(app.master().get("/api/pushes").await.expect(200)["pushes"], json!([]));
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_is_wrong_is_said_before_anything_is_sent() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let compose = format!("/console/{}/compose", app.app.key);
        let review = async |fields: &[(&str, &str)]| {
            let fields = [&[("do", "review")], fields].concat();
            let page = sender.post(&compose, &fields).await;
            page.expect(400);
            page
        };
        review(&[("who", "all")]).await.shows("Write the text");
        review(&[("who", "some"), ("text", "x")]).await.shows("Add a condition");
        review(&[("who", "some"), ("kind0", "json"), ("value0", "{"), ("text", "x")]).await.shows("not complete");
        review(&[("who", "some"), ("kind0", "json"), ("value0", r#"{"tagg": "x"}"#), ("text", "x")])
            .await
            .shows("tagg");
        review(&[("who", "all"), ("text", "x"), ("when", "at")]).await.shows("Choose the time");
        let nobody = [("who", "some"), ("kind0", "tag"), ("value0", "nwes"), ("text", "x"), ("do", "check")];
        sender.post(&compose, &nobody).await.shows("nwes");
        let many =
            [("who", "all"), ("text", "x"), ("do", "send"), ("expected", "20000"), ("once", "a"), ("number", "2")];
        sender.post(&compose, &many).await.shows("nothing was sent");
        let editor = Visitor::with_role(&app, "editor").await;
        editor.get(&compose).await.shows("role sender");
        editor.post(&compose, &[("who", "all"), ("text", "x"), ("do", "send"), ("once", "b")]).await.expect(403);
        assert_eq!(app.master().get("/api/pushes").await.expect(200)["pushes"], json!([]));
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn conditions_come_and_go_and_a_message_can_wait() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let compose = format!("/console/{}/compose", app.app.key);
        let added = sender.post(&compose, &[("who", "all"), ("text", "x"), ("do", "add")]).await;
        added.shows(r#"name="value0""#);
        let two =
            [("who", "some"), ("kind0", "tag"), ("value0", "a"), ("kind1", "tag"), ("value1", "b"), ("text", "x")];
        let removed = sender.post(&compose, &[&two[..], &[("do", "remove-0")]].concat()).await;
        assert!(removed.text.contains(r#"value="b""#) && !removed.text.contains(r#"name="value1""#));
        let later = [
            ("when", "at"),
            ("at", "2030-01-31T12:00"),
            ("do", "send"),
            ("expected", "0"),
            ("once", "c"),
            ("join", "or"),
        ];
        sender.post(&compose, &[&two[..], &later].concat()).await.shows("It is sent at");
        let schedules = app.master().get("/api/schedules").await.expect(200);
        let audience: &Value = &schedules["schedules"][0]["push"]["audience"];
        assert_eq!(audience, &json!({"or": [{"tag": "a"}, {"tag": "b"}]}));
        app.stop().await;
    })
    .await;
}
