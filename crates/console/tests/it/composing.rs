//! Composing a message: from the first device to the page of the message that was sent.

use std::time::Duration;

use serde_json::{Value, json};

use crate::visitor::{Visitor, on_each_database};

/// The value of a hidden field.
fn hidden<'t>(text: &'t str, name: &str) -> &'t str {
    text.split_once(&format!(r#"name="{name}" value=""#)).unwrap().1.split('"').next().unwrap()
}

#[tokio::test]
async fn a_message_is_sent_once_and_a_second_click_sends_nothing() {
    on_each_database(async |app| {
        let owner = Visitor::owner(&app).await;
        let home = format!("/console/{}", app.app.key);
        let channel = json!({"device_type": "android", "opt_in": true, "push_address": "one", "set_tags": true, "tags": ["test"]});
        app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
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
        let page = owner.get(message.location()).await;
        page.shows("done");
        page.shows("sent by owner@example.com");
        let pushes = app.master().get("/api/pushes").await.expect(200);
        let pushes = pushes["pushes"].as_array().unwrap();
        assert_eq!((pushes.len(), &pushes[0]["alert"]), (1, &json!("It's <b>here</b>")));
        assert_eq!(pushes[0]["origin"]["type"], "schedule");
        assert_eq!(pushes[0]["author"], "account owner@example.com");
        let log = app.operator().get("/operator/audit?action=schedule.create").await.expect(200);
        assert_eq!(log["entries"][0]["credential"], "account owner@example.com");
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

#[tokio::test]
async fn a_preview_shows_each_platform_and_language_and_the_room_that_is_left() {
    on_each_database(async |app| {
        let editor = Visitor::with_role(&app, "editor").await;
        let compose = format!("/console/{}/compose", app.app.key);
        editor.get(&compose).await.shows("Write a text");
        let fields = [
            ("who", "all"),
            ("title", "Spring"),
            ("text", "It is <i>here</i>"),
            ("ios_text", "Only on phones with an apple"),
            ("web_image", "https://pictures.example/a.png"),
            ("buttons", "ua_shop_now"),
            ("lang0", "de"),
            ("ltitle0", "Frühling"),
            ("ltext0", "Er ist da"),
            ("inbox_title", "More"),
            ("inbox_body", "<h1>More</h1><script>alert(1)</script>"),
            ("do", "check"),
        ];
        let page = editor.post(&compose, &fields).await;
        for words in [
            "It is &lt;i&gt;here&lt;/i&gt;",
            "Only on phones with an apple",
            "Picture from pictures.example",
            "Shop Now",
            "In de",
            "Frühling",
            "bytes",
            "<meter",
            "Inbox",
        ] {
            page.shows(words);
        }
        assert!(!page.text.contains("<script>alert"));
        let added = editor.post(&compose, &[&fields[..11], &[("do", "add-language")]].concat()).await;
        added.shows(r#"name="lang1""#);
        let removed = editor.post(&compose, &[&fields[..11], &[("do", "remove-language-0")]].concat()).await;
        assert!(!removed.text.contains("Er ist da"));
        let wrong = editor.post(&compose, &[("who", "all"), ("text", "x"), ("more", r#"{"notifikation": 1}"#)]).await;
        wrong.shows("notifikation");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn times_repeat_and_texts_are_compared() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let compose = format!("/console/{}/compose", app.app.key);
        let send = async |fields: &[(&str, &str)]| {
            let review = sender.post(&compose, &[&[("do", "review"), ("who", "all")], fields].concat()).await;
            review.expect(200);
            let once = hidden(&review.text, "once").to_owned();
            let rest = [("do", "send"), ("who", "all"), ("expected", "0"), ("once", &once)];
            (review, sender.post(&compose, &[&rest[..], fields].concat()).await)
        };
        let berlin = [
            ("text", "Lunch"),
            ("when", "at"),
            ("at", "2030-07-31T12:00"),
            ("zone", "Europe/Berlin"),
            ("repeat", "weekly"),
            ("every", "2"),
            ("day", "monday"),
        ];
        let (review, sent) = send(&berlin).await;
        review.shows("then every 2 weeks on Monday");
        sent.shows("Scheduled");
        let (review, _) = send(&[("text", "Soon"), ("when", "best"), ("at", "2030-07-31T12:00")]).await;
        review.shows("mostly opened");
        let schedules = app.master().get("/api/schedules").await.expect(200);
        // Both were made in the same millisecond, so that either may be the first.
        let planned: Vec<&Value> =
            schedules["schedules"].as_array().unwrap().iter().map(|one| &one["schedule"]).collect();
        let weekly = planned.iter().find(|one| one["scheduled_time"] == "2030-07-31T10:00:00").unwrap();
        assert_eq!(weekly["recurring"]["cadence"]["days_of_week"], json!(["monday"]));
        assert!(planned.contains(&&json!({"best_time": {"send_date": "2030-07-31"}})), "{planned:?}");
        let (review, sent) = send(&[("text", "A"), ("b_text", "B"), ("control", "20")]).await;
        review.shows("2 texts are compared");
        review.shows("20 percent get nothing");
        sender.get(sent.location()).await.shows("Delete the experiment");
        let experiments = app.master().get("/api/experiments").await.expect(200);
        assert_eq!(experiments["experiments"][0]["variants"].as_array().unwrap().len(), 2);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_editor_tries_a_message_out_on_the_test_group_only() {
    on_each_database(async |app| {
        let (editor, admin) = (Visitor::with_role(&app, "editor").await, Visitor::with_role(&app, "admin").await);
        let home = format!("/console/{}", app.app.key);
        for (address, tags) in [("tester", json!(["test"])), ("customer", json!([]))] {
            let channel = json!({"device_type": "android", "opt_in": true, "push_address": address, "tags": tags});
            app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
        }
        let compose = format!("{home}/compose");
        let test = [("who", "all"), ("text", "Hi"), ("name", "Spring"), ("do", "test")];
        let refused = editor.post(&compose, &test).await;
        refused.expect(409);
        refused.shows("no test group");
        assert!(!refused.text.contains("Choose the test group"), "{}", refused.text);
        let settings = format!("{home}/settings");
        let link = admin.post(&compose, &test).await.link_of("Choose the test group");
        assert_eq!(link, format!("{settings}#test_group"));
        admin.get(&settings).await.shows(r#"id="test_group""#);
        admin.post(&format!("{settings}/sending"), &[("test_group", "test")]).await.expect_to(&settings);
        admin.get(&settings).await.shows(r#"value="test""#);
        editor.post(&format!("{settings}/sending"), &[("test_group", "all")]).await.expect(403);
        let wrong = [("test_group", "{"), ("approval_above", "")];
        admin.post(&format!("{settings}/sending"), &wrong).await.expect(400);
        editor.post(&compose, &test).await.shows("A test was sent");
        app.step_all().await;
        let pushes = app.master().get("/api/pushes").await.expect(200);
        let sent = &pushes["pushes"][0];
        assert_eq!((&sent["name"], &sent["total"]["targeted"]), (&json!("Test: Spring"), &json!(1)));
        assert!(sent["author"].as_str().unwrap().starts_with("account editor-"), "{sent}");
        let messages = editor.get(&format!("{home}/messages?origin=test")).await;
        messages.shows("Test: Spring");
        messages.shows(r#"aria-current="true">Tests"#);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn places_are_chosen_by_name_and_shown_on_a_map() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let compose = format!("/console/{}/compose", app.app.key);
        let named = |name: &'static str| [("who", "some"), ("kind0", "location"), ("value0", name), ("text", "x")];
        let offered = sender.post(&compose, &[&named("Portland")[..], &[("do", "check")]].concat()).await;
        offered.shows("Which one is meant?");
        offered.shows("Oregon");
        let choice = offered.text.split("value=\"place-0-").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let chosen =
            sender.post(&compose, &[&named("Portland")[..], &[("do", &format!("place-0-{choice}"))]].concat()).await;
        chosen.shows("<svg class=\"map\"");
        chosen.shows(&format!("value=\"{choice}\""));
        let fields = [("who", "some"), ("kind0", "location"), ("value0", &*choice), ("text", "x"), ("do", "save")];
        sender.post(&compose, &fields).await.expect(303);
        let list = app.master().get("/api/drafts").await.expect(200);
        let id = list["drafts"][0]["draft_id"].as_str().unwrap().to_owned();
        let draft = app.master().get(&format!("/api/drafts/{id}")).await.expect(200);
        let location = &draft["draft"]["document"]["audience"]["location"];
        assert_eq!(location["date"], json!({"recent": {"days": 30}}));
        assert!(choice.contains(location["id"].as_str().unwrap()));
        sender
            .post(&compose, &[&named("Xyzzyplugh")[..], &[("do", "check")]].concat())
            .await
            .shows("No place is called");
        sender.post(&compose, &[&named("x (0)")[..], &[("do", "check")]].concat()).await.expect(200);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn values_are_completed_with_what_there_is() {
    on_each_database(async |app| {
        let editor = Visitor::with_role(&app, "editor").await;
        let channel =
            json!({"device_type": "android", "opt_in": true, "push_address": "a", "set_tags": true, "tags": ["news"]});
        let made = app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
        let attributes = json!([{"action": "set", "key": "plan", "value": "gold"}]);
        let body = json!({"audience": {"channel": made["channel_id"]}, "attributes": attributes});
        app.master().post("/api/channels/attributes", body).await.expect(200);
        let compose = format!("/console/{}/compose", app.app.key);
        let rows = [("who", "some"), ("kind0", "tag"), ("value0", ""), ("kind1", "attribute"), ("of1", "plan")];
        let page = editor.post(&compose, &rows).await;
        for known in [r#"<option value="news">1 device</option>"#, r#"<option value="plan">text</option>"#] {
            page.shows(known);
        }
        page.shows(r#"<option value="gold">"#);
        let gold = [("who", "some"), ("kind0", "attribute"), ("of0", "plan"), ("how0", "equals"), ("value0", "gold")];
        editor.post(&compose, &gold).await.shows("device will see it");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_the_push_itself_says_is_reviewed_and_a_time_is_never_ignored() {
    on_each_database(async |app| {
        for (kind, address, tag) in [("ios", "a".repeat(64), "news"), ("android", "one".to_owned(), "other")] {
            let channel =
                json!({"device_type": kind, "opt_in": true, "push_address": address, "set_tags": true, "tags": [tag]});
            app.device().post("/api/channels", json!({"channel": channel})).await.expect(201);
        }
        let sender = Visitor::with_role(&app, "sender").await;
        let compose = format!("/console/{}/compose", app.app.key);
        let review = async |more: &[(&str, &str)]| {
            let fields =
                [("who", "some"), ("kind0", "tag"), ("value0", "news"), ("text", "Hi {{name}}"), ("do", "review")];
            sender.post(&compose, &[&fields[..], more].concat()).await
        };
        review(&[("when", "now")]).await.shows("1 device, now.");
        review(&[("when", "now"), ("more", r#"{"audience": "all"}"#)]).await.shows("2 devices, now.");
        let only_android = r#"{"audience": "all", "device_types": ["android"]}"#;
        review(&[("when", "now"), ("more", only_android)]).await.shows("1 device, now.");
        for forgotten in [("at", "2030-01-31T12:00"), ("repeat", "daily")] {
            let refused = review(&[("when", "now"), forgotten]).await;
            refused.expect(400);
            refused.shows("but now is chosen");
        }
        sender.get(&format!("{compose}?who=all&text=Hi+%7B%7Bname%7D%7D")).await.shows("is filled in for each device");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_was_written_before_opens_by_its_id_however_long_it_is() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let home = format!("/console/{}", app.app.key);
        let (text, body) = ("Привет, мир! ".repeat(60).trim().to_owned(), "Рассказ. ".repeat(1000).trim().to_owned());
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": text},
                          "message": {"title": "Ещё", "body": body}});
        let sent = app.master().post("/api/push", push.clone()).await.expect(200);
        let schedule = json!({"push": push, "schedule": {"scheduled_time": "2030-01-31T12:00:00"}});
        let planned = app.master().post("/api/schedules", schedule.clone()).await.expect(201);
        let mut daily = schedule;
        daily["schedule"]["recurring"] = json!({"cadence": {"type": "daily", "count": 1}});
        let repeated = app.master().post("/api/schedules", daily).await.expect(201);
        let schedule_page = |made: &Value| format!("{home}/schedules/{}", made["schedule_ids"][0].as_str().unwrap());
        for (page, words) in [
            (format!("{home}/messages/{}", sent["push_ids"][0].as_str().unwrap()), "Write another one like it"),
            (schedule_page(&planned), "Edit"),
            (schedule_page(&repeated), "Edit"),
        ] {
            let link = sender.get(&page).await.link_of(words);
            assert!(link.starts_with(&format!("{home}/compose?")) && link.len() < 200, "{link}");
            let compose = sender.get(&link).await;
            for long in [&text, &body] {
                compose.shows(&format!(">{long}</textarea>"));
            }
            assert!(!compose.text.contains("%D0"), "an address has the text: {}", compose.text);
        }
        // What Compose has no fields for is changed on its own page, and what is not there is not found.
        let odd = json!({"cadence": {"type": "hourly", "count": 5}});
        let odd = json!({"push": push, "schedule": {"scheduled_time": "2030-01-31T12:00:00", "recurring": odd}});
        let odd = app.master().post("/api/schedules", odd).await.expect(201);
        let odd = odd["schedule_ids"][0].as_str().unwrap();
        sender.get(&format!("{home}/compose?schedule={odd}")).await.expect_to(&format!("{home}/schedules/{odd}"));
        let unknown = "00000000-0000-4000-8000-000000000000";
        sender.get(&format!("{home}/compose?schedule={unknown}")).await.expect(404);
        let gone = format!("{home}/messages/{unknown}");
        sender.get(&format!("{home}/compose?message={unknown}")).await.expect_to(&gone);
        app.stop().await;
    })
    .await;
}
