//! An installation moves from SQLite to PostgreSQL and back, with everything that it has and everything that waits in it.

use std::time::Duration;

use model::app::Mode;
use model::ids::AppId;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::event_receiver::EventReceiver;
use testkit::store::{Database, databases};

use crate::isolation::{Belongings, MARK, everything, settle_in};
use crate::webhooks;

const HOUR: Duration = Duration::from_secs(60 * 60);

fn push(alert: &str) -> Value {
    json!({"audience": {"tag": MARK}, "device_types": ["ios"], "notification": {"alert": alert}})
}

/// Everything that the app can see of itself, apart from its address, which changes with every start.
async fn told(app: &TestApp, belongings: &Belongings) -> Vec<String> {
    let everything = everything(app, belongings).await;
    everything.iter().map(|answer| answer.to_string().replace(&app.url("/"), "{base}/")).collect()
}

/// How often a text was shown on a device.
async fn n_shown(app: &TestApp, alert: &str) -> usize {
    app.step_all().await;
    let sandbox = app.master().get("/api/sandbox?limit=1000").await.expect(200);
    let deliveries = sandbox["deliveries"].as_array().unwrap();
    deliveries.iter().filter(|delivery| delivery["request"]["body"].to_string().contains(alert)).count()
}

#[tokio::test]
async fn an_installation_goes_on_in_another_database() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let app = Box::pin(TestApp::on(Database::Sqlite)).await;
    let belongings = settle_in(&app).await;
    let receiver = EventReceiver::start().await;
    let webhook = webhooks::create(&app, &receiver, &["TAG_CHANGE"]).await;
    // What waits: a schedule for 13:30, one for 14:30, a message of a pipeline for 13:00, and a push that is paused.
    for (time, alert) in [("2024-05-01T13:30", "first-schedule"), ("2024-05-01T14:30", "second-schedule")] {
        let schedule = json!({"schedule": {"scheduled_time": time}, "push": push(alert)});
        app.master().post("/api/schedules", schedule).await.expect(201);
    }
    let outcome = json!({"delay": 3600, "push": {
        "audience": "triggered", "device_types": "all", "notification": {"alert": "from-the-pipeline"}}});
    let pipeline = json!({"enabled": true, "immediate_trigger": {"tag_added": "welcome"}, "outcome": outcome});
    app.master().post("/api/pipelines", pipeline).await.expect(201);
    app.step_all().await;
    webhooks::tag(&app, &belongings.channel, "welcome").await;
    app.step_all().await;
    assert_eq!(receiver.taken().len(), 1);
    let paused = app.master().post("/api/push", push("paused-for-long")).await.expect(200)["push_ids"][0].clone();
    let paused = format!("/api/push/{}", paused.as_str().unwrap());
    app.master().post(&format!("{paused}/pause"), "").await.expect(200);
    let before = told(&app, &belongings).await;

    let app = app.moved_to(Database::Postgres).await;
    assert_eq!(told(&app, &belongings).await, before);
    assert_eq!(n_shown(&app, "fresh").await, 0);
    app.master().post("/api/push", push("fresh")).await.expect(200);
    assert_eq!(n_shown(&app, "fresh").await, 1);
    app.advance(HOUR);
    assert_eq!(n_shown(&app, "from-the-pipeline").await, 1);
    app.advance(HOUR / 2);
    assert_eq!(n_shown(&app, "first-schedule").await, 1);
    webhooks::tag(&app, &belongings.channel, "on-postgres").await;
    app.step_all().await;
    assert_eq!(receiver.taken().len(), 2, "what was sent is not sent again");
    let other = app.another_app(Mode::Development).await;
    let before = told(&app, &belongings).await;

    let app = app.moved_to(Database::Sqlite).await;
    assert_eq!(told(&app, &belongings).await, before);
    app.advance(HOUR);
    assert_eq!(n_shown(&app, "second-schedule").await, 1);
    assert_eq!((n_shown(&app, "first-schedule").await, n_shown(&app, "from-the-pipeline").await), (1, 1));
    assert_eq!(n_shown(&app, "paused-for-long").await, 0);
    app.master().post(&format!("{paused}/resume"), "").await.expect(200);
    assert_eq!(n_shown(&app, "paused-for-long").await, 1);
    webhooks::tag(&app, &belongings.channel, "on-sqlite").await;
    app.step_all().await;
    assert_eq!(webhooks::show(&app, &webhook).await["delivered"], 3);
    app.nobody().basic(&other.key, &other.master_secret).get("/api/channels").await.expect(200);
    app.another_app(Mode::Development).await;
    let apps = app.engine().tenancy().apps().await.unwrap();
    assert_eq!(apps.iter().map(|app| app.id).collect::<Vec<_>>(), [AppId(1), AppId(2), AppId(3)]);
    app.stop().await;
}
