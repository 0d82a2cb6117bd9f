//! Requests whose end a proxy in front may see elsewhere are refused, and nothing that is hidden in one is carried out.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use http::Method;
use testkit::app::{TestApp, on_each_database};

/// Keeps a test from hanging.
const PATIENCE: Duration = Duration::from_secs(120);
const PUSH: &str = r#"{"audience":"all","device_types":"all","notification":{"alert":"Hi"}}"#;
const NEXT: &str = "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

/// The status of every answer that the server gives until it hangs up, to bytes that are written in two parts.
fn statuses(app: &TestApp, request: &str, first: usize) -> Vec<u16> {
    let mut stream = TcpStream::connect(app.url("").strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    // The server may hang up before it has read all.
    for part in [&request.as_bytes()[..first], &request.as_bytes()[first..]] {
        drop(stream.write_all(part));
    }
    let mut answers = Vec::new();
    if let Err(error) = stream.read_to_end(&mut answers) {
        let hangs = [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind());
        assert!(!hangs, "the server neither answers nor hangs up: {request:?}");
    }
    let answers = String::from_utf8_lossy(&answers).into_owned();
    // The sentence about a missing Host names the protocol, too.
    answers.split("HTTP/1.1 ").skip(1).filter_map(|answer| answer.get(..3)?.parse().ok()).collect()
}

/// Refused with 400 or, if the bytes before are no whole request, by hanging up; never answered twice.
#[track_caller]
fn assert_refused(app: &TestApp, request: &str) {
    for first in [request.len(), request.len() / 2, 1] {
        let statuses = statuses(app, &format!("{request}{NEXT}"), first);
        assert!(statuses.is_empty() || statuses == [400], "{request:?}: {statuses:?}");
    }
    // In one piece there is always an answer, also after another request on the connection.
    let after = format!("GET /health HTTP/1.1\r\nHost: x\r\n\r\n{request}{NEXT}");
    assert_eq!(statuses(app, &after, after.len()), [200, 400], "{request:?}");
}

fn head(app: &TestApp, framing: &str) -> String {
    let master = app.master().request(Method::POST, "/").body(()).unwrap();
    let authorization = master.headers()["authorization"].to_str().unwrap().to_owned();
    format!("POST /api/push/validate HTTP/1.1\r\nHost: x\r\nAuthorization: {authorization}\r\n{framing}\r\n\r\n")
}

fn n_answers_of_http_1_0(app: &TestApp) -> usize {
    let mut stream = TcpStream::connect(app.url("").strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(b"GET /health HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.matches(" 200 OK\r\n").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_has_one_host() {
    on_each_database(async |app| {
        assert_eq!(statuses(&app, "GET /health HTTP/1.1\r\nConnection: close\r\n\r\n", 9), [400]);
        let two = "GET /health HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n";
        assert_eq!(statuses(&app, two, 9), [400]);
        assert_eq!(statuses(&app, NEXT, 9), [200]);
        assert_eq!(n_answers_of_http_1_0(&app), 1, "HTTP/1.0 knows no Host");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_of_a_head_end_with_a_carriage_return() {
    on_each_database(async |app| {
        for refused in [
            "\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /health HTTP/1.1\nHost: x\r\n\r\n",
            "GET /health HTTP/1.1\nHost: x\n\n",
            "GET /health HTTP/1.1\r\nHost: x\nX: y\r\n\r\n",
            "GET /health HTTP/1.1\r\nHost: x\r\nX: y\n\r\n",
            "GET /health HTTP/1.1\r\nHost: x\r\n\n",
            "GET /health HTTP/1.1\r\nHost: x\r\nX: y\nContent-Length: 5\r\n\r\n",
        ] {
            assert_refused(&app, refused);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_between_chunks_end_with_a_carriage_return() {
    on_each_database(async |app| {
        let (head, size) = (head(&app, "Transfer-Encoding: chunked"), format!("{:x}", PUSH.len()));
        let hidden = "GET /api/channels HTTP/1.1\r\nHost: x\r\n\r\n";
        for refused in [
            format!("{size}\n{PUSH}\r\n0\r\n\r\n"),
            format!("{size};x=y\n{PUSH}\r\n0\r\n\r\n"),
            // To a reader that takes the line feed for the end of the line, the chunk begins right after it.
            format!("{size};\n\r\n{PUSH}\r\n0\r\n\r\n"),
            format!("{size}\r\n{PUSH}\n0\r\n\r\n"),
            format!("{size}\r\n{PUSH}\r\n0\n\r\n"),
            format!("{size}\r\n{PUSH}\r\n0\r\n\n"),
            format!("{size}\r\n{PUSH}\r\n0\r\nX: y\n\r\n"),
            format!("{size}\r\n{PUSH}\r\n0\r\nX: y\n\n{hidden}"),
            format!("{size}\r\n{PUSH}\r\n0\r\nX: y\r\nZ: z\n\r\n"),
            format!("{}{size}\r\n{PUSH}\r\n0\r\n\r\n", "0".repeat(200)),
        ] {
            assert_refused(&app, &format!("{head}{refused}"));
        }
        let fine = format!("{head}{size};x=y\r\n{PUSH}\r\n0\r\nX: y\r\n\r\n");
        for first in [fine.len(), fine.len() - 5, head.len() + 1, 1] {
            assert_eq!(statuses(&app, &format!("{fine}{fine}{NEXT}"), first), [200, 200, 200]);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_length_of_a_body_is_told_once() {
    on_each_database(async |app| {
        let (n_bytes, size) = (PUSH.len(), format!("{:x}", PUSH.len()));
        let body = format!("{size}\r\n{PUSH}\r\n0\r\n\r\n");
        for framing in [
            format!("Content-Length: {n_bytes}\r\nTransfer-Encoding: chunked"),
            format!("Transfer-Encoding: chunked\r\nContent-Length: {n_bytes}"),
            format!("Content-Length: {n_bytes}\r\nContent-Length: 1"),
            format!("Content-Length:{}{n_bytes}", " ".repeat(200)),
        ] {
            assert_refused(&app, &format!("{}{body}", head(&app, &framing)));
        }
        let fine = format!("{}{PUSH}{NEXT}", head(&app, &format!("Content-Length: {n_bytes}")));
        assert_eq!(statuses(&app, &fine, fine.len() / 2), [200, 200]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_nobody_reads_hides_nothing() {
    on_each_database(async |app| {
        let hidden = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
        let head = "POST /health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
        for body in [format!("1;\nx\r\n0\r\n\r\n{hidden}"), format!("0\r\nX: y\n\n{hidden}")] {
            assert_eq!(statuses(&app, &format!("{head}{body}"), head.len()), [405], "{body:?}");
        }
    })
    .await;
}
