//! Schedules by UTC: made, shown, changed, paused and deleted, and what they send at which moment, across restarts.

use std::time::Duration;

use model::ids::{AppId, PushId};
use model::origin::Origin;
use serde_json::{Value, json};
use store::documents::{self, DocumentKind};
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The clock begins at 2024-05-01 12:00:00.
fn scheduled(time: &str, alert: &str) -> Value {
    let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": alert}});
    json!({"name": "Later", "schedule": {"scheduled_time": time}, "push": push})
}

fn recurring(time: &str, recurring: Value) -> Value {
    let mut body = scheduled(time, "Again");
    body["schedule"]["recurring"] = recurring;
    body
}

fn daily(end: Option<&str>) -> Value {
    let mut recurring = json!({"cadence": {"type": "daily", "count": 1}, "paused": false});
    if let Some(end) = end {
        recurring["end_time"] = json!(end);
    }
    recurring
}

async fn register(app: &TestApp) {
    let device = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": "token"}});
    app.device().post("/api/channels", device).await.expect(201);
}

/// Schedules something and answers its path.
async fn create(app: &TestApp, body: Value) -> String {
    let created = app.master().post("/api/schedules/", body).await.expect(201);
    format!("/api/schedules/{}", created["schedule_ids"][0].as_str().unwrap())
}

/// What was shown on the device, oldest first.
async fn shown(app: &TestApp) -> Vec<String> {
    app.step_all().await;
    let sandbox = app.master().get("/api/sandbox?limit=1000").await.expect(200);
    let alert = |delivery: &Value| {
        let body = delivery["request"]["body"].to_string();
        ["One", "Two", "Again", "Later"].into_iter().find(|alert| body.contains(alert)).unwrap_or("?").to_owned()
    };
    sandbox["deliveries"].as_array().unwrap().iter().map(alert).collect()
}

async fn wait_and_see(app: &TestApp, wait: Duration) -> usize {
    app.advance(wait);
    shown(app).await.len()
}

#[tokio::test]
async fn a_schedule_is_shown_and_sent_once_at_its_time() {
    on_each_database(async |app| {
        register(&app).await;
        let reply = app.master().post("/api/schedules", scheduled("2024-05-01T1330", "One")).await;
        let created = reply.expect(201);
        assert_eq!(reply.header("data-attribute"), Some("schedule_urls"));
        let id = created["schedule_ids"][0].as_str().unwrap().to_owned();
        let announced = created["schedules"][0]["push_ids"][0].as_str().unwrap();
        let early = app.master().get(&format!("/api/push/{announced}")).await.expect(404);
        let text = "There is no such push; one that a schedule announced is there once it was sent.";
        assert_eq!(early["error"], text);
        let url = app.url(&format!("/api/schedules/{id}"));
        assert_eq!((&created["ok"], &created["schedule_urls"]), (&json!(true), &json!([url])));
        let mut record = scheduled("2024-05-01T13:30:00", "One");
        assert_eq!(app.master().get(&format!("/api/schedules/{id}/")).await.expect(200), record);
        record["url"] = json!(url);
        record["push_ids"] = created["schedules"][0]["push_ids"].clone();
        assert_eq!(created["schedules"], json!([record]));
        let reply = app.master().get("/api/schedules").await;
        assert_eq!(reply.expect(200), json!({"ok": true, "count": 1, "total_count": 1, "schedules": [record]}));
        assert_eq!((reply.header("count"), reply.header("total-count")), (Some("1"), Some("1")));

        assert_eq!(shown(&app).await.len(), 0);
        assert_eq!(wait_and_see(&app, HOUR).await, 0);
        let app = app.restart().await;
        assert_eq!(wait_and_see(&app, HOUR / 2 - Duration::from_millis(1)).await, 0);
        assert_eq!(wait_and_see(&app, Duration::from_millis(1)).await, 1);
        let push = record["push_ids"][0].as_str().unwrap();
        let status = app.master().get(&format!("/api/push/{push}")).await.expect(200);
        assert_eq!(
            (&status["push"]["state"], &status["push"]["created"]),
            (&json!("done"), &json!("2024-05-01T13:30:00"))
        );
        assert_eq!(status["push"]["origin"], json!({"type": "schedule", "id": id}));
        let push: PushId = push.parse().unwrap();
        let origin = app.engine().store().read(move |tx| store::origins::of(tx, AppId(1), push)).await.unwrap().origin;
        assert_eq!(origin, Origin::Schedule(id.parse().unwrap()));

        for path in [format!("/api/schedules/{id}"), format!("/api/schedules/{UNKNOWN}"), "/api/schedules/x".to_owned()]
        {
            app.master().get(&path).await.expect(404);
            app.master().delete(&path).await.expect(404);
            app.master().put(&path, scheduled("2024-06-01T00:00", "One")).await.expect(404);
            app.master().post(&format!("{path}/pause"), "").await.expect(404);
            app.master().post(&format!("{path}/resume"), "").await.expect(404);
        }
        assert_eq!(app.master().get("/api/schedules").await.expect(200)["total_count"], 0);
        let app = app.restart().await;
        assert_eq!(wait_and_see(&app, 10 * DAY).await, 1, "it is sent once");
    })
    .await;
}

