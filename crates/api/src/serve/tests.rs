//! The server, over sockets, with less patience than it has in earnest.

use super::*;
use axum::routing::get;
use std::io::{self, Read, Write};
use tokio::task::JoinSet;

const MINUTE: Duration = Duration::from_secs(60);

fn patience(limits: Limits) -> Patience {
    let (listen_on, last_call) = (Duration::ZERO, Duration::ZERO);
    Patience { rest: Duration::from_millis(100), listen_on, last_call, stop: Duration::from_millis(100), limits }
}

async fn start(limits: Limits) -> (SocketAddr, watch::Sender<bool>) {
    start_within(patience(limits)).await
}

async fn start_within(patience: Patience) -> (SocketAddr, watch::Sender<bool>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stops) = watch::channel(false);
    let tuned = || async { ([("x-ua-max-batch", "500"), ("x-ua-else", "X-Ua-Max-Batch")], "X-Ua-Max-Batch") };
    let router = Router::new().route("/", get(|| async { "hello" })).route("/tuned", get(tuned));
    let (stopping, spelling) = (Stopping(Some(stops)), Spelling::learn());
    let server = Server { router, stopping, spelling, patience, tls: None };
    tokio::spawn(serve_within(server, listener, Metrics::default()));
    (address, stop)
}

/// The server's answer to these bytes before it hangs up.
async fn answer_to(address: SocketAddr, request: &'static str) -> io::Result<String> {
    let talk = move || {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        let read = stream.read_to_string(&mut answer);
        let waits = |error: &io::Error| [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut].contains(&error.kind());
        assert!(!read.as_ref().is_err_and(waits), "the server neither answers nor hangs up");
        read.map(|_| answer)
    };
    tokio::task::spawn_blocking(talk).await.unwrap()
}

#[tokio::test]
async fn callers_that_never_finish_a_head_are_hung_up_on() {
    let (address, _stop) = start(Limits { idle: Duration::from_millis(100), ..Limits::default() }).await;
    for head in ["", "P", "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "] {
        // A caller that is too slow even to send this much finds the connection reset.
        let Ok(answer) = answer_to(address, head).await else { continue };
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{head:?}: {answer}");
    }
    // A head that is finished in time is answered; on a busy machine that may need several tries.
    let whole = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut last = answer_to(address, whole).await;
    for _ in 0..100 {
        if last.as_ref().is_ok_and(|answer| answer.ends_with("hello")) {
            return;
        }
        last = answer_to(address, whole).await;
    }
    panic!("never answered; the last time: {last:?}");
}

#[tokio::test]
async fn header_names_have_capitals() {
    let (address, _stop) = start(Limits::default()).await;
    let answer = answer_to(address, "GET //?q HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
    assert!(answer.contains("\r\nContent-Type: "), "{answer}");
}

#[tokio::test]
async fn names_that_devices_spell_in_another_way_are_spelled_so() {
    let (address, _stop) = start(Limits::default()).await;
    let request = "GET /tuned HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let answer = answer_to(address, request).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("\r\nX-UA-Max-Batch: 500"), "{head}");
    assert!(head.contains("\r\nX-Ua-Else: X-Ua-Max-Batch") && head.contains("\r\nContent-Type: "), "{head}");
    assert_eq!(body, "X-Ua-Max-Batch");
}

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/// The answer to a request on a connection that the server ends after it.
fn last_answer(mut stream: std::net::TcpStream) -> String {
    stream.write_all(REQUEST).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[tokio::test]
async fn callers_that_do_not_know_of_the_stop_are_served_and_told() {
    let patience = Patience { listen_on: MINUTE, last_call: MINUTE, stop: STOP, ..patience(Limits::default()) };
    let (address, stop) = start_within(patience).await;
    let talk = move || {
        let mut kept = std::net::TcpStream::connect(address).unwrap();
        kept.write_all(REQUEST).unwrap();
        let mut first = Vec::new();
        while !first.ends_with(b"hello") {
            let mut byte = [0];
            kept.read_exact(&mut byte).unwrap();
            first.extend(byte);
        }
        stop.send_replace(true);
        [kept, std::net::TcpStream::connect(address).unwrap()].map(last_answer)
    };
    for answer in tokio::task::spawn_blocking(talk).await.unwrap() {
        assert!(answer.contains("\r\nConnection: close\r\n") && answer.ends_with("hello"), "{answer:?}");
    }
}

/// A proxy that opens a connection for each request has none when the server is told to stop.
#[tokio::test]
async fn a_server_that_stops_listens_on_without_connections() {
    let patience = Patience { listen_on: MINUTE, last_call: MINUTE, stop: STOP, ..patience(Limits::default()) };
    let (address, stop) = start_within(patience).await;
    stop.send_replace(true);
    // The server, on the same thread, sees that it has nobody to wait for.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let talk = move || last_answer(std::net::TcpStream::connect(address).unwrap());
    let answer = tokio::task::spawn_blocking(talk).await.unwrap();
    assert!(answer.contains("\r\nConnection: close\r\n") && answer.ends_with("hello"), "{answer:?}");
}

#[tokio::test]
async fn a_caller_that_connects_just_before_the_end_is_served() {
    let (address, stop) = start_within(Patience { last_call: MINUTE, stop: STOP, ..patience(Limits::default()) }).await;
    let talk = move || {
        let early = std::net::TcpStream::connect(address).unwrap();
        stop.send_replace(true);
        while std::net::TcpStream::connect(address).is_ok() {}
        last_answer(early)
    };
    let answer = tokio::task::spawn_blocking(talk).await.unwrap();
    assert!(answer.contains("\r\nConnection: close\r\n") && answer.ends_with("hello"), "{answer:?}");
}

const N_STOPS: usize = 50;
const N_CALLERS: usize = 4;

#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_connected_is_served_however_short_before_the_end() {
    let mut stops = JoinSet::new();
    for _ in 0..N_STOPS {
        stops.spawn(call_until_the_end());
    }
    stops.join_all().await;
}

/// Callers that connect again and again while the server stops to listen.
async fn call_until_the_end() {
    let (listen_on, last_call) = (Duration::from_millis(3), MINUTE);
    let (address, stop) =
        start_within(Patience { listen_on, last_call, stop: STOP, ..patience(Limits::default()) }).await;
    let mut callers = JoinSet::new();
    for _ in 0..N_CALLERS {
        callers.spawn_blocking(move || {
            while let Ok(stream) = std::net::TcpStream::connect(address) {
                let answer = last_answer(stream);
                assert!(answer.ends_with("hello"), "{answer:?}");
            }
        });
    }
    stop.send_replace(true);
    callers.join_all().await;
}
