//! Live connections of several nodes, and of nodes that die.

use serde_json::json;
use store::DatabaseUrl;
use testkit::app::{TestApp, on_each_database};
use testkit::cable::Cable;
use testkit::live::{Device, Socket};
use testkit::postgres;
use testkit::store::{Database, databases};

use super::{push, status};

#[tokio::test]
async fn a_push_reaches_the_connections_of_every_node() {
    if databases().len() < 2 {
        return;
    }
    let app = TestApp::on(Database::Postgres).await;
    let DatabaseUrl::Postgres(url) = app.database().clone() else { panic!("it is a server") };
    let other = app.join(&url).await;
    let page = json!({"device_type": "web", "live": true});
    let devices = [Device::register(&app, page.clone()).await, Device::register(&app, page).await];
    let mut here = Socket::open(&app, &devices[0], None).await;
    let mut there = Socket::open(&other, &devices[1], None).await;
    let start = there.next().await["at"].as_str().unwrap().to_owned();
    here.next().await;
    for (node, alert) in [(&app, "by the first"), (&other, "by the second")] {
        push(node, json!("all"), alert).await;
        for socket in [&mut here, &mut there] {
            assert_eq!(socket.next().await["push"]["alert"], alert);
        }
    }
    // The second node is gone, and its device goes on with the first.
    other.stop().await;
    push(&app, json!("all"), "meanwhile").await;
    let mut back = Socket::open(&app, &devices[1], Some(&start)).await;
    assert_eq!(back.next().await["complete"], true);
    for alert in ["by the first", "by the second", "meanwhile"] {
        assert_eq!(back.next().await["push"]["alert"], alert);
    }
}

/// Signals only make it sooner: a node looks every second by itself.
#[tokio::test]
async fn a_node_that_hears_no_signals_tells_its_devices() {
    if databases().len() < 2 {
        return;
    }
    let app = TestApp::on(Database::Postgres).await;
    let DatabaseUrl::Postgres(url) = app.database().clone() else { panic!("it is a server") };
    let cable = Cable::without_signals(postgres::cluster(), &url);
    let other = app.join(cable.url()).await;
    let device = Device::register(&app, json!({"device_type": "web", "live": true})).await;
    let mut socket = Socket::open(&other, &device, None).await;
    socket.next().await;
    for alert in ["one", "two"] {
        push(&app, json!("all"), alert).await;
        assert_eq!(socket.next().await["push"]["alert"], alert);
    }
    other.stop().await;
}

/// The position with which a device comes to a node acknowledges what it was told elsewhere, even if the node is yet to hear of it.
#[tokio::test]
async fn what_another_node_has_told_is_received() {
    if databases().len() < 2 {
        return;
    }
    let app = TestApp::on(Database::Postgres).await;
    let DatabaseUrl::Postgres(url) = app.database().clone() else { panic!("it is a server") };
    let cable = Cable::without_signals(postgres::cluster(), &url);
    let other = app.join(cable.url()).await;
    let page = json!({"device_type": "web", "live": true});
    let (device, stays) = (Device::register(&app, page.clone()).await, Device::register(&app, page).await);
    // For this one the node follows the log, and looks every second.
    let mut staying = Socket::open(&other, &stays, None).await;
    staying.next().await;
    let mut here = Socket::open(&app, &device, None).await;
    here.next().await;
    let id = push(&app, json!("all"), "told here").await;
    let told = here.next().await;
    let mut there = Socket::open(&other, &device, told["at"].as_str()).await;
    assert_eq!(there.next().await["complete"], true);
    drop((here, there, staying));
    // A node that stops writes what was acknowledged.
    other.stop().await;
    assert_eq!(status(&app, &id).await["received"], 1);
}

#[tokio::test]
async fn what_was_delivered_before_a_crash_is_told_after_it() {
    on_each_database(async |app| {
        let device = Device::register(&app, json!({"device_type": "web", "live": true})).await;
        let mut socket = Socket::open(&app, &device, None).await;
        let start = socket.next().await["at"].as_str().unwrap().to_owned();
        let id = push(&app, json!("all"), "durable").await;
        // The node dies after the checkpoint. The device is connected, and may or may not have been told.
        let app = app.crash(&[]).await;
        drop(socket);
        app.step_all().await;
        let mut socket = Socket::open(&app, &device, Some(&start)).await;
        assert_eq!(socket.next().await["complete"], true);
        let message = socket.next().await;
        assert_eq!((&message["push"]["push_id"], &message["push"]["alert"]), (&json!(id), &json!("durable")));
        let status = app.master().get(&format!("/api/push/{id}")).await.expect(200);
        assert_eq!(status["push"]["total"]["delivered"], 1, "and is counted once");
    })
    .await;
}
