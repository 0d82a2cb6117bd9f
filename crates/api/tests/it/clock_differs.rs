//! Nodes on one PostgreSQL database whose clocks differ: one whose clock is wrong takes nothing away from the others and does
//! nothing early, the others do what it has accepted, and operators are told.

use std::time::Duration;

use engine::NodeFacts;
use serde_json::{Value, json};
use store::apps::OPERATOR;
use store::documents::{self, DocumentKind};
use store::jobs::{self, ClaimedJob};
use store::{DatabaseUrl, Error, Part, Tx};
use testkit::app::TestApp;
use testkit::bulk::copy_channel;
use testkit::receiver::OpenReceiver;
use testkit::store::{Database, databases};
use tokio::sync::watch;

use crate::crowd::Crowd;
use crate::hindered_platforms;
use crate::logs::Log;

const HALF_AN_HOUR: i64 = 30 * 60 * 1000;
const LEASE: Duration = Duration::from_secs(15);
/// More than an endpoint is sent before a checkpoint and after it.
const CROWD: usize = 9_000;

/// A node whose clock shows 2024-05-01 12:00:00, as the database's does, and one on another machine whose clock differs.
async fn nodes(ahead_by_millis: i64) -> Option<(TestApp, TestApp)> {
    if !databases().contains(&Database::Postgres) {
        return None;
    }
    let right = Box::pin(TestApp::on(Database::Postgres)).await;
    let DatabaseUrl::Postgres(url) = right.database().clone() else { panic!("it is a server") };
    let wrong = Box::pin(right.join_apart(&url, ahead_by_millis)).await;
    Crowd::register(&right, &[("a", "ios")]).await;
    right.step_all().await;
    Some((right, wrong))
}

fn push() -> Value {
    json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}})
}

async fn send(node: &TestApp) -> String {
    let accepted = node.master().post("/api/push", push()).await.expect(200);
    accepted["push_ids"][0].as_str().unwrap().to_owned()
}

/// How many messages the device got.
async fn arrived(node: &TestApp) -> usize {
    node.master().get("/api/sandbox?limit=1000").await.expect(200)["deliveries"].as_array().unwrap().len()
}

/// Claims what is due, as the worker of the node does.
async fn claim(node: &TestApp) -> Vec<ClaimedJob> {
    let (store, now) = (node.engine().store(), node.clock().now());
    let of = store.node();
    let claim = move |tx: &mut Tx<'_>| {
        let due: Vec<_> = jobs::due(tx, &Part::ALL, now, 10)?.jobs.iter().map(|job| (job.app, job.id)).collect();
        jobs::claim(tx, of, &due, now, now.plus(LEASE))
    };
    store.write(OPERATOR, claim).await.unwrap_or_else(|error: Error| panic!("{error}"))
}

/// Gives the jobs back, which fails if another node has taken one.
async fn give_back(node: &TestApp, held: Vec<ClaimedJob>) {
    let now = node.clock().now();
    for job in held {
        let app = job.app;
        let write = move |tx: &mut Tx<'_>| jobs::postpone(tx, &job, now);
        node.engine().store().write(app, write).await.unwrap_or_else(|error: Error| panic!("{error}"));
    }
}

#[tokio::test]
async fn a_node_that_is_ahead_takes_nothing_that_another_is_doing() {
    let Some((right, ahead)) = Box::pin(nodes(HALF_AN_HOUR)).await else { return };
    send(&right).await;
    let held = claim(&right).await;
    assert!(held.iter().any(|job| job.kind == "resolve"), "{held:?}");
    assert_eq!(ahead.step_all().await, 0, "the leases of a node that lives count for nothing");
    give_back(&right, held).await;
    right.step_all().await;
    assert_eq!(arrived(&right).await, 1);

    // When its clock is right, it works.
    ahead.clock().set_apart(-HALF_AN_HOUR);
    send(&right).await;
    assert!(ahead.step_all().await > 0);
    assert_eq!(arrived(&right).await, 2);
}

