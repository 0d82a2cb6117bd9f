//! Who is connected: counted on all nodes, as an audience, and by day.

use std::time::Duration;

use serde_json::{Value, json};
use store::DatabaseUrl;
use testkit::app::{TestApp, on_each_database};
use testkit::live::{Device, Socket};
use testkit::store::{Database, databases};

use super::{push, status};

/// Longer than a node waits before it writes again.
const A_WHILE: Duration = Duration::from_secs(6);
/// Longer than a node that says nothing is believed.
const TOO_LONG: Duration = Duration::from_secs(16);

async fn presence(app: &TestApp) -> Value {
    app.master().get("/api/live").await.expect(200)
}

/// Asks until so many are connected.
async fn until(app: &TestApp, n_connected: u64) -> Value {
    loop {
        let found = presence(app).await;
        if found["connected"] == n_connected {
            return found;
        }
        tokio::task::yield_now().await;
    }
}

async fn connect(app: &TestApp, channel: Value) -> (Device, Socket) {
    let device = Device::register(app, channel).await;
    let mut socket = Socket::open(app, &device, None).await;
    socket.next().await;
    (device, socket)
}

#[tokio::test]
async fn those_who_are_connected_are_counted_and_can_be_sent_to() {
    on_each_database(async |app| {
        assert_eq!(presence(&app).await["live_channels"], 0);
        let (page, mut of_page) = connect(&app, json!({"device_type": "web", "live": true, "tags": ["a"]})).await;
        let (phone, of_phone) = connect(&app, json!({"device_type": "ios", "live": true})).await;
        Device::register(&app, json!({"device_type": "web", "live": true, "tags": ["a"]})).await;
        // What one node says first counts at once, and the rest when it writes again.
        app.advance(A_WHILE);
        let found = until(&app, 2).await;
        assert_eq!((&found["platforms"], &found["live_channels"]), (&json!({"web": 1, "ios": 1}), &json!(3)));

        let explained = |audience: Value| {
            let body = json!({"audience": audience, "device_types": "all"});
            async { app.master().post("/api/audience/explain", body).await.expect(200) }
        };
        let tagged = explained(json!({"tag": "a"})).await;
        assert_eq!((&tagged["matched"], &tagged["online"]), (&json!(2), &json!(1)));
        assert_eq!(explained(json!({"not": {"live": true}})).await["matched"], 1);
        let id = push(&app, json!({"and": [{"live": true}, {"tag": "a"}]}), "to who is here").await;
        assert_eq!(of_page.next().await["push"]["alert"], "to who is here");
        assert_eq!(status(&app, &id).await["total"]["targeted"], 1);
        let segment = json!({"display_name": "here", "criteria": {"live": true}});
        let segment = app.master().post("/api/segments", segment).await.expect(201);
        assert_eq!(explained(json!({"segment": segment["segment_id"]})).await["matched"], 2);

        // Whoever leaves is counted for a few seconds, and was seen that day.
        of_phone.leave().await;
        app.advance(A_WHILE);
        assert_eq!(until(&app, 1).await["platforms"], json!({"web": 1}));
        for device in [&page, &phone] {
            let shown = app.master().get(&format!("/api/channels/{}", device.channel)).await.expect(200);
            assert_eq!(shown["channel"]["last_seen"], "2024-05-01");
        }
        let opens = app.master().get("/api/events?follow=false&types=OPEN").await;
        assert_eq!(opens.text(), "", "a connection is no opening of the app");
        let app = app.restart().await;
        assert_eq!(presence(&app).await["connected"], 0, "the node has said goodbye");
    })
    .await;
}

#[tokio::test]
async fn selectors_and_segments_say_true() {
    on_each_database(async |app| {
        for live in [json!(false), json!("yes")] {
            let body = json!({"audience": {"live": live}, "device_types": "all"});
            let refused = app.master().post("/api/audience/explain", body).await;
            assert_eq!(refused.status.as_u16(), 400);
        }
    })
    .await;
}

#[tokio::test]
async fn a_node_that_died_is_not_counted_for_long() {
    on_each_database(async |app| {
        let (device, _socket) = connect(&app, json!({"device_type": "web", "live": true})).await;
        until(&app, 1).await;
        let app = app.crash(&[]).await;
        app.advance(TOO_LONG);
        assert_eq!(presence(&app).await["connected"], 0);
        let mut socket = Socket::open(&app, &device, None).await;
        socket.next().await;
        until(&app, 1).await;
    })
    .await;
}

#[tokio::test]
async fn every_node_knows_of_all() {
    if databases().len() < 2 {
        return;
    }
    let app = TestApp::on(Database::Postgres).await;
    let DatabaseUrl::Postgres(url) = app.database().clone() else { panic!("it is a server") };
    let other = app.join(&url).await;
    let (_, mut here) = connect(&app, json!({"device_type": "web", "live": true})).await;
    let device = Device::register(&app, json!({"device_type": "web", "live": true})).await;
    let mut there = Socket::open(&other, &device, None).await;
    there.next().await;
    for node in [&app, &other] {
        until(node, 2).await;
    }
    push(&other, json!({"live": true}), "to both").await;
    for socket in [&mut here, &mut there] {
        assert_eq!(socket.next().await["push"]["alert"], "to both");
    }
    other.stop().await;
    until(&app, 1).await;
}
