//! Schedules by local time: everybody gets theirs when their own clock shows it, once, across restarts and changes of clocks.

use std::collections::BTreeMap;
use std::time::Duration;

use model::time::UtcMillis;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The clock begins at 2024-05-01 12:00:00.
fn local(time: &str) -> Value {
    let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Good morning"}});
    json!({"schedule": {"local_scheduled_time": time}, "push": push})
}

fn daily(time: &str, end: &str) -> Value {
    let mut body = local(time);
    body["schedule"]["recurring"] = json!({"cadence": {"type": "daily", "count": 1}, "end_time": end});
    body
}

async fn create(app: &TestApp, body: Value) -> String {
    let created = app.master().post("/api/schedules", body).await.expect(201);
    format!("/api/schedules/{}", created["schedule_ids"][0].as_str().unwrap())
}

/// Devices by the name of their time zone.
struct World(BTreeMap<String, &'static str>);

impl World {
    async fn with(app: &TestApp, zones: &[&'static str]) -> Self {
        let mut devices = BTreeMap::new();
        for zone in zones {
            let device = json!({"channel": {
                "device_type": "android", "opt_in": true, "push_address": zone, "timezone": zone,
            }});
            let reply = app.device().post("/api/channels", device).await.expect(201);
            devices.insert(reply["channel_id"].as_str().unwrap().to_owned(), *zone);
        }
        Self(devices)
    }

    async fn moves(&self, app: &TestApp, from: &str, to: &str) {
        let (id, _) = self.0.iter().find(|(_, zone)| **zone == from).unwrap();
        let device =
            json!({"channel": {"device_type": "android", "opt_in": true, "push_address": from, "timezone": to}});
        app.device().put(&format!("/api/channels/{id}"), device).await.expect(200);
    }

    /// Who has got something, as often as they have, in the order in which they have.
    async fn reached(&self, app: &TestApp) -> Vec<&'static str> {
        app.step_all().await;
        let sandbox = app.master().get("/api/sandbox?limit=1000").await.expect(200);
        let zone = |delivery: &Value| self.0[delivery["channel_id"].as_str().unwrap()];
        sandbox["deliveries"].as_array().unwrap().iter().map(zone).collect()
    }

    async fn reached_at(&self, app: &TestApp, instant: &str) -> Vec<&'static str> {
        advance_to(app, instant);
        self.reached(app).await
    }
}

fn advance_to(app: &TestApp, instant: &str) {
    let wait = UtcMillis::parse_api(instant).unwrap().0 - app.engine().clock().now().0;
    app.advance(Duration::from_millis(u64::try_from(wait).unwrap()));
}

#[tokio::test]
async fn the_time_comes_to_one_zone_after_the_other() {
    on_each_database(async |app| {
        let zones =
            ["Asia/Tokyo", "Asia/Kathmandu", "Europe/Athens", "Europe/Berlin", "America/New_York", "Mars/Olympus"];
        let world = World::with(&app, &zones).await;
        let path = create(&app, local("2024-05-02T09:00")).await;
        assert_eq!(
            app.master().get(&path).await.expect(200)["schedule"],
            json!({"local_scheduled_time": "2024-05-02T09:00:00"})
        );
        let table = [
            ("2024-05-01T23:59:59", 0),
            ("2024-05-02T00:00:00", 1),
            ("2024-05-02T03:00:00", 1),
            ("2024-05-02T03:15:00", 2), // a quarter of an hour after the zone that it is counted as
            ("2024-05-02T06:00:00", 3),
            ("2024-05-02T06:59:59", 3),
            ("2024-05-02T07:00:00", 4),
        ];
        let mut app = app;
        for (instant, n_reached) in table {
            assert_eq!(world.reached_at(&app, instant).await, zones[..n_reached], "{instant}");
            app = app.restart().await;
        }
        assert_eq!(world.reached_at(&app, "2024-05-02T12:59:59").await.len(), 4);
        assert_eq!(world.reached_at(&app, "2024-05-02T13:00:00").await, zones[..5], "who has no time zone is left out");
        app.master().get(&path).await.expect(200);
        let app = app.restart().await;
        assert_eq!(world.reached_at(&app, "2024-05-02T21:00:01").await.len(), 5);
        app.master().get(&path).await.expect(404);
        assert_eq!(world.reached_at(&app, "2024-05-09T21:00:00").await.len(), 5);
    })
    .await;
}