/// An endpoint with a crowd of devices behind it.
async fn kiosks(node: &TestApp) -> OpenReceiver {
    let receiver = OpenReceiver::start().await;
    let config = json!({"url": receiver.url(), "validate": false});
    node.operator().put(&hindered_platforms::path(node, "open::kiosk"), config).await.expect(200);
    let original = Crowd::register(node, &[("lobby", "open::kiosk")]).await.id("lobby").parse().unwrap();
    let app = node.engine().tenancy().app(&node.app.key).await.unwrap().id;
    copy_channel(node.engine().store(), app, original, CROWD - 1).await;
    node.step_all().await;
    receiver
}

/// How many deliveries of the push are recorded.
async fn recorded(node: &TestApp, push: &str) -> u64 {
    let found = node.master().get(&format!("/api/push/{push}")).await.expect(200);
    found["push"]["total"]["delivered"].as_u64().unwrap()
}

/// How many blocks of pushes a node could claim now. It leaves them to whoever comes.
async fn blocks_free_for(node: &TestApp) -> usize {
    let held = claim(node).await;
    let n_blocks = held.iter().filter(|job| job.kind == "deliver").count();
    give_back(node, held).await;
    n_blocks
}

#[tokio::test]
async fn a_block_that_is_being_sent_when_a_clock_is_set_is_held_and_handed_over_by_that_of_the_database() {
    for apart in [HALF_AN_HOUR, -HALF_AN_HOUR] {
        let Some((right, wrong)) = Box::pin(nodes(0)).await else { return };
        let receiver = kiosks(&right).await;
        receiver.hold();
        let push = hindered_platforms::push(&wrong, "open::kiosk", json!({})).await;
        let (stop, stops) = watch::channel(false);
        let sending = tokio::spawn(wrong.engine().worker().run(stops));
        receiver.wait_for(1).await;
        wrong.clock().set_apart(apart);
        // A checkpoint writes the lease of the block, which goes on.
        receiver.hold_after(3);
        while recorded(&right, &push).await == 0 {}
        assert_eq!(blocks_free_for(&right).await, 0, "{apart}: it is still being sent");

        stop.send_replace(true);
        receiver.release();
        sending.await.unwrap();
        let n_sent = receiver.values().len();
        assert!(n_sent < CROWD, "{apart}: {n_sent} are out");
        assert_eq!(blocks_free_for(&right).await, 1, "{apart}: the rest waits for no time");
        right.step_all().await;
        assert_eq!(receiver.values().len(), CROWD, "{apart}");
        assert_eq!(hindered_platforms::state(&right, &push).await, "done", "{apart}");
    }
}

#[tokio::test]
async fn a_node_that_is_ahead_fires_no_schedule_early() {
    let Some((right, ahead)) = Box::pin(nodes(HALF_AN_HOUR)).await else { return };
    let at = "2024-05-01T12:20:00";
    let schedule = json!({"name": "Later", "schedule": {"scheduled_time": at}, "push": push()});
    right.master().post("/api/schedules", schedule).await.expect(201);
    assert_eq!(ahead.step_all().await, 0);
    right.step_all().await;
    assert_eq!(arrived(&right).await, 0);
    for node in [&right, &ahead] {
        node.advance(Duration::from_secs(20 * 60));
    }
    assert_eq!(ahead.step_all().await, 0);
    right.step_all().await;
    assert_eq!(arrived(&right).await, 1);
}

#[tokio::test]
async fn what_a_node_accepts_whose_clock_is_wrong_the_others_send_at_once() {
    for ahead_by in [HALF_AN_HOUR, -HALF_AN_HOUR] {
        let Some((right, wrong)) = Box::pin(nodes(ahead_by)).await else { return };
        send(&wrong).await;
        assert_eq!(wrong.step_all().await, 0);
        right.step_all().await;
        assert_eq!(arrived(&right).await, 1, "{ahead_by}");

        let paused = send(&right).await;
        right.master().post(&format!("/api/push/{paused}/pause"), "").await.expect(200);
        right.step_all().await;
        assert_eq!(arrived(&right).await, 1, "{ahead_by}");
        wrong.master().post(&format!("/api/push/{paused}/resume"), "").await.expect(200);
        right.step_all().await;
        assert_eq!(arrived(&right).await, 2, "{ahead_by}");
    }
}

