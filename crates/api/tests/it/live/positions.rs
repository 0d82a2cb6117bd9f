//! How far devices are in the log, and what that says of what they have received.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::live::{Device, Socket};

use super::forms::{events, poll, stream};
use super::{push, send, status};

/// More than devices that come back are told.
const N_PUSHES: usize = 70;
const FROM_ELSEWHERE: &str = "999999999";

fn page() -> Value {
    json!({"device_type": "web", "live": true})
}

fn number(at: &Value) -> u64 {
    at.as_str().unwrap().parse().unwrap()
}

async fn start_of(app: &TestApp, device: &Device) -> String {
    poll(app, device, "wait=0").await["at"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_device_that_is_sent_nothing_gets_on() {
    on_each_database(async |app| {
        let (quiet, other) = (Device::register(&app, page()).await, Device::register(&app, page()).await);
        let start = start_of(&app, &quiet).await;
        for _ in 0..3 {
            push(&app, json!({"channel": other.channel}), "of another").await;
        }
        let polled = poll(&app, &quiet, &format!("after={start}&wait=0")).await;
        assert_eq!((&polled["messages"], &polled["complete"]), (&json!([]), &json!(true)));
        let at = &polled["at"];
        assert!(number(at) > start.parse::<u64>().unwrap(), "{at} after {start}");
        // The log may go on by itself: who was seen today is noted there.
        let hello = Socket::open(&app, &quiet, Some(&start)).await.next().await;
        assert!(number(&hello["at"]) >= number(at) && hello["complete"] == true, "{hello}");
        let (id, _, hello) = events(&mut stream(&app, &quiet, Some(&start)).await, 1).await.remove(0);
        assert!(number(&hello["at"]) >= number(at), "{hello}");
        assert_eq!(id.as_deref(), hello["at"].as_str());
        // What has expired is for nobody either.
        let expiring = json!({
            "audience": {"channel": quiet.channel}, "device_types": ["web"], "options": {"expiry": 60},
            "notification": {"alert": "expired"},
        });
        send(&app, expiring).await;
        app.advance(Duration::from_secs(120));
        let polled = poll(&app, &quiet, &format!("after={start}&wait=0")).await;
        assert_eq!(polled["messages"], json!([]));
        assert!(number(&polled["at"]) > number(at));
        push(&app, json!("all"), "now").await;
        for after in [start.as_str(), at.as_str().unwrap(), polled["at"].as_str().unwrap()] {
            let polled = poll(&app, &quiet, &format!("after={after}&wait=0")).await;
            assert_eq!(polled["messages"][0]["push"]["alert"], "now");
        }
    })
    .await;
}

#[tokio::test]
async fn what_a_node_no_longer_remembers_is_received_when_it_is_acknowledged() {
    on_each_database(async |app| {
        let device = Device::register(&app, page()).await;
        let start = start_of(&app, &device).await;
        let ids = [push(&app, json!("all"), "one").await, push(&app, json!("all"), "two").await];
        app.advance(Duration::from_secs(14 * 3600));
        let app = app.restart().await;
        let mut socket = Socket::open(&app, &device, Some(&start)).await;
        assert_eq!(socket.next().await["complete"], true);
        let told = [socket.next().await, socket.next().await];
        assert_eq!([&told[0]["push"]["push_id"], &told[1]["push"]["push_id"]], [&json!(ids[0]), &json!(ids[1])]);
        let (code, _) = device.post(&app, "/live/ack", &json!({"at": told[0]["at"]})).await;
        assert_eq!(code, 200);
        // A node that stops writes what was acknowledged.
        let app = app.restart().await;
        assert_eq!(status(&app, &ids[0]).await["received"], 1);
        assert_eq!(status(&app, &ids[1]).await["received"], Value::Null, "it was told, and is not acknowledged");
    })
    .await;
}

#[tokio::test]
async fn only_what_a_device_was_told_is_received() {
    on_each_database(async |app| {
        let device = Device::register(&app, page()).await;
        let start = start_of(&app, &device).await;
        let one =
            |n: usize| json!({"audience": "all", "device_types": ["web"], "notification": {"alert": n.to_string()}});
        let bodies: Vec<Value> = (0..N_PUSHES).map(one).collect();
        let sent = app.master().post("/api/push", json!(bodies)).await.expect(200);
        let ids: BTreeSet<&str> = sent["push_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        assert_eq!(ids.len(), N_PUSHES);
        app.step_all().await;
        let received = async |app: &TestApp| {
            let mut received = BTreeSet::new();
            for id in &ids {
                if status(app, id).await["received"] == 1 {
                    received.insert(*id);
                }
            }
            received
        };
        // A position that is yet to come is one of another installation: it says nothing about what is here.
        let hello = Socket::open(&app, &device, Some(FROM_ELSEWHERE)).await.next().await;
        assert_eq!(hello["complete"], false);
        assert_eq!(device.post(&app, "/live/ack", &json!({"at": FROM_ELSEWHERE})).await.0, 200);
        let app = app.restart().await;
        assert_eq!(received(&app).await, BTreeSet::new());

        let polled = poll(&app, &device, &format!("after={start}&wait=0")).await;
        let told = polled["messages"].as_array().unwrap();
        let told: BTreeSet<&str> = told.iter().map(|told| told["push"]["push_id"].as_str().unwrap()).collect();
        assert_eq!((told.len(), &polled["complete"]), (64, &json!(false)));
        // As another node, this one does not know what the device was told.
        let app = app.restart().await;
        poll(&app, &device, &format!("after={}&wait=0", polled["at"].as_str().unwrap())).await;
        let app = app.restart().await;
        assert_eq!(received(&app).await, told, "not the oldest, of which it was told nothing");
    })
    .await;
}

#[tokio::test]
async fn what_came_before_a_device_connected_is_not_received() {
    on_each_database(async |app| {
        let (waiting, polling) = (Device::register(&app, page()).await, Device::register(&app, page()).await);
        let before = push(&app, json!("all"), "before").await;
        let mut socket = Socket::open(&app, &waiting, None).await;
        socket.next().await;
        let start = start_of(&app, &polling).await;
        let now = push(&app, json!("all"), "now").await;
        let told = socket.next().await;
        assert_eq!(told["push"]["push_id"], json!(now));
        socket.say(&json!({"ack": told["at"]})).await;
        let polled = poll(&app, &polling, &format!("after={start}&wait=0")).await;
        assert_eq!(polled["messages"][0]["push"]["push_id"], json!(now));
        assert_eq!(polling.post(&app, "/live/ack", &json!({"at": polled["at"]})).await.0, 200);
        while status(&app, &now).await["received"] != 2 {
            tokio::task::yield_now().await;
        }
        assert_eq!(status(&app, &before).await["received"], Value::Null);
    })
    .await;
}

#[tokio::test]
async fn what_expired_while_a_device_was_away_is_not_received() {
    on_each_database(async |app| {
        let device = Device::register(&app, page()).await;
        let start = start_of(&app, &device).await;
        let first = push(&app, json!("all"), "first").await;
        let expiring = json!({
            "audience": "all", "device_types": ["web"], "options": {"expiry": 60}, "notification": {"alert": "expired"},
        });
        let expired = send(&app, expiring).await;
        let last = push(&app, json!("all"), "last").await;
        app.advance(Duration::from_secs(120));
        let mut socket = Socket::open(&app, &device, Some(&start)).await;
        let told = [socket.next().await, socket.next().await, socket.next().await];
        assert_eq!([&told[1]["push"]["alert"], &told[2]["push"]["alert"]], ["first", "last"]);
        assert_eq!(device.post(&app, "/live/ack", &json!({"at": told[2]["at"]})).await.0, 200);
        let app = app.restart().await;
        let received = async |id: &str| status(&app, id).await["received"].clone();
        assert_eq!((received(&first).await, received(&last).await), (json!(1), json!(1)));
        assert_eq!(received(&expired).await, Value::Null);
    })
    .await;
}
