//! Schedules that are changed at the moment they fire or after it, and listings of what was made together or cannot be read.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::task::Poll;
use std::time::Duration;

use model::ids::AppId;
use serde_json::{Value, json};
use store::documents::{self, DocumentKind};
use store::{Error, Tx};
use testkit::app::{TestApp, on_each_database};

const APP: AppId = AppId(1);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The clock begins at 2024-05-01 12:00:00.
fn scheduled(schedule: &Value, alert: &str) -> Value {
    let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": alert}});
    json!({"schedule": schedule, "push": push})
}

fn once(time: &str) -> Value {
    json!({"scheduled_time": time})
}

fn daily(time: &str) -> Value {
    json!({"scheduled_time": time, "recurring": {"cadence": {"type": "daily", "count": 1}}})
}

async fn register(app: &TestApp) {
    let device = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": "token",
                        "timezone": "Europe/Paris"}});
    app.device().post("/api/channels", device).await.expect(201);
}

async fn create(app: &TestApp, body: Value) -> String {
    let created = app.master().post("/api/schedules", body).await.expect(201);
    format!("/api/schedules/{}", created["schedule_ids"][0].as_str().unwrap())
}

/// What was shown on the device, oldest first.
async fn shown(app: &TestApp) -> Vec<&'static str> {
    app.step_all().await;
    let sandbox = app.master().get("/api/sandbox?limit=1000").await.expect(200);
    let alert = |delivery: &Value| {
        let body = delivery["request"]["body"].to_string();
        ["Old", "New"].into_iter().find(|alert| body.contains(alert)).unwrap_or("?")
    };
    sandbox["deliveries"].as_array().unwrap().iter().map(alert).collect()
}

#[tokio::test]
async fn what_was_sent_a_moment_ago_is_not_sent_again() {
    on_each_database(async |app| {
        register(&app).await;
        let path = create(&app, scheduled(&daily("2024-05-01T13:00"), "Old")).await;
        app.advance(HOUR);
        assert_eq!(shown(&app).await, ["Old"]);
        app.master().put(&path, scheduled(&daily("2024-05-01T13:00"), "New")).await.expect(200);
        assert_eq!(shown(&app).await, ["Old"]);
        let app = app.restart().await;
        app.advance(DAY);
        assert_eq!(shown(&app).await, ["Old", "New"]);
        app.master().put(&path, scheduled(&once("2024-05-02T13:00"), "New")).await.expect(400);
        app.advance(DAY);
        assert_eq!(shown(&app).await, ["Old", "New", "New"], "what is refused changes nothing");
    })
    .await;
}

/// As one client library does it with schedules that were made from a template.
#[tokio::test]
async fn a_schedule_can_be_replaced_by_a_template() {
    on_each_database(async |app| {
        register(&app).await;
        let template = json!({"name": "T", "push": {"notification": {"alert": "{{WORD}}"}},
                              "variables": [{"key": "WORD", "default_value": null}]});
        let template = app.master().post("/api/templates", template).await.expect(201)["template_id"].clone();
        let filled = |word: &str| {
            let data = json!({"template_id": template, "substitutions": {"WORD": word}});
            json!({"audience": "all", "device_types": "all", "merge_data": data, "schedule": once("2024-05-01T18:00")})
        };
        let created = app.master().post("/api/templates/schedules", filled("Old")).await.expect(201);
        let path = format!("/api/schedules/{}", created["schedule_ids"][0].as_str().unwrap());
        app.advance(HOUR);
        let mut named = filled("New");
        named["name"] = json!("Evening");
        let updated = app.master().put(&path, named).await.expect(200);
        let mut expected = scheduled(&once("2024-05-01T18:00:00"), "New");
        assert_eq!(updated["schedules"][0]["push"], expected["push"]);
        assert_eq!(updated["schedule_ids"], created["schedule_ids"]);
        expected["name"] = json!("Evening");
        assert_eq!(app.master().get(&path).await.expect(200), expected);
        let template_path = format!("/api/templates/{}", template.as_str().unwrap());
        let used = app.master().get(&template_path).await.expect(200)["template"]["last_used"].clone();
        assert_eq!(used, "2024-05-01T13:00:00.000Z");

        let with = |key: &str, value: Value| {
            let mut body = filled("Old");
            body[key] = value;
            body
        };
        let unknown = json!({"template_id": "00000000-0000-4000-8000-000000000000"});
        for (body, at) in [
            (with("merge_data", unknown), "merge_data.template_id"),
            (with("device_types", json!(["open::nowhere"])), "device_types[0]"),
            (with("push", expected["push"].clone()), "push"),
            (with("schedule", once("2024-05-01T11:00")), "schedule.scheduled_time"),
        ] {
            let refused = app.master().put(&path, body).await.expect(400);
            assert_eq!(refused["details"]["path"], at, "{refused}");
        }
        app.master().put("/api/schedules/00000000-0000-4000-8000-000000000000", filled("Old")).await.expect(404);
        app.master().delete(&template_path).await.expect(200);
        app.advance(5 * HOUR);
        assert_eq!(shown(&app).await, ["New"], "the template is not needed any more");
    })
    .await;
}

