//! What the service counts about itself.

use std::time::Duration;

use model::app::Mode;
use model::payload::parse_pushes;
use serde_json::json;
use tenancy::IdempotencyKey;
use testkit::app::{TestApp, on_each_database};

use crate::devices::{push, register, register_open};

/// The value of one time series; `None` when there is no such series.
async fn value(app: &TestApp, series: &str) -> Option<u64> {
    let text = app.operator().get("/metrics").await.text().to_owned();
    text.lines().find_map(|line| line.strip_prefix(series)?.trim().parse().ok())
}

#[tokio::test]
async fn a_push_that_is_repeated_counts_once() {
    on_each_database(async |app| {
        let caller = app.engine().tenancy().app(&app.app.key).await.unwrap();
        for (key, n_accepted) in [("a", 2), ("a", 2), ("b", 4)] {
            let one = r#"{"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}}"#;
            let pushes = parse_pushes(format!("[{one}, {one}]").as_bytes()).unwrap();
            let idempotency_key = IdempotencyKey { key: key.to_owned(), request: [0; 32] };
            app.engine().sending().accept_pushes(&caller, pushes, Some(idempotency_key)).await.unwrap();
            assert_eq!(value(&app, "aerogram_pushes_accepted_total").await, Some(n_accepted), "{key}");
        }
    })
    .await;
}

#[tokio::test]
async fn names_that_tenants_choose_are_no_labels() {
    on_each_database(async |app| {
        register(&app, "ios", "A1", json!({})).await;
        for platform in ["kiosk", "fridge"] {
            register_open(&app, platform, "lobby", json!({})).await;
        }
        push(&app, json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}})).await;
        app.step_all().await;
        let series = |device_type: &str| {
            let labels = format!(r#"device_type="{device_type}",transport="sandbox",outcome="delivered""#);
            format!("aerogram_deliveries_total{{{labels}}}")
        };
        assert_eq!(value(&app, &series("open")).await, Some(2));
        assert_eq!(value(&app, &series("ios")).await, Some(1));
        assert_eq!(value(&app, &series("open::kiosk")).await, None);
    })
    .await;
}

#[tokio::test]
async fn readers_of_logs_are_told_by_app() {
    on_each_database(async |app| {
        let push = json!({"audience": "triggered", "device_types": "all", "notification": {"alert": "Hi"}});
        let pipeline = json!({
            "name": "Welcome", "enabled": true, "immediate_trigger": {"tag_added": "new"}, "outcome": {"push": push},
        });
        app.master().post("/api/pipelines", pipeline).await.expect(201);
        let other = app.another_app(Mode::Development).await;
        register(&app, "ios", "A1", json!({})).await;
        let of = |key: &str| format!(r#"aerogram_log_records_behind{{app="{key}",reader="follow_triggers"}} "#);
        assert!(value(&app, &of(&app.app.key)).await > Some(0));
        assert_eq!(value(&app, &of(&other.key)).await, None, "nothing of that app reads its log");
        app.step_all().await;
        assert_eq!(value(&app, &of(&app.app.key)).await, Some(0));
        let id = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
        app.engine().index().current(id).await.unwrap();
        let of_index = format!(r#"aerogram_audience_index_log_records_behind{{app="{}"}} "#, app.app.key);
        assert_eq!(value(&app, &of_index).await, Some(0));
    })
    .await;
}

#[tokio::test]
async fn only_what_is_due_is_overdue() {
    on_each_database(async |app| {
        let later = json!({"schedule": {"scheduled_time": "2030-01-01T00:00"},
                          "push": {"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}}});
        app.master().post("/api/schedules", later).await.expect(201);
        let overdue =
            async || (value(&app, "aerogram_jobs_overdue ").await, value(&app, "aerogram_jobs_overdue_seconds ").await);
        assert_eq!(overdue().await, (Some(0), Some(0)));
        push(&app, json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}})).await;
        app.advance(Duration::from_secs(7));
        assert_eq!(overdue().await, (Some(1), Some(7)));
        app.step_all().await;
        assert_eq!(overdue().await, (Some(0), Some(0)));
        assert_eq!(value(&app, "aerogram_jobs_running ").await, Some(0));
    })
    .await;
}
