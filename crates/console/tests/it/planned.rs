//! What is sent by itself: schedules, automations and experiments, told in words, and switched by those who may send.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::TestApp;

use crate::visitor::{Visitor, on_each_database};

const MARKUP: &str = "<img src=x onerror=alert(1)>";

fn push(text: &str) -> Value {
    json!({"audience": "all", "device_types": "all", "notification": {"alert": text}})
}

async fn phone(app: &TestApp) {
    let channel = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": "one"}});
    app.device().post("/api/channels", channel).await.expect(201);
}

#[tokio::test]
async fn schedules_are_told_in_words_and_paused() {
    on_each_database(async |app| {
        let (sender, viewer) = (Visitor::with_role(&app, "sender").await, Visitor::with_role(&app, "viewer").await);
        let list = format!("/console/{}/schedules", app.app.key);
        viewer.get(&list).await.shows("Nothing is planned");
        let made = app
            .master()
            .post(
                "/api/schedules",
                json!({"name": MARKUP, "push": push("The news"), "schedule": {
                "scheduled_time": "2024-06-01T09:00:00",
                "recurring": {"cadence": {"type": "weekly", "count": 2, "days_of_week": ["monday"]}}}}),
            )
            .await
            .expect(201);
        let id = made["schedule_ids"][0].as_str().unwrap();
        let shown = viewer.get(&list).await;
        for words in ["&lt;img src=x", "The news", "Every 2 weeks on Monday"] {
            shown.shows(words);
        }
        assert!(!shown.text.contains(MARKUP) && !shown.text.contains(">Pause<"), "{}", shown.text);
        let one = format!("{list}/{id}");
        sender.post(&format!("{list}/{id}/pause"), &[]).await.expect_to(&one);
        sender.get(&list).await.shows(">Resume<");
        sender.post(&format!("{list}/{id}/resume"), &[]).await.expect_to(&one);
        let looked_at = viewer.get(&one).await;
        looked_at.shows("Every 2 weeks on Monday");
        assert!(!looked_at.text.contains("As JSON") && !looked_at.text.contains(MARKUP), "{}", looked_at.text);
        sender.get(&one).await.shows("is not sent any more");
        viewer.post(&format!("{list}/{id}/delete"), &[]).await.expect(403);
        sender.post(&format!("{list}/{id}/delete"), &[]).await.expect_to(&list);
        sender.get(&list).await.shows("Nothing is planned");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn automations_are_told_in_words_and_switched() {
    on_each_database(async |app| {
        let (sender, viewer) = (Visitor::with_role(&app, "sender").await, Visitor::with_role(&app, "viewer").await);
        let list = format!("/console/{}/automation", app.app.key);
        viewer.get(&list).await.shows("No automation yet");
        let outcome =
            json!({"push": {"audience": "triggered", "device_types": "all", "notification": {"alert": MARKUP}}});
        let body = json!({"name": "Welcome", "enabled": true, "immediate_trigger": "first_open", "outcome": outcome,
            "condition": {"and": [{"tag": {"tag_name": "quiet", "negated": true}}]}});
        let made = app.master().post("/api/pipelines", body).await.expect(201);
        let id = made["pipeline_ids"][0].as_str().unwrap();
        phone(&app).await;
        app.step_all().await;
        let shown = viewer.get(&list).await;
        for words in [
            "Welcome",
            "registers for the first time",
            "does not have the tag “quiet”",
            "&lt;img src=x",
            "<strong>1</strong> sent",
        ] {
            shown.shows(words);
        }
        assert!(!shown.text.contains(MARKUP) && !shown.text.contains("Switch off"));
        let one = format!("{list}?id={id}");
        sender.post(&format!("{list}/{id}/off"), &[]).await.expect_to(&one);
        sender.get(&one).await.shows("It is switched off.");
        sender.get(&format!("{list}?enabled=false")).await.shows("Switch on");
        sender.get(&format!("{list}?enabled=true")).await.shows("None of them");
        sender.post(&format!("{list}/{id}/on"), &[]).await.expect_to(&one);
        let kept = app.master().get(&format!("/api/pipelines/{id}")).await.expect(200);
        assert_eq!((&kept["pipeline"]["enabled"], &kept["pipeline"]["name"]), (&json!(true), &json!("Welcome")));
        viewer.post(&format!("{list}/{id}/off"), &[]).await.expect(403);
        sender.post(&format!("{list}/{id}/delete"), &[]).await.expect_to(&list);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn automations_are_clicked_together_and_nothing_of_them_is_lost() {
    on_each_database(async |app| {
        let (sender, editor) = (Visitor::with_role(&app, "sender").await, Visitor::with_role(&app, "editor").await);
        let list = format!("/console/{}/automation", app.app.key);
        let new = format!("{list}/new");
        editor.get(&new).await.expect(403);
        sender.get(&new).await.shows("a device registers for the first time");
        let fields = [
            ("name", "Cart"),
            ("enabled", "yes"),
            ("trigger0", "tag_added"),
            ("trigger-value0", "cart"),
            ("trigger-of0", "shop"),
            ("delay", "2"),
            ("unit", "3600"),
            ("kind0", "tag"),
            ("value0", "quiet"),
            ("not0", "not"),
            ("title", "Still there?"),
            ("text", "Your cart waits"),
        ];
        let with = |more: &[(&'static str, &'static str)]| [&fields[..], more].concat();
        let shown = sender.post(&new, &with(&[("do", "add-trigger")])).await;
        for words in [r#"name="trigger1""#, "Your cart waits", "devices would pass the conditions", r#"value="cart""#] {
            shown.shows(words);
        }
        let incomplete = sender.post(&new, &with(&[("trigger1", "custom_event"), ("do", "save")])).await;
        assert!(incomplete.expect(400).contains("Trigger 2 is not complete"), "{}", incomplete.text);
        incomplete.shows("Your cart waits");
        let made = sender.post(&new, &with(&[("do", "save")])).await;
        made.expect(303);
        sender.get(made.location()).await.shows("2 hours");
        let id = made.location().rsplit('=').next().unwrap().to_owned();
        let stored = async || app.master().get(&format!("/api/pipelines/{id}")).await.expect(200)["pipeline"].clone();
        let pipeline = stored().await;
        assert_eq!(pipeline["immediate_trigger"], json!({"tag_added": {"tag": "cart", "group": "shop"}}));
        assert_eq!(pipeline["condition"], json!({"and": [{"tag": {"tag_name": "quiet", "negated": true}}]}));
        assert_eq!(pipeline["timing"], json!({"delay": {"seconds": 7200}}));
        // What the page has no fields for stays.
        let edit = format!("{list}/{id}/edit");
        let mut body = pipeline.clone();
        body["constraint"] = json!({"rate": {"pushes": 1, "days": 7}});
        app.master().put(&format!("/api/pipelines/{id}"), body).await.expect(200);
        let form = sender.get(&edit).await;
        for words in [r#"value="cart""#, r#"value="Still there?""#, "Your cart waits", "&quot;pushes&quot;: 1"] {
            form.shows(words);
        }
        let rest = r#"{"constraint": {"rate": {"pushes": 1, "days": 7}}}"#;
        let changed = [&fields[1..], &[("name", "Carts"), ("rest", rest), ("do", "save")]].concat();
        sender.post(&edit, &changed).await.expect(303);
        let pipeline = stored().await;
        assert_eq!((&pipeline["name"], &pipeline["constraint"]["rate"]["days"]), (&json!("Carts"), &json!(7)));
        let off: Vec<(&str, &str)> = changed.into_iter().filter(|(name, _)| *name != "enabled").collect();
        sender.post(&edit, &off).await.expect(303);
        assert_eq!(stored().await["enabled"], json!(false));
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_new_automation_sends_nothing_until_it_is_switched_on() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        let list = format!("/console/{}/automation", app.app.key);
        let new = format!("{list}/new");
        let form = sender.get(&new).await;
        form.shows("Nothing is sent until it is switched on");
        form.shows(r#"name="enabled" value="yes">"#);
        let fields = [("name", "Welcome"), ("trigger0", "first_open"), ("text", "Hello"), ("do", "save")];
        let made = sender.post(&new, &fields).await;
        made.expect(303);
        let page = sender.get(made.location()).await;
        for words in ["It is switched off.", "Switch it on", "Nothing was sent by it yet."] {
            page.shows(words);
        }
        phone(&app).await;
        app.step_all().await;
        sender.get(made.location()).await.shows("Nothing was sent by it yet.");
        let id = made.location().rsplit('=').next().unwrap();
        sender.post(&format!("{list}/{id}/on"), &[]).await.expect_to(made.location());
        let page = sender.get(made.location()).await;
        assert!(page.expect(200).contains("Switch off") && !page.text.contains("It is switched off."));
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn experiments_say_what_can_be_concluded() {
    on_each_database(async |app| {
        let (sender, viewer) = (Visitor::with_role(&app, "sender").await, Visitor::with_role(&app, "viewer").await);
        let list = format!("/console/{}/experiments", app.app.key);
        viewer.get(&list).await.shows("No experiment yet");
        phone(&app).await;
        let variant = |name: &str| {
            json!({"name": name, "push": {"notification": {"alert": MARKUP}}, "schedule": {"scheduled_time": "2024-05-01T13:00:00"}})
        };
        let body = json!({"name": "Which greeting?", "audience": "all", "device_types": "all", "control": 0.2,
            "variants": [variant("Plain"), variant("Friendly")]});
        let make = async || {
            let made = app.master().post("/api/experiments", body.clone()).await.expect(201);
            made["experiment_id"].as_str().unwrap().to_owned()
        };
        let (kept, dropped) = (make().await, make().await);
        viewer.post(&format!("{list}/{dropped}/delete"), &[]).await.expect(403);
        sender.get(&format!("{list}/{dropped}")).await.shows("Delete the experiment");
        sender.post(&format!("{list}/{dropped}/delete"), &[]).await.expect_to(&list);
        viewer.get(&list).await.shows("Nothing has been sent yet.");
        app.advance(Duration::from_secs(2 * 60 * 60));
        app.step_all().await;
        let shown = sender.get(&format!("{list}/{kept}")).await;
        for words in ["Which greeting?", "Verdict", "Friendly", "Control group", "started", "&lt;img src=x"] {
            shown.shows(words);
        }
        assert!(!shown.text.contains(MARKUP) && !shown.text.contains("Delete the experiment"));
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_busy_day_of_the_calendar_leads_to_its_messages() {
    on_each_database(async |app| {
        let viewer = Visitor::with_role(&app, "viewer").await;
        let many: Vec<Value> = (0..30).map(|n| push(&format!("Number {n:02}"))).collect();
        app.master().post("/api/push", json!(many)).await.expect(200);
        let calendar = viewer.get(&format!("/console/{}/calendar", app.app.key)).await;
        assert_eq!(calendar.expect(200).matches("title=\"sent: Number").count(), 24);
        let (_, link) = calendar
            .text
            .split_once("All messages of that day")
            .map(|(before, _)| before)
            .unwrap()
            .rsplit_once("href=\"")
            .unwrap();
        let link = link.split_once('"').unwrap().0.replace("&amp;", "&");
        assert_eq!(viewer.get(&link).await.expect(200).matches("Number ").count(), 30);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_schedule_is_changed_in_compose_or_as_json() {
    on_each_database(async |app| {
        let sender = Visitor::with_role(&app, "sender").await;
        phone(&app).await;
        let document =
            json!({"name": "Soon", "push": push("The news"), "schedule": {"scheduled_time": "2024-06-01T09:00:00"}});
        let mut hourly = document.clone();
        hourly["schedule"]["recurring"] = json!({"cadence": {"type": "hourly", "count": 5}});
        let make = async |document: &Value| {
            let made = app.master().post("/api/schedules", document.clone()).await.expect(201);
            made["schedule_ids"][0].as_str().unwrap().to_owned()
        };
        let (in_compose, as_json) = (make(&document).await, make(&hourly).await);
        let list = format!("/console/{}/schedules", app.app.key);
        // What Compose can show is changed there.
        let page = sender.get(&format!("{list}/{in_compose}")).await;
        let compose = sender.get(&page.link_of("Edit")).await;
        for words in ["You change", "value=\"2024-06-01T09:00", "value=\"Soon\"", ">The news</textarea>"] {
            compose.shows(words);
        }
        assert!(compose.hidden_fields().contains(&("schedule".to_owned(), in_compose.clone())), "{}", compose.text);
        let path = format!("/console/{}/compose", app.app.key);
        let fields = [
            ("schedule", &*in_compose),
            ("who", "all"),
            ("name", "Soon"),
            ("text", "The better news"),
            ("when", "at"),
            ("at", "2024-06-02T09:00"),
        ];
        let post = async |more: &[(&str, &str)]| sender.post(&path, &[&fields[..], more].concat()).await;
        post(&[("do", "review")]).await.shows("Ready to send?");
        let sent = post(&[("do", "send"), ("once", "1"), ("expected", "1")]).await;
        sent.expect_to(&format!("{list}/{in_compose}"));
        let changed = app.master().get(&format!("/api/schedules/{in_compose}")).await.expect(200);
        assert_eq!(changed["schedule"]["scheduled_time"], "2024-06-02T09:00:00");
        assert_eq!(changed["push"]["notification"]["alert"], "The better news");
        // The rest is changed as JSON.
        let one = format!("{list}/{as_json}");
        let edit = sender.get(&one).await.link_of("Edit as JSON");
        assert_eq!(edit, format!("{one}?edit=json#json"));
        sender.get(edit.trim_end_matches("#json")).await.shows(r#"<details id="json" open>"#);
        sender.post(&one, &[("document", "{")]).await.shows("This is no JSON");
        let refused = sender.post(&one, &[("document", "{\"push\": 1}")]).await;
        assert!(refused.expect(400).contains("role=\"alert\""), "{}", refused.text);
        let mut other = hourly.clone();
        other["schedule"]["scheduled_time"] = json!("2024-07-01T09:00:00");
        sender.post(&one, &[("document", &other.to_string())]).await.expect_to(&one);
        sender.get(&one).await.shows("2024-07-01 09:00:00 UTC");
        let schedules = app.master().get("/api/schedules").await.expect(200);
        assert_eq!(schedules["total_count"], 2, "nothing was made anew");
        app.stop().await;
    })
    .await;
}
