//! What callers can make the service hold in memory is bounded.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde_json::json;
use testkit::app::{TestApp, on_each_engine};
use testkit::client::Reply;

const LARGEST: usize = 5 * 1024 * 1024;
const PUSH: &str = r#"{"audience":"all","device_types":"all","notification":{"alert":"Hi"}}"#;

/// Sends a push that is padded to a length.
async fn push(app: &TestApp, n_bytes: usize) -> Reply {
    let master = app.master();
    let body = [PUSH.as_bytes(), &vec![b' '; n_bytes - PUSH.len()]].concat();
    master.send(master.request(Method::POST, "/api/push/validate").body(Bytes::from(body)).unwrap()).await
}

/// Sends all of the largest possible body but its last byte, and keeps the connection.
fn almost_send(address: &str, authorization: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /api/push/validate HTTP/1.1\r\nHost: x\r\nAuthorization: {authorization}\r\n\
         Content-Length: {LARGEST}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&vec![b' '; LARGEST - 1]).unwrap();
    stream
}

#[tokio::test]
async fn many_large_bodies_at_once_are_asked_to_come_back_and_small_ones_are_not() {
    on_each_engine(async |app| {
        let address = app.url("").strip_prefix("http://").unwrap().to_owned();
        let request = app.master().request(Method::POST, "/").body(()).unwrap();
        let authorization = request.headers()["authorization"].to_str().unwrap().to_owned();
        let mut held = Vec::new();
        let refused = loop {
            // Twelve fill 64 MiB, less what each has for free. One that had to wait for too long may have been turned away
            // itself, so there are more of them.
            assert!(held.len() < 40, "there is no end to the room");
            let (address, authorization) = (address.clone(), authorization.clone());
            held.push(tokio::task::spawn_blocking(move || almost_send(&address, &authorization)).await.unwrap());
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
async fn many_values_are_refused_and_the_largest_sensible_requests_are_not() {
    on_each_engine(async |app| {
        let many = format!("[{}]", vec![r#"{"a":0}"#; 300_000].join(","));
        let refused = app.master().post("/api/push", many).await.expect(400);
        assert!(refused["error"].as_str().unwrap().contains("more than 400000 values"), "{refused}");

        let selectors = vec![json!({"tag": "a", "group": "b"}); 999];
        let push = json!({"audience": {"or": selectors}, "device_types": "all", "notification": {"alert": "Hi"}});
        app.master().post("/api/push/validate", json!(vec![push; 100])).await.expect(200);
        let uninstall = json!({"channel_id": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5", "device_type": "ios"});
        app.master().post("/api/channels/uninstall", json!(vec![uninstall; 1000])).await.expect(202);
    })
    .await;
}
