//! The calendar: what was sent, and what schedules, experiments and pipelines send.

use std::time::Duration;

use model::app::Mode;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::crowd::Crowd;

async fn occurrences(app: &TestApp, from: &str, to: &str) -> Vec<Value> {
    let found = app.master().get(&format!("/api/schedules/occurrences?from={from}&to={to}")).await.expect(200);
    assert_eq!(found["complete"], json!(true));
    found["occurrences"].as_array().unwrap().clone()
}

fn push(text: &str) -> Value {
    json!({"audience": "all", "device_types": "all", "notification": {"alert": text}})
}

async fn schedule(app: &TestApp, name: Option<&str>, schedule: Value) -> String {
    let mut body = json!({"schedule": schedule, "push": push("Later")});
    if let Some(name) = name {
        body["name"] = json!(name);
    }
    let made = app.master().post("/api/schedules", body).await.expect(201);
    made["schedule_ids"][0].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_was_sent_and_what_will_be_stand_in_order() {
    on_each_database(async |app| {
        Crowd::register(&app, &[("a", "ios")]).await;
        let sent = app.master().post("/api/push", push("Now")).await.expect(200)["push_ids"][0].clone();
        let once = schedule(&app, Some("Once"), json!({"scheduled_time": "2024-05-03T09:00:00"})).await;
        let cadence = json!({"cadence": {"type": "daily", "count": 2}, "end_time": "2024-05-20T00:00:00"});
        let again = schedule(&app, None, json!({"scheduled_time": "2024-05-02T09:00:00", "recurring": cadence})).await;
        let local = schedule(&app, None, json!({"local_scheduled_time": "2024-05-05T18:00:00"})).await;
        let when = json!({"scheduled_time": "2024-05-06T00:00"});
        let variant = |text: &str| json!({"push": {"notification": {"alert": text}}, "schedule": when});
        let variants = [variant("A"), variant("B")];
        let experiment = json!({"name": "Which", "audience": "all", "device_types": "all", "variants": variants});
        let experiment = app.master().post("/api/experiments", experiment).await.expect(201)["experiment_id"].clone();

        let all = occurrences(&app, "2024-05-01", "2024-05-07").await;
        let of = |kind: &str, id: &str| json!({"type": kind, "id": id});
        let planned = |at: &str, kind: &str, title: &str, id: &str| {
            json!({"at": at, "kind": kind, "title": title, "origin": of("schedule", id)})
        };
        let mut by_clocks = planned("2024-05-05T18:00:00", "scheduled", "Later", &local);
        by_clocks["local"] = json!(true);
        let tried = json!({"at": "2024-05-06T00:00:00", "kind": "scheduled", "title": "Which",
                           "origin": of("experiment", experiment.as_str().unwrap())});
        let expected = [
            json!({"at": "2024-05-01T12:00:00", "kind": "sent", "title": "Now", "push_id": sent}),
            planned("2024-05-02T09:00:00", "recurring", "Later", &again),
            planned("2024-05-03T09:00:00", "scheduled", "Once", &once),
            planned("2024-05-04T09:00:00", "recurring", "Later", &again),
            by_clocks,
            tried.clone(),
            tried,
            planned("2024-05-06T09:00:00", "recurring", "Later", &again),
        ];
        assert_eq!(all, expected);
        assert_eq!(occurrences(&app, "2024-05-19", "2024-06-30").await, Vec::<Value>::new(), "it has ended");

        app.advance(Duration::from_secs(24 * 3600));
        app.step_all().await;
        let day = occurrences(&app, "2024-05-02", "2024-05-03").await;
        let [fired] = &day[..] else { panic!("one push: {day:?}") };
        assert_eq!((&fired["kind"], &fired["origin"]), (&json!("sent"), &of("schedule", &again)));
        app.master().post(&format!("/api/schedules/{again}/pause"), "").await.expect(204);
        let paused = &occurrences(&app, "2024-05-04", "2024-05-05").await[0];
        assert_eq!((&paused["kind"], &paused["paused"]), (&json!("recurring"), &json!(true)));
    })
    .await;
}

#[tokio::test]
async fn a_day_of_a_pipeline_is_one_occurrence_and_there_are_at_most_a_thousand() {
    on_each_database(async |app| {
        let crowd = Crowd::register(&app, &[("a", "ios"), ("b", "ios")]).await;
        let outcome =
            json!({"push": {"audience": "triggered", "device_types": "all", "notification": {"alert": "Welcome"}}});
        let pipeline =
            json!({"name": "Welcome", "enabled": true, "immediate_trigger": {"tag_added": "new"}, "outcome": outcome});
        let pipeline = app.master().post("/api/pipelines", pipeline).await.expect(201)["pipeline_ids"][0].clone();
        for name in ["a", "b"] {
            let tag = json!({"audience": {"channel": crowd.id(name)}, "add": {"device": ["new"]}});
            app.master().post("/api/channels/tags", tag).await.expect(200);
            app.step_all().await;
            app.advance(Duration::from_secs(60));
        }
        let day = occurrences(&app, "2024-05-01", "2024-05-02").await;
        let [welcome] = &day[..] else { panic!("one occurrence: {day:?}") };
        let origin = json!({"type": "pipeline", "id": pipeline});
        assert_eq!(
            (&welcome["kind"], &welcome["origin"], &welcome["pushes"]),
            (&json!("automated"), &origin, &json!(2))
        );

        let hourly = json!({"cadence": {"type": "hourly", "count": 1}});
        schedule(&app, None, json!({"scheduled_time": "2024-05-02T00:00:00", "recurring": hourly})).await;
        let found = app.master().get("/api/schedules/occurrences?from=2024-05-02&to=2024-07-30").await.expect(200);
        assert_eq!((found["occurrences"].as_array().unwrap().len(), &found["complete"]), (1000, &json!(false)));
    })
    .await;
}

#[tokio::test]
async fn other_apps_see_nothing_and_wrong_times_are_refused() {
    on_each_database(async |app| {
        app.master().post("/api/push", push("Now")).await.expect(200);
        schedule(&app, None, json!({"scheduled_time": "2024-05-03T09:00:00"})).await;
        let path = "/api/schedules/occurrences?from=2024-05-01&to=2024-05-07";
        let stranger = app.another_app(Mode::Development).await;
        let stranger = app.nobody().basic(&stranger.key, &stranger.master_secret);
        assert_eq!(stranger.get(path).await.expect(200)["occurrences"], json!([]));
        app.device().get(path).await.expect(401);
        for (query, path) in [
            ("to=2024-05-07", "from"),
            ("from=2024-05-01", "to"),
            ("from=2024-05-01&to=soon", "to"),
            ("from=2024-05-02&to=2024-05-01", "to"),
            ("from=2024-01-01&to=2025-03-01", "to"),
        ] {
            let refused = app.master().get(&format!("/api/schedules/occurrences?{query}")).await.expect(400);
            assert_eq!(refused["details"]["path"], path, "{query}");
        }
    })
    .await;
}
