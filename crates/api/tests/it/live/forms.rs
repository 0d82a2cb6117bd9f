//! Live messages without a WebSocket: server-sent events, long polls, and requests that fit no form.

use bytes::Bytes;
use http::Method;
use providers::http::Streaming;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};
use testkit::live::{Device, Socket};

use super::push;

pub(super) async fn stream(app: &TestApp, device: &Device, last: Option<&str>) -> Streaming {
    let caller = app.nobody().bearer(&device.token);
    let mut request = caller.request(Method::GET, "/live").header("Accept", "text/event-stream");
    if let Some(last) = last {
        request = request.header("Last-Event-ID", last);
    }
    let (head, stream) = caller.open(request.body(Bytes::new()).unwrap()).await;
    assert_eq!((head.status.as_u16(), head.header("content-type")), (200, Some("text/event-stream")));
    stream
}

/// The next events: their ids, types and data.
pub(super) async fn events(stream: &mut Streaming, n_events: usize) -> Vec<(Option<String>, String, Value)> {
    let mut text = String::new();
    while text.matches("\n\n").count() < n_events {
        text += std::str::from_utf8(&stream.chunk().await.unwrap().expect("the stream goes on")).unwrap();
    }
    let field = |event: &str, name: &str| {
        let line = event.lines().find_map(|line| line.strip_prefix(name));
        line.map(|value| value.trim_start_matches(": ").to_owned())
    };
    let event = |event: &str| {
        let data = serde_json::from_str(&field(event, "data").unwrap()).unwrap();
        (field(event, "id"), field(event, "event").unwrap(), data)
    };
    text.trim_end().split("\n\n").map(event).collect()
}

pub(super) async fn poll(app: &TestApp, device: &Device, query: &str) -> Value {
    app.nobody().bearer(&device.token).get(&format!("/live?{query}")).await.expect(200)
}

#[tokio::test]
async fn server_sent_events_resume_by_their_ids() {
    on_each_database(async |app| {
        let device = Device::register(&app, json!({"device_type": "web", "live": true})).await;
        let mut first = stream(&app, &device, None).await;
        let hello = events(&mut first, 1).await;
        assert_eq!((hello[0].1.as_str(), &hello[0].2["complete"]), ("hello", &json!(true)));
        let one = push(&app, json!("all"), "one").await;
        let got = events(&mut first, 1).await;
        assert_eq!((got[0].1.as_str(), &got[0].2["push"]["push_id"]), ("push", &json!(one)));
        drop(first);
        push(&app, json!("all"), "two").await;
        let mut second = stream(&app, &device, got[0].0.as_deref()).await;
        let again = events(&mut second, 2).await;
        assert_eq!(again[1].2["push"]["alert"], "two");
        // The id that it gave acknowledged the first.
        let received = async || {
            let status = app.master().get(&format!("/api/push/{one}")).await.expect(200);
            status["push"]["received"].clone()
        };
        while received().await != json!(1) {
            tokio::task::yield_now().await;
        }
        app.begin_stop();
        assert_eq!(events(&mut second, 1).await[0].1, "bye");
    })
    .await;
}

#[tokio::test]
async fn long_polls_wait_for_the_first_message() {
    on_each_database(async |app| {
        let device = Device::register(&app, json!({"device_type": "android", "live": true})).await;
        let start = poll(&app, &device, "wait=0").await;
        assert_eq!((&start["messages"], &start["complete"]), (&json!([]), &json!(true)));
        let at = start["at"].as_str().unwrap().to_owned();
        let query = format!("after={at}&wait=60");
        let waiting = poll(&app, &device, &query);
        let (answer, _) = tokio::join!(waiting, push(&app, json!("all"), "now"));
        assert_eq!(answer["messages"][0]["push"]["alert"], "now");
        let next = answer["at"].as_str().unwrap().to_owned();
        push(&app, json!("all"), "later").await;
        let later = poll(&app, &device, &format!("after={next}&wait=0")).await;
        assert_eq!(later["messages"][0]["push"]["alert"], "later");
        assert_eq!(later["messages"].as_array().map(Vec::len), Some(1));
        let both = poll(&app, &device, &format!("after={at}&wait=0")).await;
        assert_eq!(both["messages"].as_array().map(Vec::len), Some(2));
    })
    .await;
}

#[tokio::test]
async fn others_are_refused_with_a_status() {
    on_each_database(async |app| {
        let live = Device::register(&app, json!({"device_type": "web", "live": true})).await;
        let plain = Device::register(&app, json!({"device_type": "ios", "push_address": "c".repeat(64)})).await;
        let as_live = app.nobody().bearer(&live.token);
        for path in ["/live?wait=0&after=x", "/live?wait=0&after=-1", "/live?ping=5", "/live?wait=61"] {
            as_live.get(path).await.expect(400);
        }
        app.nobody().get("/live?wait=0").await.expect(401);
        app.device().get("/live?wait=0").await.expect(400);
        app.nobody().bearer(&plain.token).get("/live?wait=0").await.expect(409);
        assert_eq!(plain.post(&app, "/live/ack", &json!({"at": "1"})).await.0, 409);
        assert_eq!(live.post(&app, "/live/ack", &json!({"at": 1})).await.0, 400);
        let handshake = |name: &'static str, value: &'static str| {
            let headers = [
                ("Upgrade", "websocket"),
                ("Connection", "Upgrade"),
                ("Sec-WebSocket-Version", "13"),
                ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ];
            let request = as_live.request(Method::GET, "/live");
            let others = headers.into_iter().filter(|(other, _)| *other != name);
            let request = others.fold(request, |request, (name, value)| request.header(name, value));
            as_live.send(request.header(name, value).body(Bytes::new()).unwrap())
        };
        handshake("Sec-WebSocket-Version", "8").await.expect(400);
        handshake("Sec-WebSocket-Key", "short").await.expect(400);
        handshake("Upgrade", "h2c").await.expect(400);
        handshake("Sec-WebSocket-Protocol", "chat").await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn a_channel_that_connects_again_and_again_has_to_wait() {
    on_each_database(async |app| {
        let device = Device::register(&app, json!({"device_type": "web", "live": true})).await;
        for _ in 0..60 {
            poll(&app, &device, "wait=0").await;
        }
        let refused = app.nobody().bearer(&device.token).get("/live?wait=0").await;
        assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, Some("30")));
        let mut socket = Socket::open(&app, &device, None).await;
        assert_eq!(socket.next().await["type"], "bye");
        assert_eq!(socket.closed().await, 4429);
    })
    .await;
}
