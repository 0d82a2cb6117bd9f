//! Schedules for the best time of a day: the hour at which the app is mostly opened, by everybody's own clock.

use std::time::Duration;

use model::time::UtcMillis;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::events_intake::{event_at, upload};

/// The clock begins at 2024-05-01 12:00:00.
fn best(date: &str) -> Value {
    let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Have a look"}});
    json!({"schedule": {"best_time": {"send_date": date}}, "push": push})
}

async fn register(app: &TestApp, zone: &str) -> String {
    let channel = json!({"device_type": "android", "opt_in": true, "push_address": zone, "timezone": zone});
    app.device().post("/api/channels", json!({ "channel": channel })).await.expect(201)["channel_id"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Opens the app so many times within an hour that begins at an instant.
async fn open(app: &TestApp, channel: &str, n_times: i64, hour: &str, data: Value) {
    let hour = UtcMillis::parse_api(hour).unwrap().0;
    let events = (0..n_times).map(|n| event_at("app_foreground", hour + n * 1000, data.clone()));
    upload(app, channel, json!(events.collect::<Vec<_>>())).await;
}

async fn n_sent_at(app: &TestApp, instant: &str) -> usize {
    let wait = UtcMillis::parse_api(instant).unwrap().0 - app.engine().clock().now().0;
    app.advance(Duration::from_millis(u64::try_from(wait).unwrap()));
    app.step_all().await;
    app.master().get("/api/sandbox?limit=1000").await.expect(200)["deliveries"].as_array().unwrap().len()
}

#[tokio::test]
async fn it_is_sent_at_the_hour_with_the_most_openings() {
    on_each_database(async |app| {
        let paris = register(&app, "Europe/Paris").await;
        let new_york = register(&app, "America/New_York").await;
        // At 20 in Paris by what the device says, and at 20 in New York by its time zone.
        open(&app, &paris, 60, "2024-04-30T18:00", json!({"time_zone": 7200})).await;
        open(&app, &new_york, 60, "2024-05-01T00:00", json!({})).await;
        open(&app, &paris, 70, "2024-05-01T07:00", json!({"time_zone": 7200})).await;
        let created = app.master().post("/api/schedules", best("2024-05-02")).await.expect(201);
        let path = format!("/api/schedules/{}", created["schedule_ids"][0].as_str().unwrap());
        assert_eq!(app.master().get(&path).await.expect(200), best("2024-05-02"), "the hour is not told");
        assert_eq!(created["schedules"][0]["schedule"], best("2024-05-02")["schedule"]);
        // What happens later does not change what was chosen.
        open(&app, &paris, 200, "2024-05-01T10:00", json!({"time_zone": 7200})).await;
        let app = app.restart().await;
        assert_eq!(n_sent_at(&app, "2024-05-02T17:59:59").await, 0);
        assert_eq!(n_sent_at(&app, "2024-05-02T18:00:00").await, 1);
        app.master().put(&path, best("2024-05-03")).await.expect(409);
        let app = app.restart().await;
        assert_eq!(n_sent_at(&app, "2024-05-02T23:59:59").await, 1);
        assert_eq!(n_sent_at(&app, "2024-05-03T00:00:00").await, 2);
        assert_eq!(n_sent_at(&app, "2024-05-04T00:00:00").await, 2);
        app.master().get(&path).await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn without_openings_it_is_sent_in_the_evening() {
    on_each_database(async |app| {
        let paris = register(&app, "Europe/Paris").await;
        open(&app, &paris, 10, "2024-05-01T07:00", json!({"time_zone": 7200})).await;
        let template = json!({"name": "T", "variables": [], "push": {"notification": {"alert": "Hi"}}});
        let made = app.master().post("/api/templates", &template).await.expect(201);
        let mut usage = best("2024-05-01");
        usage.as_object_mut().unwrap().remove("push");
        for (key, value) in [
            ("audience", json!("all")),
            ("device_types", json!("all")),
            ("merge_data", json!({"template_id": made["template_id"]})),
        ] {
            usage[key] = value;
        }
        app.master().post("/api/templates/schedules", usage).await.expect(201);
        let path = app.master().post("/api/schedules", best("2024-05-02")).await.expect(201)["schedule_urls"][0]
            .as_str()
            .unwrap()
            .replace(&app.url(""), "");
        assert_eq!(n_sent_at(&app, "2024-05-01T15:59:59").await, 0);
        assert_eq!(n_sent_at(&app, "2024-05-01T16:00:00").await, 1);
        // A change chooses anew.
        open(&app, &paris, 100, "2024-05-01T07:30", json!({"time_zone": 7200})).await;
        app.master().put(&path, best("2024-05-02")).await.expect(200);
        let app = app.restart().await;
        assert_eq!(n_sent_at(&app, "2024-05-02T06:59:59").await, 1);
        assert_eq!(n_sent_at(&app, "2024-05-02T07:00:00").await, 2);
        assert_eq!(n_sent_at(&app, "2024-05-03T07:00:00").await, 2);
    })
    .await;
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    on_each_database(async |app| {
        let mut recurring = best("2024-05-02");
        recurring["schedule"]["recurring"] = json!({"cadence": {"type": "daily", "count": 1}});
        let mut hour = best("2024-05-02");
        hour["schedule"]["best_time"]["hour"] = json!(7);
        for (body, path) in [
            (best("2024-04-29"), "schedule.best_time"),
            (best("2024-5-2"), "schedule.best_time.send_date"),
            (best("2024-05-02x"), "schedule.best_time.send_date"),
            (recurring, "schedule.recurring"),
            (hour, "schedule.best_time.hour"),
            (json!(vec![best("2024-05-02"); 101]), ""),
        ] {
            let refused = app.master().post("/api/schedules", &body).await.expect(400);
            assert_eq!(refused["details"]["path"], path, "{refused}");
        }
    })
    .await;
}
