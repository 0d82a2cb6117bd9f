//! The primary of the database ends and its standby takes over, as callers of the API see it.

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::postgres::Cluster;
use testkit::store::{Database, Home, databases};

async fn register(app: &TestApp, n: usize) -> testkit::client::Reply {
    let channel = json!({"device_type": "ios", "opt_in": true, "push_address": format!("{n:064x}")});
    app.device().post("/api/channels", json!({ "channel": channel })).await
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_are_told_to_come_back_and_nothing_accepted_is_lost() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (primary, standby) = Cluster::with_standby();
    let url = primary.fresh_database().replacen('@', &format!("@{},", standby.host()), 1);
    let app = TestApp::at(Home::at(&url), devices::LocationSettings::default()).await;
    for n in 0..5 {
        register(&app, n).await.expect(201);
    }
    let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
    let accepted = app.master().post("/api/push", &push).await.expect(200);

    primary.kill();
    for _ in 0..20 {
        let refused = register(&app, 5).await;
        assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (503, Some("1")), "{}", refused.text());
        let refused = app.master().get("/api/channels").await;
        assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (503, Some("1")), "{}", refused.text());
    }
    app.nobody().get("/ready").await.expect(503);
    standby.promote();

    let again = loop {
        let reply = register(&app, 5).await;
        match reply.status.as_u16() {
            503 => assert_eq!(reply.header("retry-after"), Some("1")),
            _ => break reply,
        }
    };
    again.expect(201);
    // The first connection that reads may still have to be made again.
    while app.nobody().get("/ready").await.status == 503 {
        app.engine().check_database().await;
    }
    while app.engine().worker().step().await.is_err() {}
    app.step_all().await;
    let path = format!("/api/sandbox?push_id={}", accepted["push_ids"][0].as_str().unwrap());
    let sent = app.master().get(&path).await.expect(200);
    assert!(sent["deliveries"].as_array().is_some_and(|sent| sent.len() >= 5), "{sent}");
    let listed: Value = app.master().get("/api/channels").await.expect(200);
    assert_eq!(listed["channels"].as_array().map(Vec::len), Some(6));
    app.stop().await;
}
