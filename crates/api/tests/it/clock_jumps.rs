//! A clock that is set by hours: what the calendar decides about waits until the clock has settled, and everything else goes on.

use std::time::Duration;

use engine::SETTLES_IN;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::logs::Log;

const HOUR: i64 = 60 * 60 * 1000;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn register(app: &TestApp) {
    let device = json!({"channel": {"device_type": "android", "opt_in": true, "push_address": "token"}});
    app.device().post("/api/channels", device).await.expect(201);
}

fn push(alert: &str) -> Value {
    json!({"audience": "all", "device_types": "all", "notification": {"alert": alert}})
}

/// The clock begins at 2024-05-01 12:00:00.
async fn schedule(app: &TestApp, time: &str) {
    let body = json!({"name": "Later", "schedule": {"scheduled_time": time}, "push": push("Scheduled")});
    app.master().post("/api/schedules", body).await.expect(201);
}

/// How many messages of each kind the device got.
async fn arrived(app: &TestApp, alert: &str) -> usize {
    app.step_all().await;
    let sandbox = app.master().get("/api/sandbox?limit=1000").await.expect(200);
    let deliveries = sandbox["deliveries"].as_array().unwrap();
    deliveries.iter().filter(|delivery| delivery["request"]["body"].to_string().contains(alert)).count()
}

async fn is_in_doubt(app: &TestApp) -> bool {
    let reply = app.operator().get("/metrics").await;
    reply.text().lines().any(|line| line == "aerogram_clock_in_doubt 1")
}

#[tokio::test]
async fn schedules_wait_for_a_clock_that_was_set_forward_to_settle() {
    on_each_database(async |app| {
        let log = Log::begin();
        register(&app).await;
        schedule(&app, "2024-05-02T12:00:00").await;
        assert_eq!(arrived(&app, "Scheduled").await, 0);

        app.clock().set_forward(48 * HOUR);
        assert_eq!(arrived(&app, "Scheduled").await, 0);
        assert!(is_in_doubt(&app).await);
        assert_eq!(log.saying("THE CLOCK HAS JUMPED").len(), 1);
        // A push is for now, whatever time that is.
        app.master().post("/api/push", push("At once")).await.expect(200);
        assert_eq!(arrived(&app, "At once").await, 1);

        app.advance(SETTLES_IN - Duration::from_secs(1));
        assert_eq!(arrived(&app, "Scheduled").await, 0);
        app.advance(Duration::from_secs(1));
        assert_eq!(arrived(&app, "Scheduled").await, 1);
        assert!(!is_in_doubt(&app).await);
        assert_eq!(log.saying("THE CLOCK HAS JUMPED").len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_clock_that_is_put_right_has_sent_nothing() {
    on_each_database(async |app| {
        register(&app).await;
        schedule(&app, "2024-05-02T12:00:00").await;
        app.clock().set_forward(365 * 24 * HOUR);
        assert_eq!(arrived(&app, "Scheduled").await, 0);
        app.clock().set_forward(-365 * 24 * HOUR);
        assert_eq!(arrived(&app, "Scheduled").await, 0);
        assert!(!is_in_doubt(&app).await);
        // At its time, and not ten minutes later.
        app.advance(DAY);
        assert_eq!(arrived(&app, "Scheduled").await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_clock_that_was_set_back_is_in_doubt_as_well() {
    on_each_database(async |app| {
        let log = Log::begin();
        register(&app).await;
        app.clock().set_forward(-3 * HOUR);
        app.step_all().await;
        assert_eq!(log.saying("THE CLOCK HAS JUMPED")[0]["fields"]["by_s"], -3 * 3600);
        schedule(&app, "2024-05-01T09:05:00").await;
        app.advance(Duration::from_secs(5 * 60));
        assert_eq!(arrived(&app, "Scheduled").await, 0, "it is due by a clock that nobody trusts");
        app.advance(SETTLES_IN);
        assert_eq!(arrived(&app, "Scheduled").await, 1);
    })
    .await;
}

/// A clock that is a year ahead must not delete what a year old data would be.
#[tokio::test]
async fn nothing_is_deleted_by_a_clock_in_doubt() {
    on_each_database(async |app| {
        register(&app).await;
        let id = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
        let n_records = async || {
            let read = move |tx: &mut store::Tx<'_>| store::log::after(tx, id, model::ids::Offset(0), 100);
            app.engine().store().read(read).await.unwrap_or_else(|error: store::Error| panic!("{error}")).len()
        };
        app.master().post("/api/push", push("Told")).await.expect(200);
        app.step_all().await;
        let before = n_records().await;
        assert!(before > 1);
        app.clock().set_forward(365 * 24 * HOUR);
        app.step_all().await;
        assert_eq!(n_records().await, before);
        app.advance(SETTLES_IN);
        app.step_all().await;
        assert!(n_records().await < before, "the clock has settled, so it is a year later");
    })
    .await;
}
