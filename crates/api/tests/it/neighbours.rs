//! One app, one address or one slow caller does not keep the others out, nor the operator.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use api::Limits;
use bytes::Bytes;
use http::Method;
use model::app::Mode;
use serde_json::json;
use testkit::app::{TestApp, limits};
use testkit::client::Caller;
use testkit::store::databases;

/// Keeps a test from hanging.
const PATIENCE: Duration = Duration::from_secs(120);
const LARGEST: usize = 5 * 1024 * 1024;
const PUSH: &str = r#"{"audience":"all","device_types":"all","notification":{"alert":"Hi"}}"#;
const EVERYBODY: &str = "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

async fn on_each(limits: Limits, test: impl AsyncFn(&TestApp)) {
    for database in databases() {
        let app = Box::pin(TestApp::with_limits(database, limits)).await;
        Box::pin(test(&app)).await;
        Box::pin(app.stop()).await;
    }
}

fn connect(app: &TestApp) -> TcpStream {
    let stream = TcpStream::connect(app.url("").strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn authorization(caller: &Caller) -> String {
    let request = caller.request(Method::POST, "/").body(()).unwrap();
    request.headers()["authorization"].to_str().unwrap().to_owned()
}

/// Sends the head of a request and the beginning of its body.
fn begin(app: &TestApp, caller: &Caller, path: &str, n_bytes: usize, n_sent: usize) -> TcpStream {
    let mut stream = connect(app);
    let authorization = authorization(caller);
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {authorization}\r\nContent-Length: {n_bytes}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&vec![b' '; n_sent]).unwrap();
    stream
}

/// All that the server says until it hangs up.
fn rest(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
            panic!("the server neither answers nor hangs up")
        }
        Ok(_) | Err(_) => String::from_utf8_lossy(&answer).into_owned(),
    }
}

fn say(app: &TestApp, request: &str) -> String {
    let mut stream = connect(app);
    stream.write_all(request.as_bytes()).unwrap();
    rest(stream)
}