#[tokio::test]
async fn what_is_overdue_is_sent_although_the_schedule_is_changed() {
    on_each_database(async |app| {
        register(&app).await;
        let local = json!({"local_scheduled_time": "2024-05-01T15:00"});
        let schedules = [daily("2024-05-01T13:00"), once("2024-05-01T13:00"), local];
        let mut paths = Vec::new();
        for schedule in &schedules {
            paths.push(create(&app, scheduled(schedule, "Old")).await);
        }
        // All of them are due, and nobody has worked yet.
        app.advance(HOUR + SECOND);
        for (path, schedule) in paths.iter().zip(&schedules) {
            app.master().put(path, scheduled(schedule, "New")).await.expect(200);
        }
        let app = app.restart().await;
        assert_eq!(shown(&app).await, ["New"; 3]);
        app.advance(DAY - 2 * SECOND);
        assert_eq!(shown(&app).await.len(), 3);
        app.advance(SECOND);
        assert_eq!(shown(&app).await.len(), 4, "the daily one goes on");
    })
    .await;
}

#[tokio::test]
async fn another_time_takes_the_place_of_one_that_is_overdue() {
    on_each_database(async |app| {
        register(&app).await;
        let path = create(&app, scheduled(&daily("2024-05-01T13:00"), "Old")).await;
        app.advance(HOUR + SECOND);
        app.master().put(&path, scheduled(&daily("2024-05-01T11:00"), "New")).await.expect(200);
        assert_eq!(shown(&app).await.len(), 0, "the new time has passed, and the old one does not count");
        let app = app.restart().await;
        app.advance(22 * HOUR);
        assert_eq!(shown(&app).await, ["New"]);
    })
    .await;
}

#[tokio::test]
async fn what_is_made_together_is_listed_in_its_order() {
    on_each_database(async |app| {
        let named = |n: usize| {
            let mut body = scheduled(&once("2024-06-01T12:00"), "Old");
            body["name"] = json!(n.to_string());
            body
        };
        let all: Vec<Value> = (0..20).map(named).collect();
        create(&app, json!(all)).await;
        let listed = app.master().get("/api/schedules?order=desc").await.expect(200);
        let names: Vec<&str> =
            listed["schedules"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
        let expected: Vec<String> = (0..20).rev().map(|n| n.to_string()).collect();
        assert_eq!(names, expected);
    })
    .await;
}

#[tokio::test]
async fn one_that_cannot_be_read_does_not_hide_the_others() {
    on_each_database(async |app| {
        let bad = create(&app, scheduled(&once("2024-06-01T12:00"), "Old")).await;
        let good = create(&app, scheduled(&once("2024-06-01T12:00"), "New")).await;
        let (id, now) = (bad.rsplit('/').next().unwrap().to_owned(), app.engine().clock().now());
        let spoil =
            move |tx: &mut Tx<'_>| documents::put(tx, APP, DocumentKind::Schedule, &id, r#"{"scheduled":{}}"#, now);
        app.engine().store().write(APP, spoil).await.unwrap();
        let listed = app.master().get("/api/schedules").await.expect(200);
        assert_eq!(listed["schedules"].as_array().unwrap().len(), 1);
        assert_eq!(listed["schedules"][0]["url"], json!(app.url(&good)));
    })
    .await;
}

async fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await
}

/// Whether a worker has a schedule in hand.
async fn is_one_firing(app: &TestApp) -> bool {
    let sql = "select count(*) from job where kind = 'fire_schedule' and leased > 0";
    app.engine().store().read(move |tx| tx.query_one::<i64>(sql, &[], |row| row.get(0))).await.unwrap() > 0
}

/// As an erasure replaces a name in it: the timer stays.
#[tokio::test]
async fn a_schedule_whose_words_are_replaced_while_it_fires_goes_on() {
    on_each_database(async |app| {
        register(&app).await;
        let path = create(&app, scheduled(&daily("2024-05-01T13:00"), "Old")).await;
        app.advance(HOUR);
        let worker = app.engine().worker();
        let mut firing = pin!(worker.step());
        while !is_one_firing(&app).await {
            // Another job may come first.
            if let Poll::Ready(stepped) = poll_once(firing.as_mut()).await {
                assert!(stepped.unwrap(), "the schedule is due");
                firing.set(worker.step());
            }
        }
        // It reads the schedule as it was, and writes after the change.
        let (held, release) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let replacing = {
            let (store, held, release) = (app.engine().store().clone(), Arc::clone(&held), Arc::clone(&release));
            let (id, now) = (path.rsplit('/').next().unwrap().to_owned(), app.clock().now());
            let is_first_run = AtomicBool::new(true);
            let replace = move |tx: &mut Tx<'_>| {
                let stored = documents::get(tx, APP, DocumentKind::Schedule, &id)?.unwrap();
                documents::put(tx, APP, DocumentKind::Schedule, &id, &stored.body.replace("Old", "New"), now)?;
                if is_first_run.swap(false, Ordering::SeqCst) {
                    held.wait();
                    release.wait();
                }
                Ok::<_, Error>(())
            };
            tokio::spawn(async move { store.write(APP, replace).await })
        };
        tokio::task::spawn_blocking(move || held.wait()).await.unwrap();
        while app.engine().store().waiting().n_writes == 0 {
            assert!(poll_once(firing.as_mut()).await.is_pending());
            tokio::task::yield_now().await;
        }
        tokio::task::spawn_blocking(move || release.wait()).await.unwrap();
        replacing.await.unwrap().unwrap();
        assert!(firing.await.unwrap());
        assert_eq!(shown(&app).await, ["New"], "it fires as it is now");
        app.advance(DAY);
        assert_eq!(shown(&app).await, ["New", "New"]);
    })
    .await;
}
