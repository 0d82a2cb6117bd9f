//! The service with a certificate of its own, and webhooks with certificates of a private authority.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use http::{HeaderValue, Request, Version};
use providers::http::{AddressPolicy, Client};
use serde_json::{Value, json};
use testkit::app::{TestApp, limits};
use testkit::client::PATIENCE;
use testkit::event_receiver::EventReceiver;
use testkit::live::Device;
use testkit::store::databases;
use testkit::tls::{Authority, THIS_MACHINE};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::crowd::Crowd;
use crate::live::push;
use crate::logs::Log;
use crate::webhooks;

const HTTP2: &[u8] = b"h2";
const HTTP1: &[u8] = b"http/1.1";
/// For limits that a test waits to be reached.
const SHORT: Duration = Duration::from_millis(200);

/// An authority that lives as long as the tests, with a certificate for the service.
fn authority() -> &'static Authority {
    let authority = Box::leak(Box::new(Authority::new()));
    authority.renew(&THIS_MACHINE);
    authority
}

async fn on_each_database(limits: api::Limits, test: impl AsyncFn(TestApp, &'static Authority)) {
    for database in databases() {
        let authority = authority();
        let app = Box::pin(TestApp::with_tls(database, authority, limits)).await;
        Box::pin(test(app, authority)).await;
    }
}

fn address(app: &TestApp) -> String {
    app.url("").trim_start_matches("https://").to_owned()
}

#[tokio::test]
async fn callers_get_http2_and_links_with_https() {
    on_each_database(limits(), async |app, authority| {
        let client = Client::trusting(&authority.trust(), AddressPolicy::ANY, PATIENCE);
        let answer = client.send(Request::get(app.url("/health")).body(bytes()).unwrap()).await.unwrap();
        assert_eq!((answer.version(), answer.status().as_u16()), (Version::HTTP_2, 200));
        let body = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "ab".repeat(32)}});
        let created = app.device().post("/api/channels", body).await;
        created.expect(201);
        let location = created.headers["location"].to_str().unwrap();
        assert!(location.starts_with(&app.url("/api/channels/")), "{location}");
        // A caller that knows nothing else speaks HTTP/1.1.
        for (offered, agreed) in [(vec![HTTP2, HTTP1], Some(HTTP2)), (vec![HTTP1], Some(HTTP1)), (vec![], None)] {
            let stream = authority.connect(&address(&app), &offered).await.unwrap();
            assert_eq!(stream.get_ref().1.alpn_protocol(), agreed);
        }
        let stranger = Client::new(AddressPolicy::ANY);
        let refused = stranger.send(Request::get(app.url("/health")).body(bytes()).unwrap()).await.unwrap_err();
        let text = "The server's certificate is not trusted: no authority that is trusted here has issued it.";
        assert_eq!(refused.to_string(), text);
        // Its connection of HTTP/2 is open, and keeps nobody from stopping.
        let app = app.restart().await;
        app.nobody().get("/health").await.expect(200);
        app.stop().await;
    })
    .await;
}

fn bytes() -> bytes::Bytes {
    bytes::Bytes::new()
}