/// The first push of a run is named when the schedule is made, which can be long before.
#[tokio::test]
async fn who_was_served_is_known_of_schedules_made_long_before() {
    on_each_database(async |app| {
        let world = World::with(&app, &["Asia/Tokyo", "America/New_York"]).await;
        create(&app, local("2024-07-02T09:00")).await;
        assert_eq!(world.reached_at(&app, "2024-07-02T00:00:00").await, ["Asia/Tokyo"]);
        // Meanwhile what is old is deleted.
        assert_eq!(world.reached_at(&app, "2024-07-02T01:00:00").await, ["Asia/Tokyo"]);
        let app = app.restart().await;
        world.moves(&app, "Asia/Tokyo", "America/New_York").await;
        assert_eq!(world.reached_at(&app, "2024-07-02T13:00:00").await, ["Asia/Tokyo", "America/New_York"]);
        assert_eq!(world.reached_at(&app, "2024-09-02T13:00:00").await.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_run_cannot_be_changed_but_stopped() {
    on_each_database(async |app| {
        let world = World::with(&app, &["Asia/Tokyo", "Europe/Paris", "America/New_York"]).await;
        let path = create(&app, local("2024-05-02T09:00")).await;
        app.master().put(&path, local("2024-05-02T10:00")).await.expect(200);
        assert_eq!(world.reached_at(&app, "2024-05-02T00:30:00").await.len(), 0, "the old time does not count");
        assert_eq!(world.reached_at(&app, "2024-05-02T01:00:00").await, ["Asia/Tokyo"]);
        let refused = app.master().put(&path, local("2024-05-03T10:00")).await.expect(409);
        assert_eq!(refused["error_code"], 40900);
        assert!(!refused["error"].as_str().unwrap().contains("pause"), "only what recurs can be paused: {refused}");
        let listed = app.master().get("/api/schedules").await.expect(200);
        assert_eq!(listed["schedules"][0]["push_ids"].as_array().unwrap().len(), 2, "one was sent and one is next");
        let app = app.restart().await;
        assert_eq!(world.reached_at(&app, "2024-05-02T08:00:00").await, ["Asia/Tokyo", "Europe/Paris"]);
        app.master().delete(&path).await.expect(204);
        let app = app.restart().await;
        assert_eq!(world.reached_at(&app, "2024-05-03T08:00:00").await.len(), 2, "New York never gets it");
    })
    .await;
}

#[tokio::test]
async fn a_daily_schedule_can_be_changed_between_its_runs() {
    on_each_database(async |app| {
        let world = World::with(&app, &["Asia/Tokyo", "Europe/Paris"]).await;
        let body = daily("2024-05-02T09:00", "2024-06-01T00:00");
        let path = create(&app, body.clone()).await;
        assert_eq!(world.reached_at(&app, "2024-05-01T19:00:00").await.len(), 0);
        app.master().put(&path, &body).await.expect(200); // it has come to islands where nobody is
        assert_eq!(world.reached_at(&app, "2024-05-02T01:00:00").await, ["Asia/Tokyo"]);
        let refused = app.master().put(&path, &body).await.expect(409);
        assert!(refused["error"].as_str().unwrap().contains("pause"), "{refused}");
        assert_eq!(world.reached_at(&app, "2024-05-02T08:00:00").await, ["Asia/Tokyo", "Europe/Paris"]);
        app.master().put(&path, &body).await.expect(200);
        assert_eq!(world.reached_at(&app, "2024-05-02T23:59:00").await.len(), 2);
        app.master().put(&path, &body).await.expect(200); // it has come to them again
        assert_eq!(world.reached_at(&app, "2024-05-03T08:00:00").await.len(), 4);
    })
    .await;
}

#[tokio::test]
async fn zones_whose_time_has_passed_are_left_out() {
    on_each_database(async |app| {
        let world = World::with(&app, &["Asia/Tokyo", "Europe/Paris", "America/New_York"]).await;
        // It is 21:00 in Tokyo, 14:00 in Paris and 08:00 in New York.
        create(&app, local("2024-05-01T15:00")).await;
        assert_eq!(world.reached_at(&app, "2024-05-01T13:00:00").await, ["Europe/Paris"]);
        let app = app.restart().await;
        assert_eq!(world.reached_at(&app, "2024-05-05T13:00:00").await, ["Europe/Paris", "America/New_York"]);
        let refused = app.master().post("/api/schedules", local("2024-05-04T15:00")).await.expect(400);
        assert_eq!(refused["details"]["path"], "schedule.local_scheduled_time");
        let many = app.master().post("/api/schedules", json!(vec![local("2024-06-01T15:00"); 101])).await.expect(400);
        assert!(many["error"].as_str().unwrap().contains("100"), "{many}");
    })
    .await;
}

#[tokio::test]
async fn whoever_travels_gets_it_once() {
    on_each_database(async |app| {
        let world = World::with(&app, &["Europe/Paris", "America/New_York", "America/Los_Angeles"]).await;
        create(&app, daily("2024-05-02T09:00", "2024-05-03T23:00")).await;
        assert_eq!(world.reached_at(&app, "2024-05-02T07:00:00").await, ["Europe/Paris"]);
        world.moves(&app, "Europe/Paris", "America/New_York").await;
        let app = app.restart().await;
        let first_day = ["Europe/Paris", "America/New_York", "America/Los_Angeles"];
        assert_eq!(world.reached_at(&app, "2024-05-02T20:00:00").await, first_day);
        // On the next day it goes by the clock where it is.
        assert_eq!(world.reached_at(&app, "2024-05-03T12:59:00").await.len(), 3);
        assert_eq!(world.reached_at(&app, "2024-05-03T13:00:00").await.len(), 5);
        assert_eq!(world.reached_at(&app, "2024-05-10T13:00:00").await.len(), 6);
    })
    .await;
}

#[tokio::test]
async fn days_on_which_clocks_change_have_one_push_like_others() {
    on_each_database(async |app| {
        let world = World::with(&app, &["Europe/Paris", "America/New_York", "Asia/Kolkata"]).await;
        advance_to(&app, "2024-10-25T12:00:00");
        // Clocks go back on the 27th in Paris, and on November 3 in New York.
        create(&app, daily("2024-10-26T02:30", "2024-11-04T23:00")).await;
        let mut app = app;
        let mut before = 0;
        let mut moments = Vec::new();
        let instant = |text| UtcMillis::parse_api(text).unwrap();
        let days_between = instant("2024-10-28T12:00:00")..instant("2024-11-02T00:00:00");
        while app.engine().clock().now() < instant("2024-11-05T12:00:00") {
            app.advance(if days_between.contains(&app.engine().clock().now()) { DAY / 2 } else { HOUR / 2 });
            let reached = world.reached(&app).await;
            for zone in &reached[before..] {
                moments.push((*zone, app.engine().clock().now().to_api()));
            }
            if reached.len() > before {
                app = app.restart().await;
            }
            before = reached.len();
        }
        let of = |zone: &str| -> Vec<String> {
            moments.iter().filter(|(found, _)| *found == zone).map(|(_, moment)| moment[5..16].to_owned()).collect()
        };
        let paris = of("Europe/Paris");
        assert_eq!(paris.len(), 10);
        assert_eq!(paris[..3], ["10-26T00:30", "10-27T00:30", "10-28T01:30"], "the first of the two");
        let new_york = of("America/New_York");
        assert_eq!(new_york.len(), 10);
        assert_eq!(new_york[7..], ["11-02T06:30", "11-03T07:30", "11-04T07:30"]);
        assert_eq!(of("Asia/Kolkata")[..2], ["10-25T21:00", "10-26T21:00"]);
        assert_eq!(of("Asia/Kolkata").len(), 10);
    })
    .await;
}

#[tokio::test]
async fn what_was_missed_comes_when_the_service_is_back() {
    on_each_database(async |app| {
        let world = World::with(&app, &["Asia/Tokyo", "Europe/Paris"]).await;
        create(&app, local("2024-05-02T09:00")).await;
        app.advance(3 * DAY);
        let app = app.restart().await;
        let mut reached = world.reached(&app).await;
        reached.sort_unstable();
        assert_eq!(reached, ["Asia/Tokyo", "Europe/Paris"]);
    })
    .await;
}
