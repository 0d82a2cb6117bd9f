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
        sender.post(&format!("{list}/{id}/pause"), &[]).await.expect_to(&list);
        sender.get(&list).await.shows(">Resume<");
        sender.post(&format!("{list}/{id}/resume"), &[]).await.expect_to(&list);
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
        sender.post(&format!("{list}/{id}/off"), &[]).await.expect_to(&list);
        sender.get(&format!("{list}?enabled=false")).await.shows("Switch on");
        sender.get(&format!("{list}?enabled=true")).await.shows("None of them");
        sender.post(&format!("{list}/{id}/on"), &[]).await.expect_to(&list);
        let kept = app.master().get(&format!("/api/pipelines/{id}")).await.expect(200);
        assert_eq!((&kept["pipeline"]["enabled"], &kept["pipeline"]["name"]), (&json!(true), &json!("Welcome")));
        viewer.post(&format!("{list}/{id}/off"), &[]).await.expect(403);
        sender.post(&format!("{list}/{id}/delete"), &[]).await.expect_to(&list);
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