#[tokio::test]
async fn the_log_tells_of_a_clock_that_differs_once_and_once_that_it_agrees() {
    let log = Log::begin();
    let Some((right, behind)) = Box::pin(nodes(-HALF_AN_HOUR)).await else { return };
    for _ in 0..3 {
        send(&right).await;
        assert_eq!(behind.step_all().await, 0);
    }
    let told = log.events("clock.differs");
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((&told[0]["level"], &told[0]["fields"]["ahead_ms"]), (&json!("ERROR"), &json!(-HALF_AN_HOUR)));
    assert_eq!(log.events("clock.agrees").len(), 0);
    behind.clock().set_apart(HALF_AN_HOUR);
    assert!(behind.step_all().await > 0);
    assert_eq!((log.events("clock.differs").len(), log.events("clock.agrees").len()), (1, 1));
}

fn facts(name: &str) -> NodeFacts {
    let roles = vec!["api".to_owned(), "worker".to_owned()];
    let (name, address) = (Some(name.to_owned()), "0.0.0.0:8080".to_owned());
    NodeFacts { name, address, version: "0.1.0".to_owned(), roles, operator: None }
}

/// The state and the sentence of the doctor's only line about clocks.
async fn of_clock(node: &TestApp) -> (String, String) {
    let found = node.operator().get("/operator/doctor").await.expect(200);
    let lines: Vec<&Value> = found["checks"].as_array().unwrap().iter().filter(|it| it["check"] == "clock").collect();
    let [line] = lines[..] else { panic!("{found}") };
    let text = |key: &str| line[key].as_str().unwrap().to_owned();
    (text("state"), text("text"))
}

#[tokio::test]
async fn operators_are_told_of_a_clock_that_differs() {
    for (ahead_by, side) in [(HALF_AN_HOUR, "ahead of"), (-HALF_AN_HOUR, "behind")] {
        let Some((right, wrong)) = Box::pin(nodes(ahead_by)).await else { return };
        right.engine().introduce(facts("right")).await;
        wrong.engine().introduce(facts("wrong")).await;
        for node in [&right, &wrong] {
            let listed = node.operator().get("/operator/nodes").await.expect(200);
            for (name, ahead) in [("right", 0), ("wrong", ahead_by)] {
                let mut shown = listed["nodes"].as_array().unwrap().iter();
                let shown = shown.find(|shown| shown["name"] == name).unwrap();
                assert_eq!((&shown["alive"], &shown["clock_ahead_milliseconds"]), (&json!(true), &json!(ahead)));
                assert_eq!(shown["last_seen"], "2024-05-01T12:00:00", "it is noted by the time that all know");
            }
            let (state, text) = of_clock(node).await;
            assert!(state == "fail" && text.contains(&format!("wrong (0.0.0.0:8080) is 1800 s {side} ")), "{text}");
        }
        for (node, ahead) in [(&right, None), (&wrong, Some(ahead_by))] {
            let ready = node.nobody().get("/ready").await.expect(200);
            assert_eq!(ready["clock_ahead_milliseconds"], json!(ahead));
            let metrics = node.operator().get("/metrics").await;
            let mut values =
                metrics.text().lines().filter_map(|line| line.strip_prefix("aerogram_clock_ahead_seconds "));
            let seconds: f64 = values.next().unwrap().parse().unwrap();
            assert_eq!(seconds, ahead.unwrap_or(0) as f64 / 1000.0);
        }
        wrong.clock().set_apart(-ahead_by);
        wrong.engine().note_node().await;
        assert_eq!(of_clock(&right).await.0, "ok");
        assert!(wrong.nobody().get("/ready").await.expect(200)["clock_ahead_milliseconds"].is_null());
    }
}

/// Seconds are no reason to stop.
#[tokio::test]
async fn a_node_that_is_a_little_ahead_works() {
    let Some((right, ahead)) = Box::pin(nodes(2000)).await else { return };
    send(&right).await;
    let held = claim(&right).await;
    ahead.step_all().await;
    assert_eq!(arrived(&right).await, 0, "the lease lasts for longer than that");
    give_back(&right, held).await;
    ahead.step_all().await;
    assert_eq!(arrived(&right).await, 1);
}

