//! What people with browsers are told when the server refuses them by itself: pages, not JSON; and that they are in the log.

use std::io::{Read, Write};
use std::net::TcpStream;

use api::Pages;
use axum::Router;
use axum::routing::get;
use bytes::Bytes;
use engine::Engine;
use http::Method;
use serde_json::json;
use testkit::app::TestApp;
use testkit::store::databases;

use crate::logs::Log;

/// Pages of which one fails.
fn pages(_: Engine) -> Pages {
    Box::new(|_| Router::new().route("/console/fails", get(async || -> String { panic!("hunter2") })))
}

#[tokio::test]
async fn the_server_speaks_to_people_in_pages() {
    for database in databases() {
        let app = TestApp::with_pages(database, &pages).await;
        let failed = app.nobody().get("/console/fails").await;
        assert_eq!((failed.status.as_u16(), failed.header("content-type")), (500, Some("text/html; charset=utf-8")));
        assert!(failed.text().contains("<p>Something went wrong") && !failed.text().contains("hunter2"));
        assert_eq!(failed.header("content-security-policy"), Some("default-src 'none'; frame-ancestors 'none'"));
        assert!(failed.header("x-request-id").is_some());
        for (method, path) in [(Method::POST, "/"), (Method::DELETE, "/")] {
            let refused = app.nobody().call(method, path, "").await;
            assert_eq!((refused.status.as_u16(), refused.header("allow")), (405, Some("GET,HEAD")));
            assert_eq!(refused.header("content-type"), Some("text/html; charset=utf-8"));
        }
        // The API still answers as it does.
        assert_eq!(app.nobody().get("/api/nothing").await.expect(404)["error_code"], 40400);
        app.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_a_host_is_told_so_in_a_page() {
    for database in databases() {
        let app = TestApp::with_pages(database, &pages).await;
        let address = app.url("").trim_start_matches("http://").to_owned();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /console HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("<p>host: A request of HTTP/1.1"), "{answer}");
        app.stop().await;
    }
}

#[tokio::test]
async fn the_way_to_the_console_is_in_the_log() {
    for database in databases() {
        let app = TestApp::with_pages(database, &pages).await;
        let log = Log::begin();
        let request = app.nobody().request(Method::GET, "/").header("x-request-id", "to-the-console");
        let sent = app.nobody().send(request.body(Bytes::new()).unwrap()).await;
        assert_eq!((sent.status.as_u16(), sent.header("location")), (303, Some("/console")));
        assert_eq!(sent.header("x-request-id"), Some("to-the-console"));
        let lines = log.saying("answered");
        let line = lines.iter().find(|line| line["fields"]["id"] == "to-the-console").unwrap();
        assert_eq!((&line["fields"]["route"], &line["fields"]["status"]), (&json!("/"), &json!(303)));
        app.stop().await;
    }
}