#[tokio::test]
async fn workers_that_compete_send_it_once() {
    on_each_database(async |app| {
        register(&app).await;
        create(&app, json!(vec![scheduled("2024-05-01T13:00", "One"); 5])).await;
        app.advance(HOUR);
        tokio::join!(app.step_all(), app.step_all(), app.step_all());
        assert_eq!(shown(&app).await, ["One"; 5]);
        assert_eq!(row_counts(app.engine().store()).await["push_origin"], 5);
    })
    .await;
}

#[tokio::test]
async fn a_worker_that_dies_loses_nothing() {
    on_each_database(async |app| {
        register(&app).await;
        create(&app, scheduled("2024-05-01T13:00", "One")).await;
        app.advance(HOUR + Duration::from_secs(1));
        let now = app.engine().clock().now();
        let lease_until = now.plus(Duration::from_secs(15));
        let claim = move |tx: &mut store::Tx<'_>| {
            let due: Vec<_> =
                store::jobs::due(tx, &store::Part::ALL, now, 10)?.jobs.iter().map(|job| (job.app, job.id)).collect();
            store::jobs::claim(tx, store::nodes::Node::random(), &due, now, lease_until)
        };
        let claimed = app.engine().store().write(AppId(1), claim).await.unwrap();
        let fire = claimed.into_iter().find(|job| job.kind == "fire_schedule").unwrap();
        assert_eq!(shown(&app).await.len(), 0, "somebody else is at it");
        assert_eq!(wait_and_see(&app, Duration::from_secs(15)).await, 1);
        let settled = app.engine().store().write(AppId(1), move |tx| store::jobs::settle(tx, &fire)).await;
        let is_too_late = matches!(settled, Err(store::Error::Conflict(store::Constraint::LeaseLost)));
        assert!(is_too_late, "it comes back too late: {settled:?}");
        assert_eq!(wait_and_see(&app, DAY).await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_deleted_schedule_never_fires() {
    on_each_database(async |app| {
        register(&app).await;
        let path = create(&app, scheduled("2024-05-01T13:00", "One")).await;
        create(&app, scheduled("2024-05-01T13:00", "Two")).await;
        let app = app.restart().await;
        assert_eq!(app.master().delete(&path).await.expect(204), Value::Null);
        app.master().delete(&path).await.expect(404);
        let jobs = row_counts(app.engine().store()).await["job"];
        let app = app.restart().await;
        app.advance(DAY);
        assert_eq!(shown(&app).await, ["Two"]);
        assert_eq!(row_counts(app.engine().store()).await["job"], jobs - 1, "nothing of it is left waiting");
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_read_can_be_deleted() {
    on_each_database(async |app| {
        let path = create(&app, scheduled("2024-05-01T13:00", "One")).await;
        let jobs = row_counts(app.engine().store()).await["job"];
        let (id, now) = (path.rsplit('/').next().unwrap().to_owned(), app.engine().clock().now());
        let spoil = move |tx: &mut store::Tx<'_>| {
            let stored = documents::get(tx, AppId(1), DocumentKind::Schedule, &id)?.unwrap();
            let spoiled = stored.body.replace("notification", "telegram");
            documents::put(tx, AppId(1), DocumentKind::Schedule, &id, &spoiled, now)
        };
        app.engine().store().write(AppId(1), spoil).await.unwrap();
        app.master().get(&path).await.expect(500);
        app.master().delete(&path).await.expect(204);
        assert_eq!(row_counts(app.engine().store()).await["job"], jobs - 1, "nothing of it is left waiting");
    })
    .await;
}

#[tokio::test]
async fn an_update_replaces_everything() {
    on_each_database(async |app| {
        register(&app).await;
        let path = create(&app, scheduled("2024-05-01T13:00", "One")).await;
        let mut later = scheduled("2024-05-01T15:00:00", "Two");
        later.as_object_mut().unwrap().remove("name");
        let updated = app.master().put(&path, &later).await.expect(200);
        assert_eq!((&updated["ok"], &updated["schedules"][0]["push"]), (&json!(true), &later["push"]));
        assert_eq!(updated["schedule_urls"], json!([app.url(&path)]));
        assert_eq!(app.master().get(&path).await.expect(200), later);
        let past = app.master().put(&path, scheduled("2024-05-01T11:00", "One")).await.expect(400);
        assert_eq!(past["details"]["path"], "schedule.scheduled_time");
        app.master().put(&path, json!([later])).await.expect(400);
        let app = app.restart().await;
        assert_eq!(wait_and_see(&app, HOUR).await, 0);
        app.advance(2 * HOUR);
        assert_eq!(shown(&app).await, ["Two"]);
        assert_eq!(wait_and_see(&app, 10 * DAY).await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_recurring_schedule_goes_on_until_its_end() {
    on_each_database(async |app| {
        register(&app).await;
        let path = create(&app, recurring("2024-05-01T13:00", daily(Some("2024-05-04T13:00")))).await;
        assert_eq!(wait_and_see(&app, HOUR).await, 1);
        let app = app.restart().await;
        assert_eq!(wait_and_see(&app, Duration::ZERO).await, 1);
        assert_eq!(wait_and_see(&app, DAY).await, 2);
        let listed = app.master().get("/api/schedules").await.expect(200);
        assert_eq!(listed["schedules"][0]["push_ids"].as_array().unwrap().len(), 3, "two were sent and one is next");
        let app = app.restart().await;
        assert_eq!(wait_and_see(&app, DAY).await, 3);
        assert_eq!(wait_and_see(&app, DAY).await, 4);
        assert_eq!(wait_and_see(&app, 10 * DAY).await, 4);
        let ended = app.master().get(&path).await.expect(200);
        assert_eq!(
            ended["schedule"]["recurring"]["end_time"], "2024-05-04T13:00:00",
            "what has ended can be looked at"
        );
        for control in ["pause", "resume"] {
            let refused = app.master().post(&format!("{path}/{control}"), "").await.expect(400);
            assert_eq!(refused["details"]["path"], "schedule.recurring");
        }
        app.master().put(&path, recurring("2024-06-01T13:00", daily(None))).await.expect(200);
        let app = app.restart().await;
        assert_eq!(wait_and_see(&app, 30 * DAY).await, 5, "and begin anew");
        app.master().delete(&path).await.expect(204);
        assert_eq!(wait_and_see(&app, 3 * DAY).await, 5);
    })
    .await;
}

#[tokio::test]
async fn a_paused_schedule_waits() {
    on_each_database(async |app| {
        register(&app).await;
        let path = create(&app, recurring("2024-05-01T13:00", daily(None))).await;
        assert_eq!(wait_and_see(&app, HOUR).await, 1);
        for _ in 0..2 {
            assert_eq!(app.master().post(&format!("{path}/pause"), "").await.expect(204), Value::Null);
            assert_eq!(app.master().get(&path).await.expect(200)["schedule"]["recurring"]["paused"], true);
        }
        app.master().post(&format!("{path}/resume"), "").await.expect(204);
        assert_eq!(wait_and_see(&app, Duration::ZERO).await, 1, "what was sent a moment ago is not sent again");
        app.master().post(&format!("{path}/pause/"), "").await.expect(204);
        let app = app.restart().await;
        assert_eq!(wait_and_see(&app, 3 * DAY + HOUR).await, 1);
        for _ in 0..2 {
            app.master().post(&format!("{path}/resume"), "").await.expect(204);
            assert_eq!(app.master().get(&path).await.expect(200)["schedule"]["recurring"]["paused"], false);
        }
        let app = app.restart().await;
        assert_eq!(wait_and_see(&app, DAY - HOUR - Duration::from_millis(1)).await, 1, "what was missed stays unsent");
        assert_eq!(wait_and_see(&app, Duration::from_millis(1)).await, 2);

        let once = create(&app, scheduled("2024-06-01T13:00", "One")).await;
        let refused = app.master().post(&format!("{once}/pause"), "").await.expect(400);
        assert_eq!(refused["details"]["path"], "schedule.recurring");
        let mut paused = recurring("2024-05-06T13:00", daily(None));
        paused["schedule"]["recurring"]["paused"] = json!(true);
        let created = app.master().post("/api/schedules", &paused).await.expect(201);
        assert_eq!(created["schedules"][0]["push_ids"], json!([]), "nothing is about to be sent");
        let second = format!("/api/schedules/{}", created["schedule_ids"][0].as_str().unwrap());
        assert_eq!(wait_and_see(&app, DAY).await, 3);
        app.master().delete(&path).await.expect(204);
        app.master().post(&format!("{second}/resume"), "").await.expect(204);
        assert_eq!(wait_and_see(&app, DAY).await, 4);
    })
    .await;
}

#[tokio::test]
async fn what_was_missed_is_made_up_for_once() {
    on_each_database(async |app| {
        register(&app).await;
        create(&app, scheduled("2024-05-01T13:00", "One")).await;
        let path = create(&app, recurring("2024-05-01T14:00", daily(None))).await;
        // Nobody works for a week.
        app.advance(7 * DAY);
        let app = app.restart().await;
        let mut sent = shown(&app).await;
        sent.sort_unstable();
        assert_eq!(sent, ["Again", "One"]);
        assert_eq!(wait_and_see(&app, 2 * HOUR).await, 3, "the next one comes at its own time");
        app.master().delete(&path).await.expect(204);
    })
    .await;
}

#[tokio::test]
async fn what_is_wrong_is_named_and_nothing_is_stored() {
    on_each_database(async |app| {
        let before = row_counts(app.engine().store()).await;
        let with = |key: &str, value: Value| {
            let mut body = scheduled("2024-05-02T00:00", "One");
            body[key] = value;
            body
        };
        let redacted = {
            let mut body = recurring("2024-05-02T00:00", daily(None));
            body["push"]["options"] = json!({"redact_payload": true});
            body
        };
        let push = |key: &str, value: Value| {
            let mut push = scheduled("", "One")["push"].clone();
            push[key] = value;
            with("push", push)
        };
        for (body, path) in [
            (scheduled("2024-05-01T11:59:59", "One"), "schedule.scheduled_time"),
            (
                json!([scheduled("2024-05-01T12:00:00", "One"), scheduled("2023-05-01T12:00", "One")]),
                "[1].schedule.scheduled_time",
            ),
            (json!({"push": scheduled("", "One")["push"]}), "schedule"),
            (with("schedule", json!({})), "schedule.scheduled_time"),
            (with("schedule", json!({"best_time": {"send_date": "soon"}})), "schedule.best_time.send_date"),
            (with("push", json!({"audience": "all"})), "push.device_types"),
            (with("name", json!("")), "name"),
            (with("colour", json!(1)), "colour"),
            (push("device_types", json!(["open::nobody"])), "push.device_types[0]"),
            (push("audience", json!("triggered")), "push.audience"),
            (redacted, "push.options.redact_payload"),
            (json!(vec![scheduled("2024-06-01T12:00", "One"); 1001]), ""),
            (json!([]), ""),
        ] {
            let refused = app.master().post("/api/schedules", &body).await.expect(400);
            assert_eq!(refused["details"]["path"], path, "{refused}");
            assert!(refused["operation_id"].is_string(), "one client needs it in every answer");
        }
        assert_eq!(row_counts(app.engine().store()).await, before);
        let ids = app.master().post("/api/schedules", json!(vec![scheduled("2024-06-01T12:00", "One"); 1000])).await;
        assert_eq!(ids.expect(201)["schedule_ids"].as_array().unwrap().len(), 1000);
    })
    .await;
}

#[tokio::test]
async fn pages_go_through_all_schedules() {
    on_each_database(async |app| {
        let mut ids = Vec::new();
        for _ in 0..5 {
            ids.push(create(&app, scheduled("2024-06-01T12:00", "One")).await);
            app.advance(Duration::from_millis(1));
        }
        for order in ["asc", "desc"] {
            let mut seen = Vec::new();
            let mut path = format!("/api/schedules/?limit=2&order={order}");
            loop {
                let page = app.master().get(&path).await.expect(200);
                let urls =
                    page["schedules"].as_array().unwrap().iter().map(|it| it["url"].as_str().unwrap().to_owned());
                seen.extend(urls.map(|url| url.replace(&app.url(""), "")));
                assert_eq!(page["total_count"], 5);
                assert!(page["count"].as_u64().unwrap() <= 2);
                let Some(next) = page["next_page"].as_str() else { break };
                path = next.replace(&app.url(""), "");
            }
            assert_eq!(seen, ids, "{order}");
            ids.reverse();
        }
        app.master().get("/api/schedules?limit=201").await.expect(400);
        app.master().get("/api/schedules?start=x").await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn what_a_listing_shows_can_be_sent_back() {
    on_each_database(async |app| {
        register(&app).await;
        let path = create(&app, recurring("2024-06-01T12:00", daily(Some("2024-07-01T00:00")))).await;
        let listed = app.master().get("/api/schedules").await.expect(200)["schedules"][0].clone();
        let updated = app.master().put(&path, &listed).await.expect(200);
        assert_eq!(updated["schedules"][0]["schedule"], listed["schedule"]);
        assert_eq!(wait_and_see(&app, 31 * DAY + HOUR).await, 1);
        app.master().put(&path, &listed).await.expect(200);
        assert_eq!(wait_and_see(&app, DAY - HOUR - Duration::from_millis(1)).await, 1, "it goes on as it was");
        assert_eq!(wait_and_see(&app, Duration::from_millis(1)).await, 2);
        assert_eq!(wait_and_see(&app, 30 * DAY).await, 3, "the last that was missed");
        let ended = app.master().put(&path, &listed).await.expect(400);
        assert_eq!(ended["details"]["path"], "schedule.scheduled_time");
    })
    .await;
}