#[tokio::test]
async fn a_live_connection_goes_over_tls() {
    on_each_database(limits(), async |app, authority| {
        let device = Device::register(&app, json!({"device_type": "web", "live": true})).await;
        let stream = authority.connect(&address(&app), &[HTTP1]).await.unwrap();
        let mut request = format!("wss://{}/live", address(&app)).into_client_request().unwrap();
        let protocols = HeaderValue::from_str(&format!("aerogram.live.1, token.{}", device.token)).unwrap();
        request.headers_mut().insert("Sec-WebSocket-Protocol", protocols);
        let (mut socket, _) = client_async(request, stream).await.unwrap();
        let mut next = async || loop {
            match socket.next().await.unwrap().unwrap() {
                Message::Text(text) => break serde_json::from_str::<Value>(text.as_str()).unwrap(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(next().await["type"], "hello");
        // More than one record of TLS.
        let long = "x".repeat(2_000);
        for n in 0..20 {
            push(&app, json!({"channel": device.channel}), &format!("{n} {long}")).await;
        }
        for n in 0..20 {
            let message = next().await;
            assert_eq!(message["push"]["alert"], format!("{n} {long}"));
        }
        let ack = json!({"ack": "1"}).to_string();
        socket.send(Message::text(ack)).await.unwrap();
        socket.close(None).await.unwrap();
        while let Some(last) = socket.next().await {
            assert!(matches!(last, Ok(Message::Close(_))), "the end is said, and TLS is closed in order: {last:?}");
        }
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_new_certificate_is_taken_and_a_bad_one_is_not() {
    on_each_database(limits(), async |app, authority| {
        let shown = async || {
            let stream = authority.connect(&address(&app), &[HTTP2]).await.unwrap();
            stream.get_ref().1.peer_certificates().unwrap()[0].clone()
        };
        let log = Log::begin();
        let renewed = authority.renew(&THIS_MACHINE);
        app.reload_tls().await;
        assert_eq!(shown().await, renewed);
        let told = log.events("tls.reloaded");
        assert_eq!(told[0]["level"], "INFO");
        // Half of a pair, which has its place in every renewal.
        let (_, key) = authority.issue(&THIS_MACHINE);
        std::fs::write(&authority.server_files().key, key).unwrap();
        app.reload_tls().await;
        assert_eq!(shown().await, renewed);
        let told = log.events("tls.unusable");
        assert_eq!(told[0]["level"], "ERROR");
        assert!(told[0]["fields"]["reason"].is_string(), "{told:?}");
        std::fs::remove_file(&authority.server_files().certificate).unwrap();
        app.reload_tls().await;
        assert_eq!(shown().await, renewed);
        let last = authority.renew(&THIS_MACHINE);
        app.reload_tls().await;
        assert_eq!(shown().await, last);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn files_that_do_not_fit_are_refused_with_a_sentence() {
    let authority = Authority::new();
    let read = || api::Tls::read(authority.server_files()).err().unwrap();
    assert!(read().contains("server.pem cannot be read: No such file"), "{}", read());
    authority.renew(&THIS_MACHINE);
    let (_, key) = authority.issue(&THIS_MACHINE);
    std::fs::write(&authority.server_files().key, key).unwrap();
    assert!(read().contains("server.key cannot be used. The key does not belong to the certificate"), "{}", read());
    std::fs::write(&authority.server_files().certificate, "").unwrap();
    assert!(read().contains("-----BEGIN CERTIFICATE-----"), "{}", read());
}

/// What a server sends before it hangs up.
async fn rest_of(mut stream: impl tokio::io::AsyncRead + Unpin) -> Vec<u8> {
    let mut rest = Vec::new();
    // A connection that is cut off has no orderly end.
    let _ = stream.read_to_end(&mut rest).await;
    rest
}

#[tokio::test]
async fn slow_handshakes_are_hung_up_on() {
    on_each_database(api::Limits { head: SHORT, ..limits() }, async |app, authority| {
        let silent = TcpStream::connect(address(&app)).await.unwrap();
        let mut slow = TcpStream::connect(address(&app)).await.unwrap();
        slow.write_all(&[22, 3, 1]).await.unwrap();
        // They are in nobody's way; one of ours may be too slow itself on a busy machine.
        while authority.connect(&address(&app), &[HTTP2]).await.is_err() {}
        assert_eq!(rest_of(silent).await, b"");
        assert_eq!(rest_of(slow).await, b"");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn idle_callers_of_http2_are_hung_up_on() {
    on_each_database(api::Limits { idle: SHORT, stalled: SHORT, ..limits() }, async |app, authority| {
        rest_of(authority.connect(&address(&app), &[HTTP2]).await.unwrap()).await;
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn callers_who_do_not_read_are_hung_up_on() {
    on_each_database(api::Limits { stalled: SHORT, ..limits() }, async |app, authority| {
        let mut unreading = authority.connect(&address(&app), &[HTTP2]).await.unwrap();
        unreading.write_all(&unread_request()).await.unwrap();
        rest_of(unreading).await;
        // Of HTTP/1.1, with many answers, of which the last parts stay in the session of TLS.
        let mut unreading = authority.connect(&address(&app), &[HTTP1]).await.unwrap();
        let request = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let (mut reader, mut writer) = tokio::io::split(&mut unreading);
        // The server stops reading when nobody takes its answers, and hangs up in the end.
        while writer.write_all(request).await.is_ok() && writer.flush().await.is_ok() {}
        rest_of(&mut reader).await;
        app.stop().await;
    })
    .await;
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const ENDS: u8 = 0x05;
/// GET, https, / and the authority, by their places in the static table of HPACK.
const HEAD: &[u8] = b"\x82\x87\x84\x41\x09localhost";

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    [&[0, 0, length, kind, flags, 0, 0, 0, stream], payload].concat()
}

/// A request of HTTP/2 whose caller has no room for the answer.
fn unread_request() -> Vec<u8> {
    let no_window = frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]);
    [PREFACE, &no_window, &frame(HEADERS, ENDS, 1, HEAD)].concat()
}

#[tokio::test]
async fn half_a_head_of_http2_is_hung_up_on_while_an_answer_goes_on() {
    on_each_database(api::Limits { head: SHORT, ..limits() }, async |app, authority| {
        let mut caller = authority.connect(&address(&app), &[HTTP2]).await.unwrap();
        // The answer to the first waits for the caller, who would have half a minute for that.
        let half = frame(HEADERS, 0, 3, HEAD);
        caller.write_all(&[&unread_request()[..], &half].concat()).await.unwrap();
        rest_of(caller).await;
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_request_of_http2_names_one_host() {
    // So that the server hangs up when it has answered.
    on_each_database(api::Limits { idle: SHORT, stalled: SHORT, ..limits() }, async |app, authority| {
        let bytes = rest_after(&app, authority, &[]).await;
        assert!(!bytes.contains(REFUSED), "{bytes:?}");
        for (host, is_refused) in [(&b"localhost"[..], false), (b"LOCALHOST", false), (b"elsewhere", true)] {
            // A literal that is in no table, for the name of index 38, `host`.
            let named = [&[0x0f, 38 - 15, u8::try_from(host.len()).unwrap()], host].concat();
            let bytes = rest_after(&app, authority, &named).await;
            assert_eq!(bytes.contains(REFUSED), is_refused, "{bytes:?}");
        }
        app.stop().await;
    })
    .await;
}

const REFUSED: &str = "one Host header, not several";

/// What is answered to one request with more headers.
async fn rest_after(app: &TestApp, authority: &Authority, headers: &[u8]) -> String {
    let mut caller = authority.connect(&address(app), &[HTTP2]).await.unwrap();
    let head = frame(HEADERS, ENDS, 1, &[HEAD, headers].concat());
    caller.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, &[]), &head].concat()).await.unwrap();
    String::from_utf8_lossy(&rest_of(caller).await).into_owned()
}

#[tokio::test]
async fn plain_http_is_told_to_use_https() {
    on_each_database(limits(), async |app, _| {
        let mut plain = TcpStream::connect(address(&app)).await.unwrap();
        plain.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        plain.shutdown().await.unwrap();
        let answer = String::from_utf8(rest_of(plain).await).unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("begins with https"), "{answer}");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_webhook_may_have_a_certificate_of_a_trusted_authority() {
    for database in databases() {
        let authority = authority();
        let receiver = EventReceiver::start().await;
        let port = authority.gate(receiver.address()).await;
        let body = json!({"url": format!("https://localhost:{port}/events"), "types": ["FIRST_OPEN"]});
        let trusting = Box::pin(TestApp::trusting(database, authority)).await;
        trusting.operator().post(&webhooks::path(&trusting), body.clone()).await.expect(201);
        Crowd::register(&trusting, &webhooks::DEVICES[..1]).await;
        trusting.step_all().await;
        assert_eq!(receiver.received().len(), 1);
        trusting.stop().await;

        let other = Box::pin(TestApp::on(database)).await;
        let created = other.operator().post(&webhooks::path(&other), body).await.expect(201);
        Crowd::register(&other, &webhooks::DEVICES[..1]).await;
        other.step_all().await;
        let webhook = format!("{}/{}", webhooks::path(&other), created["webhook"]["webhook_id"].as_str().unwrap());
        let reason = webhooks::show(&other, &webhook).await["reason"].as_str().unwrap().to_owned();
        assert!(reason.contains("The server's certificate is not trusted: no authority"), "{reason}");
        other.stop().await;
    }
}