/// Waits until a condition holds.
async fn until(condition: impl AsyncFn() -> bool, what: &str) {
    let began = Instant::now();
    while !condition().await {
        assert!(began.elapsed() < PATIENCE, "{what}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_bodies_of_the_devices_of_one_app_keep_nobody_else_out() {
    // None of the slow bodies is given up before the test ends.
    let bodies = api::BodyPatience { grace: PATIENCE, silence: PATIENCE, whole: PATIENCE };
    on_each(Limits { requests: 64, bodies, ..limits() }, async |app| {
        let other = app.another_app(Mode::Development).await;
        let server_of_other = app.nobody().basic(&other.key, &other.master_secret);
        // As many as there are permits, and a few more: half of all permits are for others.
        let slow: Vec<TcpStream> = (0..70).map(|_| begin(app, &app.device(), "/api/channels", 100, 1)).collect();
        slow.iter().for_each(|stream| stream.set_nonblocking(true).unwrap());
        let is_refused = |stream: &&TcpStream| stream.peek(&mut [0; 12]).is_ok_and(|n_bytes| n_bytes > 0);
        until(async || slow.iter().filter(is_refused).count() == 38, "as many as may be are in work").await;
        let registration = json!({"channel": {"device_type": "ios"}});
        let is_full = async || app.device().post("/api/channels", &registration).await.status.as_u16() == 429;
        assert!(is_full().await);
        for _ in 0..20 {
            server_of_other.post("/api/push", PUSH).await.expect(200);
            app.master().post("/api/push", PUSH).await.expect(200);
        }
        app.operator().get("/operator/apps").await.expect(200);
        assert_eq!(app.operator().get("/metrics").await.status.as_u16(), 200);
        app.nobody().get("/health").await.expect(200);
        app.nobody().get("/ready").await.expect(200);
        assert_eq!(app.nobody().get("/docs").await.status.as_u16(), 200);
        drop(slow);
        until(async || !is_full().await, "permits come back").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn large_slow_bodies_of_one_app_leave_room_for_those_of_others() {
    let bodies = api::BodyPatience { grace: PATIENCE, silence: PATIENCE, whole: PATIENCE };
    on_each(Limits { bodies, ..limits() }, async |app| {
        let other = app.another_app(Mode::Development).await;
        let large = [PUSH.as_bytes(), &vec![b' '; LARGEST - PUSH.len()]].concat();
        let slow: Vec<TcpStream> =
            (0..14).map(|_| begin(app, &app.device(), "/api/channels", LARGEST, LARGEST - 1)).collect();
        for caller in [app.nobody().basic(&other.key, &other.master_secret), app.master()] {
            let request = caller.request(Method::POST, "/api/push/validate").body(Bytes::from(large.clone())).unwrap();
            caller.send(request).await.expect(200);
        }
        let operator = app.operator();
        let name = format!("{{\"name\":\"large\"{}}}", " ".repeat(LARGEST - 100));
        operator.post("/operator/apps", name).await.expect(201);
        drop(slow);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sender_that_falls_silent_is_answered() {
    let grace = Duration::from_millis(200);
    let bodies = api::BodyPatience { grace, ..api::BodyPatience::DEFAULT };
    on_each(Limits { bodies, ..limits() }, async |app| {
        let began = Instant::now();
        let answer = rest(begin(app, &app.master(), "/api/push", 10_000, 10));
        assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
        assert!(began.elapsed() >= grace);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_are_bounded_in_time_and_size() {
    on_each(Limits { head: Duration::from_millis(200), ..limits() }, async |app| {
        // The time between requests, a minute, is not what ends this one.
        assert_eq!(say(app, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "), "");
        let head = |n_bytes: usize| format!("GET /health HTTP/1.1\r\nHost: x\r\nX: {}\r\n", "x".repeat(n_bytes));
        let answer = say(app, &format!("{}Connection: close\r\n\r\n", head(32 * 1024)));
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let answer = say(app, &head(70 * 1024));
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_has_no_more_than_its_share_of_connections() {
    let few = Limits { connections: 40, connections_per_address: 8, ..limits() };
    on_each(few, async |app| {
        let mut held: Vec<TcpStream> = (0..8).map(|_| connect(app)).collect();
        assert_eq!(say_if_heard(app), None, "one more is hung up on");
        drop(held.pop());
        until(async || say_if_heard(app).is_some(), "the place of a closed connection is free").await;
        drop(held);
        let is_counted = |metrics: String| {
            let line = metrics.lines().find(|line| line.starts_with("aerogram_http_connections_refused_total"));
            line.is_some_and(|line| !line.ends_with(" 0"))
        };
        until(async || metrics(app).is_some_and(is_counted), "refusals are counted").await;
    })
    .await;
}

/// The answer of a server that may hang up at once instead.
fn say_if_heard(app: &TestApp) -> Option<String> {
    let mut stream = connect(app);
    drop(stream.write_all(EVERYBODY.as_bytes()));
    Some(rest(stream)).filter(|answer| !answer.is_empty())
}

/// A stream of events that nobody reads, after so many events that its buffers are full.
async fn stuck_stream(app: &TestApp) -> TcpStream {
    // A buffer of a set size does not grow: otherwise some systems take tens of megabytes that nobody reads.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(64 * 1024).unwrap();
    let address = app.url("").strip_prefix("http://").unwrap().parse().unwrap();
    let mut stream = socket.connect(address).await.unwrap().into_std().unwrap();
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let authorization = authorization(&app.master());
    let head = format!("GET /api/events?start=earliest HTTP/1.1\r\nHost: x\r\nAuthorization: {authorization}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut first = [0; 1];
    stream.read_exact(&mut first).unwrap();
    stream
}

/// Events of more bytes than sockets buffer.
async fn many_events(app: &TestApp) {
    let padding = "x".repeat(60_000);
    let registration = json!({"channel": {"device_type": "ios", "opt_in": true}});
    let channel = app.master().post("/api/channels", registration).await.expect(201)["channel_id"].clone();
    for n in 0..12 {
        let event = |m: usize| {
            json!({
                "occurred": "2024-05-01T11:00:00", "user": {"channel": channel},
                "body": {"name": format!("padded-{n}-{m}"), "properties": {"padding": padding}}
            })
        };
        let events: Vec<_> = (0..50).map(event).collect();
        app.master().post("/api/custom-events", json!(events)).await.expect(200);
    }
}

/// The metrics, over a connection of their own: a client that keeps connections may have any number of them.
fn metrics(app: &TestApp) -> Option<String> {
    let authorization = authorization(&app.operator());
    let head = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close";
    let mut stream = connect(app);
    drop(stream.write_all(format!("{head}\r\nAuthorization: {authorization}\r\n\r\n").as_bytes()));
    Some(rest(stream)).filter(|answer| answer.starts_with("HTTP/1.1 200"))
}

fn n_connections(app: &TestApp) -> i64 {
    let metrics = metrics(app).unwrap();
    let line = metrics.lines().find(|line| line.starts_with("aerogram_http_connections ")).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_whose_reader_stopped_is_closed() {
    on_each(Limits { stalled: Duration::from_millis(300), ..limits() }, async |app| {
        many_events(app).await;
        // The first of these connections may still be there when the second one looks.
        let n_before = n_connections(app).min(n_connections(app));
        let stuck = stuck_stream(app).await;
        until(async || n_connections(app) <= n_before, "the stream is closed though its reader keeps it").await;
        drop(stuck);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_does_not_wait_for_those_who_do_nothing() {
    for database in databases() {
        let app = Box::pin(TestApp::with_limits(database, limits())).await;
        many_events(&app).await;
        let stuck = stuck_stream(&app).await;
        let slow = begin(&app, &app.master(), "/api/push", 100, 1);
        let mut unfinished = connect(&app);
        unfinished.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ").unwrap();
        let began = Instant::now();
        Box::pin(app.stop()).await;
        // Requests in work have 20 s; this takes about two.
        assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
        drop((stuck, slow, unfinished));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_credentials_are_answered_late_and_right_ones_are_not() {
    on_each(Limits { wrong_credentials_per_minute: 5, ..limits() }, async |app| {
        let guess = app.nobody().basic(&app.app.key, "wrong");
        let timed = async || {
            let began = Instant::now();
            guess.get("/api/channels").await.expect(401);
            began.elapsed()
        };
        for _ in 0..5 {
            timed().await;
        }
        assert!(timed().await >= Duration::from_secs(1));
        let operator = app.nobody().bearer("not-the-operator-of-the-tests");
        let began = Instant::now();
        operator.get("/operator/apps").await.expect(401);
        assert!(began.elapsed() >= Duration::from_secs(1));
        // Many at once are not even told that they are wrong.
        let all = futures_util::future::join_all((0..100).map(|_| guess.get("/api/channels"))).await;
        let refused = all.iter().filter(|reply| reply.status.as_u16() == 429).collect::<Vec<_>>();
        assert!(!refused.is_empty() && refused.iter().all(|reply| reply.header("retry-after").is_some()));
        app.master().get("/api/channels").await.expect(200);
        app.operator().get("/operator/apps").await.expect(200);
    })
    .await;
}
