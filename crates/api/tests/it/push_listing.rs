//! The listing of pushes: what it shows of each, and how they are found.

use std::time::Duration;

use model::ids::PushId;
use serde_json::{Value, json};
use store::Value as Cell;
use testkit::app::{TestApp, on_each_database};

use crate::crowd::Crowd;

async fn send(app: &TestApp, body: Value) -> String {
    app.master().post("/api/push", body).await.expect(200)["push_ids"][0].as_str().unwrap().to_owned()
}

fn alert(text: &str) -> Value {
    json!({"audience": "all", "device_types": "all", "notification": {"alert": text}})
}

fn named(name: &str, text: &str) -> Value {
    let mut push = alert(text);
    push["name"] = json!(name);
    push
}

async fn list(app: &TestApp, query: &str) -> Vec<Value> {
    app.master().get(&format!("/api/pushes?{query}")).await.expect(200)["pushes"].as_array().unwrap().clone()
}

async fn ids(app: &TestApp, query: &str) -> Vec<String> {
    list(app, query).await.iter().map(|push| push["push_id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_push_is_listed_with_its_texts_its_results_and_who_asked() {
    on_each_database(async |app| {
        Crowd::register(&app, &[("one", "ios"), ("two", "android")]).await;
        let content = json!({"alert": "A storm comes", "ios": {"title": "Weather"}});
        let push = json!({"name": "Storm", "audience": "all", "device_types": ["ios"], "notification": content});
        let id = send(&app, push).await;
        app.step_all().await;
        let [shown] = &list(&app, "").await[..] else { panic!("one push") };
        assert_eq!((&shown["push_id"], &shown["name"]), (&json!(id), &json!("Storm")));
        assert_eq!((&shown["title"], &shown["alert"]), (&json!("Weather"), &json!("A storm comes")));
        assert_eq!((&shown["state"], &shown["created"]), (&json!("done"), &json!("2024-05-01T12:00:00")));
        assert_eq!((&shown["push_type"], shown.get("origin")), (&json!("BROADCAST_PUSH"), None));
        assert!(shown["author"].as_str().unwrap().starts_with("master secret "), "{shown}");
        assert_eq!((&shown["total"]["targeted"], &shown["total"]["delivered"]), (&json!(1), &json!(1)));
        assert_eq!(shown["opens"], json!({"direct": 0, "influenced": 0}));
        let one = app.master().get(&format!("/api/push/{id}")).await.expect(200);
        assert_eq!((&one["push"]["name"], &one["push"]["total"]), (&json!("Storm"), &shown["total"]));
        let report = app.master().get(&format!("/api/reports/responses/{id}")).await.expect(200);
        assert_eq!(report["name"], "Storm");
        assert_eq!(app.operator().get(&format!("/operator/pushes/{id}")).await.expect(200)["push"]["name"], "Storm");
    })
    .await;
}

#[tokio::test]
async fn names_are_checked_and_stay_with_pushes_that_are_sent_later() {
    on_each_database(async |app| {
        for wrong in [json!(""), json!("x".repeat(101)), json!(7), json!("a\nb")] {
            let mut push = alert("x");
            push["name"] = wrong;
            let refused = app.master().post("/api/push", push).await.expect(400);
            assert_eq!(refused["details"]["path"], "name");
        }
        let schedule = json!({"schedule": {"scheduled_time": "2024-05-01T13:00:00"}, "push": named("Later", "x")});
        let made = app.master().post("/api/schedules", schedule).await.expect(201);
        let template =
            json!({"name": "t", "variables": [], "push": {"name": "From it", "notification": {"alert": "x"}}});
        let template = app.master().post("/api/templates", template).await.expect(201)["template_id"].clone();
        let merge = json!({"audience": "all", "device_types": "all", "merge_data": {"template_id": template}});
        app.master().post("/api/templates/push", merge).await.expect(200);
        let variant = |name: &str| json!({"push": {"name": name, "notification": {"alert": "x"}}});
        let variants = [variant("First"), variant("Second")];
        let experiment = json!({"audience": "all", "device_types": "all", "variants": variants});
        app.master().post("/api/experiments", experiment).await.expect(201);
        app.advance(Duration::from_secs(3600));
        app.step_all().await;
        let all = list(&app, "").await;
        let mut names: Vec<_> = all.iter().filter_map(|push| push["name"].as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["First", "From it", "Later", "Second"]);
        let [later] = &list(&app, "origin=schedule").await[..] else { panic!("one push") };
        let origin = json!({"type": "schedule", "id": made["schedule_ids"][0]});
        assert_eq!(later["origin"], origin);
        // The author is who has asked for the schedule.
        assert!(later["author"].as_str().unwrap().starts_with("master secret "), "{later}");
        let by_id = format!("origin={}", made["schedule_ids"][0].as_str().unwrap());
        assert_eq!(ids(&app, &by_id).await.len(), 1);
        let sent = &list(&app, "origin=template").await[0];
        assert!(sent["author"].as_str().unwrap().starts_with("master secret "), "{sent}");
    })
    .await;
}

#[tokio::test]
async fn pushes_are_found_by_text_state_device_type_and_time() {
    on_each_database(async |app| {
        Crowd::register(&app, &[("one", "ios"), ("two", "android")]).await;
        let storm = send(&app, named("STÖRM", "x")).await;
        app.step_all().await;
        app.advance(Duration::from_secs(3600));
        let mut android = alert("A störm of offers & more");
        android["device_types"] = json!(["android"]);
        let offers = send(&app, android).await;
        app.step_all().await;
        app.advance(Duration::from_secs(3600));
        let waiting = send(&app, alert("Nothing")).await;
        app.master().post(&format!("/api/push/{waiting}/pause"), "").await.expect(200);
        assert_eq!(ids(&app, "").await, [waiting.clone(), offers.clone(), storm.clone()]);
        assert_eq!(ids(&app, "q=st%C3%B6rm").await, [offers.clone(), storm.clone()]);
        assert_eq!(ids(&app, "q=offers%20%26").await, std::slice::from_ref(&offers));
        assert_eq!(ids(&app, "q=%25").await, Vec::<String>::new());
        assert_eq!(ids(&app, "state=done").await, [offers.clone(), storm.clone()]);
        assert_eq!(ids(&app, "state=paused").await, std::slice::from_ref(&waiting));
        assert_eq!(ids(&app, "state=accepted").await, Vec::<String>::new());
        assert_eq!(ids(&app, "device_type=ios").await, std::slice::from_ref(&storm));
        assert_eq!(
            ids(&app, "origin=api&from=2024-05-01%2012:30&to=2024-05-01%2013:30").await,
            std::slice::from_ref(&offers)
        );
        for wrong in ["state=gone", "origin=nobody", "device_type=toaster", "from=soon", "start=x"] {
            app.master().get(&format!("/api/pushes?{wrong}")).await.expect(400);
        }
        app.device().get("/api/pushes").await.expect(401);
        let mut path = "/api/pushes?limit=1&q=st%C3%B6rm".to_owned();
        let mut found = Vec::new();
        loop {
            let page = app.master().get(&path).await.expect(200);
            found.extend(page["pushes"].as_array().unwrap().iter().map(|push| push["push_id"].clone()));
            let Some(next) = page.get("next_page").and_then(Value::as_str) else { break };
            path = next[next.find("/api").unwrap()..].to_owned();
        }
        assert_eq!(found, [json!(offers), json!(storm)]);
    })
    .await;
}

#[tokio::test]
async fn redacted_pushes_lose_their_texts_and_older_rows_show_those_of_their_payload() {
    on_each_database(async |app| {
        Crowd::register(&app, &[("one", "ios")]).await;
        let mut secret = named("Secret", "The secret");
        secret["options"] = json!({"redact_payload": true});
        let redacted = send(&app, secret).await;
        assert_eq!(list(&app, "").await[0]["alert"], "The secret", "as long as it is being sent");
        let old: PushId = send(&app, named("Old", "An old one")).await.parse().unwrap();
        app.step_all().await;
        let id = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
        let forget = move |tx: &mut store::Tx<'_>| {
            let sql =
                "update push set name = null, title = null, alert = null, author = null where app = $1 and id = $2";
            tx.execute(sql, &[Cell::from(id), old.into()])
        };
        app.engine().store().write(id, forget).await.unwrap_or_else(|error: store::Error| panic!("{error}"));
        let all = list(&app, "").await;
        let of = |id: &str| all.iter().find(|push| push["push_id"] == *id).unwrap();
        let shown = of(&redacted);
        assert_eq!((&shown["name"], &shown["title"], &shown["alert"]), (&Value::Null, &Value::Null, &Value::Null));
        let shown = of(&old.to_string());
        assert_eq!(
            (&shown["name"], &shown["alert"], &shown["author"]),
            (&json!("Old"), &json!("An old one"), &Value::Null)
        );
        assert_eq!(ids(&app, "q=old").await, [old.to_string()]);
    })
    .await;
}