#[tokio::test]
async fn a_node_that_is_alone_works_by_its_own_clock() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    for apart in [HALF_AN_HOUR, -HALF_AN_HOUR] {
        let log = Log::begin();
        let alone = Box::pin(TestApp::on(Database::Postgres)).await;
        Crowd::register(&alone, &[("a", "ios")]).await;
        alone.step_all().await;
        alone.clock().set_apart(apart);
        // The first look at the clock tells of it, and it has to be one of this thread, whose lines are kept: statements of the
        // database, which look as well, have threads of their own.
        assert_eq!(alone.nobody().get("/ready").await.expect(200)["clock_ahead_milliseconds"], json!(apart));
        send(&alone).await;
        alone.step_all().await;
        assert_eq!(arrived(&alone).await, 1, "{apart}");
        let told = log.events("clock.differs");
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0]["level"], "WARN");
    }
}

/// A node that went by its own clock because it was alone, and one that has come since, whose clock is right.
async fn alone_no_longer(ahead_by_millis: i64) -> Option<(TestApp, TestApp)> {
    if !databases().contains(&Database::Postgres) {
        return None;
    }
    let first = Box::pin(TestApp::on(Database::Postgres)).await;
    Crowd::register(&first, &[("a", "ios")]).await;
    first.step_all().await;
    first.clock().set_apart(ahead_by_millis);
    send(&first).await;
    first.step_all().await;
    assert_eq!(arrived(&first).await, 1);
    let DatabaseUrl::Postgres(url) = first.database().clone() else { panic!("it is a server") };
    let right = Box::pin(first.join_apart(&url, 0)).await;
    Some((first, right))
}

#[tokio::test]
async fn a_node_that_was_alone_takes_nothing_from_one_that_comes() {
    let Some((ahead, right)) = Box::pin(alone_no_longer(HALF_AN_HOUR)).await else { return };
    send(&right).await;
    let held = claim(&right).await;
    assert!(held.iter().any(|job| job.kind == "resolve"), "{held:?}");
    assert_eq!(ahead.step_all().await, 0, "by its clock the lease has run out");
    give_back(&right, held).await;
    right.step_all().await;
    assert_eq!(arrived(&right).await, 2);
}

#[tokio::test]
async fn a_node_that_was_alone_works_no_more_when_another_comes() {
    let Some((behind, right)) = Box::pin(alone_no_longer(-HALF_AN_HOUR)).await else { return };
    send(&behind).await;
    assert_eq!(behind.step_all().await, 0);
    right.step_all().await;
    assert_eq!(arrived(&right).await, 2);

    behind.clock().set_apart(HALF_AN_HOUR);
    send(&right).await;
    assert!(behind.step_all().await > 0);
    assert_eq!(arrived(&right).await, 3);
}

#[tokio::test]
async fn a_node_that_starts_where_others_were_moments_ago_waits_for_them() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let node = Box::pin(TestApp::on(Database::Postgres)).await;
    Crowd::register(&node, &[("a", "ios")]).await;
    node.step_all().await;
    let seen = node.clock().now();
    let note = move |tx: &mut Tx<'_>| documents::put(tx, OPERATOR, DocumentKind::Node, "other", "{}", seen);
    node.engine().store().write(OPERATOR, note).await.unwrap_or_else(|error: Error| panic!("{error}"));
    node.clock().set_apart(HALF_AN_HOUR);
    let node = Box::pin(node.restart()).await;
    send(&node).await;
    assert_eq!(node.step_all().await, 0, "the other may be starting as well");
    node.clock().set_apart(-HALF_AN_HOUR);
    node.step_all().await;
    assert_eq!(arrived(&node).await, 1);
}

#[tokio::test]
async fn the_node_of_a_file_has_no_other_clock_than_its_own() {
    let app = TestApp::on(Database::Sqlite).await;
    Crowd::register(&app, &[("a", "ios")]).await;
    app.clock().set_apart(HALF_AN_HOUR);
    send(&app).await;
    app.step_all().await;
    assert_eq!(arrived(&app).await, 1);
}
