//! The nodes of an installation as the operator sees them, and what a server finds wrong with itself.

use std::time::Duration;

use engine::NodeFacts;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::crowd::Crowd;

async fn nodes(app: &TestApp) -> Vec<Value> {
    app.operator().get("/operator/nodes").await.expect(200)["nodes"].as_array().unwrap().clone()
}

/// The states of the checks.
async fn doctor(app: &TestApp) -> Vec<(String, String)> {
    let found = app.operator().get("/operator/doctor").await.expect(200);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    found["checks"].as_array().unwrap().iter().map(|check| (text(&check["check"]), text(&check["state"]))).collect()
}

/// The state and the sentence of each line of a check.
async fn texts(app: &TestApp, check: &str) -> Vec<(String, String)> {
    let found = app.operator().get("/operator/doctor").await.expect(200);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let lines = found["checks"].as_array().unwrap().iter().filter(|line| line["check"] == check);
    lines.map(|line| (text(&line["state"]), text(&line["text"]))).collect()
}

fn facts() -> NodeFacts {
    let roles = vec!["api".to_owned(), "worker".to_owned()];
    let (name, address) = (Some("push-1".to_owned()), "0.0.0.0:8080".to_owned());
    NodeFacts { name, address, version: "0.1.0".to_owned(), roles, operator: None }
}

#[tokio::test]
async fn nodes_are_listed_with_when_they_were_seen() {
    on_each_database(async |app| {
        assert_eq!(nodes(&app).await, Vec::<Value>::new());
        app.engine().introduce(facts()).await;
        let [node] = &nodes(&app).await[..] else { panic!("one node") };
        assert!(node["node_id"].is_string());
        assert_eq!((&node["address"], &node["version"]), (&json!("0.0.0.0:8080"), &json!("0.1.0")));
        assert_eq!(node["name"], json!("push-1"), "all machines may listen on the same address");
        assert_eq!((&node["roles"], &node["jobs"]), (&json!(["api", "worker"]), &json!(0)));
        assert_eq!(node["log_records_behind"], json!(0));
        assert!(node["database_milliseconds"].as_f64().is_some_and(|millis| millis > 0.0), "{node}");
        assert_eq!(
            (&node["started"], &node["last_seen"]),
            (&json!("2024-05-01T12:00:00"), &json!("2024-05-01T12:00:00"))
        );
        assert_eq!(node["alive"], json!(true));
        app.advance(Duration::from_secs(60));
        assert_eq!(nodes(&app).await[0]["alive"], json!(false));
        app.engine().note_node().await;
        let again = &nodes(&app).await[0];
        assert_eq!((&again["alive"], &again["last_seen"]), (&json!(true), &json!("2024-05-01T12:01:00")));
        assert_eq!(again["started"], json!("2024-05-01T12:00:00"));
        app.advance(Duration::from_secs(25 * 3600));
        assert_eq!(nodes(&app).await, Vec::<Value>::new(), "it has been gone for a day");
        app.master().get("/operator/nodes").await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn a_server_tells_what_is_wrong() {
    on_each_database(async |app| {
        let fine: Vec<(String, String)> = ["database", "clock", "nodes", "jobs", "live", "platforms", "webhooks"]
            .map(|check| (check.to_owned(), "ok".to_owned()))
            .to_vec();
        assert_eq!(doctor(&app).await, fine);
        app.engine().introduce(facts()).await;
        Crowd::register(&app, &[("a", "ios")]).await;
        let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
        app.master().post("/api/push", push).await.expect(200);
        let pause = format!("/operator/apps/{}/platforms/apns/pause", app.app.key);
        app.operator().post(&pause, json!({"reason": "We look into it."})).await.expect(200);
        app.advance(Duration::from_secs(120));
        let found = app.operator().get("/operator/doctor").await.expect(200);
        let of = |check: &str| {
            let all = found["checks"].as_array().unwrap().iter();
            all.filter(|it| it["check"] == check).map(|it| (it["state"].clone(), it["text"].clone())).next().unwrap()
        };
        assert_eq!(of("jobs").0, json!("fail"));
        assert!(of("jobs").1.as_str().unwrap().contains("wait for a worker, the first for 120 s"), "{found}");
        assert_eq!(of("platforms").0, json!("warn"));
        assert!(of("platforms").1.as_str().unwrap().ends_with("We look into it."), "{found}");
        assert_eq!(of("nodes").0, json!("warn"));
        assert_eq!(of("database").0, json!("ok"));
        app.master().get("/operator/doctor").await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn devices_without_credentials_are_told_of_in_production() {
    on_each_database(async |app| {
        Crowd::register(&app, &[("a", "ios"), ("b", "ios")]).await;
        let path = format!("/operator/apps/{}", app.app.key);
        for (mode, n_lacking) in [("development", 0), ("production", 1)] {
            app.operator().patch(&path, json!({"mode": mode})).await.expect(200);
            let platforms = texts(&app, "platforms").await;
            let lacking = platforms.iter().filter(|(_, text)| text.contains("no credentials for apns"));
            assert_eq!(lacking.count(), n_lacking, "{mode}: {platforms:?}");
        }
        let (state, text) = texts(&app, "platforms").await[0].clone();
        assert!(state == "warn" && text.starts_with("2 ios devices of ") && text.contains(&app.app.key), "{text}");
    })
    .await;
}
