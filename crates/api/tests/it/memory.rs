//! What callers can make the service hold in memory is bounded.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use http::Method;
use serde_json::json;
use testkit::app::{TestApp, on_each_database};
use testkit::client::Reply;

const LARGEST: usize = 5 * 1024 * 1024;
/// Of those who show no more than the key of an app.
const LARGEST_UNPROVEN: usize = 1024 * 1024;
const PUSH: &str = r#"{"audience":"all","device_types":"all","notification":{"alert":"Hi"}}"#;

/// Sends a push that is padded to a length.
async fn push(app: &TestApp, n_bytes: usize) -> Reply {
    let master = app.master();
    let body = [PUSH.as_bytes(), &vec![b' '; n_bytes - PUSH.len()]].concat();
    master.send(master.request(Method::POST, "/api/push/validate").body(Bytes::from(body)).unwrap()).await
}

/// Sends all of a body but its last byte, and keeps the connection.
async fn almost_send(app: &TestApp, path: &str, header: String, n_bytes: usize) -> TcpStream {
    let address = app.url("").strip_prefix("http://").unwrap().to_owned();
    let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\n{header}\r\nContent-Length: {n_bytes}\r\n\r\n");
    let send = move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&vec![b' '; n_bytes - 1]).unwrap();
        stream
    };
    tokio::task::spawn_blocking(send).await.unwrap()
}

/// Uploads events without credentials, padded to a length.
async fn tell(app: &TestApp, n_bytes: usize) -> Reply {
    let body = [b"[]", &vec![b' '; n_bytes - 2][..]].concat();
    let request = app.nobody().request(Method::POST, "/warp9").header("x-ua-app-key", &app.app.key);
    app.nobody().send(request.body(Bytes::from(body)).unwrap()).await
}

#[tokio::test]
async fn many_large_bodies_at_once_are_asked_to_come_back_and_small_ones_are_not() {
    on_each_database(async |app| {
        let request = app.master().request(Method::POST, "/").body(()).unwrap();
        let authorization = request.headers()["authorization"].to_str().unwrap().to_owned();
        let mut held = Vec::new();
        let refused = loop {
            // Twelve fill 64 MiB, less what each has for free. One that had to wait for too long may have been turned away
            // itself, so there are more of them.
            assert!(held.len() < 40, "there is no end to the room");
            let header = format!("Authorization: {authorization}");
            held.push(almost_send(&app, "/api/push/validate", header, LARGEST).await);
            if held.len() < 12 {
                continue;
            }
            let reply = push(&app, LARGEST).await;
            if reply.status.as_u16() != 200 {
                break reply;
            }
        };
        assert_eq!(refused.expect(429)["error_code"], 42900);
        assert_eq!(refused.header("retry-after"), Some("1"));
        push(&app, 16 * 1024).await.expect(200);

        drop(held);
        // There is room again as soon as the server has noticed that they are gone.
        let accepted = async { while push(&app, LARGEST).await.status.as_u16() != 200 {} };
        tokio::time::timeout(Duration::from_secs(60), accepted).await.expect("there is room again");
    })
    .await;
}

#[tokio::test]
async fn the_key_of_an_app_is_not_enough_to_keep_others_out() {
    on_each_database(async |app| {
        let header = format!("X-UA-App-Key: {}", app.app.key);
        let mut held = Vec::new();
        let refused = loop {
            // Sixteen and a few fill their room.
            assert!(held.len() < 40, "there is no end to the room");
            held.push(almost_send(&app, "/warp9", header.clone(), LARGEST_UNPROVEN).await);
            if held.len() < 17 {
                continue;
            }
            let reply = tell(&app, LARGEST_UNPROVEN).await;
            if reply.status.as_u16() != 200 {
                break reply;
            }
        };
        assert_eq!(refused.expect(429)["error_code"], 42900);
        tell(&app, 16 * 1024).await.expect(200);
        // Those who can prove themselves have all of their room.
        let mut bodies = Vec::new();
        for _ in 0..8 {
            bodies.push(push(&app, LARGEST));
        }
        for reply in join_all(bodies).await {
            reply.expect(200);
        }
        let device = app.device();
        let upload = [b"[]", &vec![b' '; LARGEST - 2][..]].concat();
        device.send(device.request(Method::POST, "/warp9").body(Bytes::from(upload)).unwrap()).await.expect(200);

        drop(held);
        let accepted = async { while tell(&app, LARGEST_UNPROVEN).await.status.as_u16() != 200 {} };
        tokio::time::timeout(Duration::from_secs(60), accepted).await.expect("there is room again");
        let too_large = tell(&app, LARGEST_UNPROVEN + 1).await.expect(413);
        assert!(too_large["error"].as_str().unwrap().contains("1048576"), "{too_large}");
    })
    .await;
}

#[tokio::test]
async fn many_values_are_refused_and_the_largest_sensible_requests_are_not() {
    on_each_database(async |app| {
        let many = format!("[{}]", vec![r#"{"a":0}"#; 300_000].join(","));
        let refused = app.master().post("/api/push", many).await.expect(400);
        assert!(refused["error"].as_str().unwrap().contains("more than 400000 values"), "{refused}");

        let selectors = vec![json!({"tag": "a", "group": "b"}); 1000];
        let push = json!({"audience": {"or": selectors}, "device_types": "all", "notification": {"alert": "Hi"}});
        app.master().post("/api/push/validate", json!(vec![push; 100])).await.expect(200);
        let uninstall = json!({"channel_id": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5", "device_type": "ios"});
        app.master().post("/api/channels/uninstall", json!(vec![uninstall; 1000])).await.expect(202);
    })
    .await;
}
