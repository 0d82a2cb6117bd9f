//! A clock that is set by hours: what the calendar decides about waits until the clock has settled, and everything else goes on.

use std::time::Duration;

use engine::SETTLES_IN;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::event_receiver::{EventReceiver, Reaction};
use testkit::receiver::OpenReceiver;

use crate::crowd::Crowd;
use crate::logs::Log;
use crate::webhooks::{DEVICES, create, tag};

const HOUR: i64 = 60 * 60 * 1000;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const FIRST_BACK_OFF: Duration = Duration::from_secs(2);

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

/// Whoever restarts a service whose clock is in doubt does not want everything to be sent at once.
#[tokio::test]
async fn a_clock_in_doubt_is_in_doubt_after_a_restart() {
    on_each_database(async |app| {
        register(&app).await;
        schedule(&app, "2024-05-02T12:00:00").await;
        app.clock().set_forward(48 * HOUR);
        app.engine().look_at_clock().await;
        let app = app.restart().await;
        assert!(is_in_doubt(&app).await);
        assert_eq!(arrived(&app, "Scheduled").await, 0);
        // A clock that is put right then is trusted at once, and that is so after another restart as well.
        app.clock().set_forward(-48 * HOUR);
        assert!(!is_in_doubt(&app).await);
        app.engine().look_at_clock().await;
        let app = app.restart().await;
        assert!(!is_in_doubt(&app).await);

        app.clock().set_forward(48 * HOUR);
        app.engine().look_at_clock().await;
        let app = app.restart().await;
        app.advance(SETTLES_IN);
        assert_eq!(arrived(&app, "Scheduled").await, 1);
    })
    .await;
}

/// When a clock that was wrong is put right.
#[derive(Clone, Copy)]
enum PutRight {
    WhileItRuns,
    BeforeItStarts,
    AfterItStarted,
}

const PUT_RIGHT: [PutRight; 3] = [PutRight::WhileItRuns, PutRight::BeforeItStarts, PutRight::AfterItStarted];

async fn set_back(app: TestApp, by: i64, when: PutRight) -> TestApp {
    let clock = app.clock().clone();
    match when {
        PutRight::WhileItRuns => {
            clock.set_forward(-by);
            app
        }
        PutRight::BeforeItStarts => {
            clock.set_forward(-by);
            app.restart().await
        }
        PutRight::AfterItStarted => {
            let app = app.restart().await;
            clock.set_forward(-by);
            app
        }
    }
}

/// What backs off while the clock is a day ahead is due by that clock, and must not wait for that day when it is put right.
#[tokio::test]
async fn a_delivery_that_failed_by_a_wrong_clock_is_tried_again_in_time() {
    on_each_database(async |mut app| {
        let receiver = OpenReceiver::start().await;
        let config = json!({"url": receiver.url(), "validate": false});
        let kiosk = format!("/operator/apps/{}/platforms/open::kiosk", app.app.key);
        app.operator().put(&kiosk, config).await.expect(200);
        let open = json!({"channel": {"type": "open", "opt_in": true, "address": "lobby",
                                      "open": {"open_platform_name": "kiosk"}}});
        app.master().post("/api/channels/open", open).await.expect(200);
        for when in PUT_RIGHT {
            app.clock().set_forward(24 * HOUR);
            receiver.answer_with([503]);
            let body = json!({"audience": "all", "device_types": ["open::kiosk"], "notification": {"alert": "Hi"}});
            let push = app.master().post("/api/push", body).await.expect(200)["push_ids"][0].clone();
            let path = format!("/api/push/{}", push.as_str().unwrap());
            app.step_all().await;
            assert_eq!(app.master().get(&path).await.expect(200)["push"]["state"], "sending");
            app = set_back(app, 24 * HOUR, when).await;
            app.step_all().await;
            app.advance(FIRST_BACK_OFF);
            app.step_all().await;
            assert_eq!(app.master().get(&path).await.expect(200)["push"]["state"], "done");
        }
    })
    .await;
}

#[tokio::test]
async fn a_webhook_that_failed_by_a_wrong_clock_is_tried_again_in_time() {
    on_each_database(async |mut app| {
        let crowd = Crowd::register(&app, &DEVICES).await;
        let receiver = EventReceiver::start().await;
        create(&app, &receiver, &["TAG_CHANGE"]).await;
        for (n_before, when) in PUT_RIGHT.into_iter().enumerate() {
            app.clock().set_forward(24 * HOUR);
            receiver.react(|_| Reaction::Status(500));
            tag(&app, crowd.id("a"), &format!("tag{n_before}")).await;
            app.step_all().await;
            assert_eq!(receiver.taken().len(), n_before);
            receiver.react(|_| Reaction::Status(200));
            app = set_back(app, 24 * HOUR, when).await;
            app.step_all().await;
            app.advance(FIRST_BACK_OFF);
            app.step_all().await;
            assert_eq!(receiver.taken().len(), n_before + 1);
        }
    })
    .await;
}

/// The sweep has nothing to do with a time that somebody chose, although it waits for a clock in doubt.
#[tokio::test]
async fn the_sweep_goes_on_when_a_clock_that_it_went_by_is_put_right() {
    on_each_database(async |app| {
        let due = async || {
            let due = app.engine().store().read(store::jobs::next_due).await;
            due.unwrap_or_else(|error: store::Error| panic!("{error}")).unwrap()
        };
        app.clock().set_forward(365 * 24 * HOUR);
        app.step_all().await;
        app.advance(SETTLES_IN);
        app.step_all().await;
        assert!(due().await > app.clock().now());
        app.clock().set_forward(-365 * 24 * HOUR);
        app.step_all().await;
        assert!(due().await <= app.clock().now());
    })
    .await;
}

/// A node that only serves requests enqueues jobs by its own clock, and no worker notices that this one was wrong.
#[tokio::test]
async fn what_a_node_without_worker_enqueued_by_a_wrong_clock_is_due_when_that_is_put_right() {
    on_each_database(async |app| {
        register(&app).await;
        app.step_all().await;
        app.engine().look_at_clock().await;
        app.clock().set_forward(24 * HOUR);
        app.engine().look_at_clock().await;
        app.master().post("/api/push", push("At once")).await.expect(200);
        app.clock().set_forward(-24 * HOUR);
        app.engine().look_at_clock().await;
        let due = app.engine().store().read(store::jobs::next_due).await;
        let due = due.unwrap_or_else(|error: store::Error| panic!("{error}")).unwrap();
        assert!(due <= app.clock().now());
    })
    .await;
}
