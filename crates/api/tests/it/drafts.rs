//! Drafts: kept unfinished, approved in one version, and sent once.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

fn push(text: &str) -> Value {
    json!({"audience": "all", "device_types": "all", "notification": {"alert": text}})
}

async fn create(app: &TestApp, draft: Value) -> String {
    let made = app.master().post("/api/drafts", draft).await.expect(201);
    assert_eq!((&made["draft"]["version"], &made["draft"]["state"]), (&json!(1), &json!("draft")));
    let id = made["draft"]["draft_id"].as_str().unwrap();
    format!("/api/drafts/{id}")
}

async fn step(app: &TestApp, path: &str, action: &str, version: u32) -> Value {
    let reply = app.master().post(&format!("{path}/{action}"), json!({"version": version})).await;
    reply.expect(200)["draft"].clone()
}

#[tokio::test]
async fn an_unfinished_draft_is_kept_and_refused_only_when_it_is_to_be_sent() {
    on_each_database(async |app| {
        let document = json!({"audience": {"tagg": "x"}, "notification": {"alert": 7}});
        let draft = json!({"name": "Später", "document": document, "editor": "text=%3Cb%3E"});
        let path = create(&app, draft).await;
        let kept = app.master().get(&path).await.expect(200)["draft"].clone();
        assert_eq!((&kept["document"], &kept["editor"]), (&document, &json!("text=%3Cb%3E")));
        assert!(kept["written_by"].as_str().unwrap().starts_with("master secret "), "{kept}");
        for action in ["submit", "send"] {
            let refused = app.master().post(&format!("{path}/{action}"), json!({"version": 1})).await.expect(400);
            assert!(refused["details"]["path"].as_str().unwrap().starts_with("document."), "{refused}");
            assert!(refused["error"].as_str().unwrap().contains("document.audience.tagg"), "{refused}");
        }
        let list = app.master().get("/api/drafts").await.expect(200);
        assert_eq!((&list["drafts"][0]["name"], list["drafts"][0].get("document")), (&json!("Später"), None));
        app.master().delete(&path).await.expect(204);
        app.master().get(&path).await.expect(404);
        app.master().delete(&path).await.expect(404);
        app.master().post("/api/drafts", json!({"document": "x"})).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn a_draft_is_changed_from_the_version_that_was_read_and_a_change_voids_the_approval() {
    on_each_database(async |app| {
        let path = create(&app, json!({"document": push("one")})).await;
        app.master().post(&format!("{path}/approve"), json!({"version": 1})).await.expect(409);
        assert_eq!(step(&app, &path, "submit", 1).await["state"], "awaiting");
        let approved = step(&app, &path, "approve", 1).await;
        assert_eq!(approved["state"], "approved");
        assert!(approved["approved_by"].as_str().unwrap().starts_with("master secret "));
        assert_eq!(step(&app, &path, "submit", 1).await["state"], "approved", "once is enough");
        let change = |version: u32, text: &str| json!({"version": version, "document": push(text)});
        let changed = app.master().put(&path, change(1, "two")).await.expect(200)["draft"].clone();
        assert_eq!((&changed["version"], &changed["state"]), (&json!(2), &json!("draft")));
        assert_eq!(changed["approved_by"], Value::Null);
        let refused = app.master().put(&path, change(1, "three")).await.expect(409);
        assert!(refused["error"].as_str().unwrap().contains("version 2"), "{refused}");
        for action in ["submit", "approve", "send"] {
            app.master().post(&format!("{path}/{action}"), json!({"version": 1})).await.expect(409);
        }
        assert_eq!(app.master().get("/api/pushes").await.expect(200)["pushes"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn a_draft_is_sent_once_as_what_it_is() {
    on_each_database(async |app| {
        let path = create(&app, json!({"document": push("now")})).await;
        let sent = step(&app, &path, "send", 1).await;
        let status = app.master().get(&format!("/api/push/{}", sent["push_id"].as_str().unwrap())).await.expect(200);
        assert_eq!(status["push"]["state"], "accepted");
        app.master().post(&format!("{path}/send"), json!({"version": 1})).await.expect(409);
        app.master().put(&path, json!({"version": 1, "document": push("x")})).await.expect(409);

        let schedule = json!({"schedule": {"scheduled_time": "2030-01-01T00:00"}, "push": push("later")});
        let path = create(&app, json!({"kind": "schedule", "document": schedule})).await;
        step(&app, &path, "submit", 1).await;
        let undo = json!({"version": 1, "undo_seconds": 10});
        app.master().post(&format!("{path}/send"), undo).await.expect(400);
        let sent = step(&app, &path, "send", 1).await;
        app.master().get(&format!("/api/schedules/{}", sent["schedule_id"].as_str().unwrap())).await.expect(200);
        let past = json!({"schedule": {"scheduled_time": "2020-01-01T00:00"}, "push": push("late")});
        let path = create(&app, json!({"kind": "schedule", "document": past})).await;
        let refused = app.master().post(&format!("{path}/submit"), json!({"version": 1})).await.expect(400);
        assert_eq!(refused["details"]["path"], "document.schedule.scheduled_time");

        let variant = json!({"push": {"notification": {"alert": "x"}}});
        let experiment = json!({"audience": "all", "device_types": "all", "variants": [variant, variant]});
        let path = create(&app, json!({"kind": "experiment", "document": experiment})).await;
        step(&app, &path, "submit", 1).await;
        let sent = step(&app, &path, "send", 1).await;
        app.master().get(&format!("/api/experiments/{}", sent["experiment_id"].as_str().unwrap())).await.expect(200);

        let states = |list: Value| list["drafts"].as_array().unwrap().len();
        assert_eq!(states(app.master().get("/api/drafts?state=sent").await.expect(200)), 3);
        assert_eq!(states(app.master().get("/api/drafts?state=draft").await.expect(200)), 1);
    })
    .await;
}

#[tokio::test]
async fn what_is_sent_from_a_draft_can_be_taken_back_for_a_while() {
    on_each_database(async |app| {
        for is_taken_back in [true, false] {
            let path = create(&app, json!({"document": push("soon")})).await;
            let sending = json!({"version": 1, "undo_seconds": 10});
            let sent = app.master().post(&format!("{path}/send"), sending).await.expect(200);
            let schedule = sent["draft"]["schedule_id"].as_str().unwrap().to_owned();
            if is_taken_back {
                app.master().delete(&format!("/api/schedules/{schedule}")).await.expect(204);
            }
            app.advance(Duration::from_secs(11));
            app.step_all().await;
            let pushes = app.master().get(&format!("/api/pushes?origin={schedule}")).await.expect(200);
            assert_eq!(pushes["pushes"].as_array().unwrap().len(), usize::from(!is_taken_back));
        }
    })
    .await;
}

#[tokio::test]
async fn drafts_are_listed_page_by_page_with_the_newest_first() {
    on_each_database(async |app| {
        for n in 0..5 {
            app.advance(Duration::from_secs(1));
            create(&app, json!({"name": format!("{n}"), "document": {}})).await;
        }
        let mut names = Vec::new();
        let mut next = Some("/api/drafts?limit=2&state=draft".to_owned());
        while let Some(path) = next {
            let page = app.master().get(&path).await.expect(200);
            let shown = page["drafts"].as_array().unwrap().iter();
            names.extend(shown.map(|draft| draft["name"].as_str().unwrap().to_owned()));
            next = page["next_page"].as_str().map(|url| url[url.find("/api/").unwrap()..].to_owned());
        }
        assert_eq!(names, ["4", "3", "2", "1", "0"]);
        app.master().get("/api/drafts?state=lost").await.expect(400);
    })
    .await;
}
