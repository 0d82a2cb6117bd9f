//! A server that is told to stop finishes what it has begun.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use testkit::app::on_each_database;

#[tokio::test]
async fn a_request_in_work_is_answered_and_new_ones_are_not_taken() {
    on_each_database(async |app| {
        let address = app.url("").strip_prefix("http://").unwrap().to_owned();
        let credentials = app.master().request(http::Method::POST, "/").body(()).unwrap();
        let authorization = credentials.headers()["authorization"].to_str().unwrap().to_owned();
        let body = r#"{"audience":"all","device_types":"all","notification":{"alert":"Hi"}}"#;
        let head = format!(
            "POST /api/push HTTP/1.1\r\nHost: {address}\r\nAuthorization: {authorization}\r\nContent-Length: {}\r\n\
             Expect: 100-continue\r\n\r\n",
            body.len()
        );

        // The server asks for the body once the handler reads it: from then on the request is in work.
        let begin = move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            let mut reader = BufReader::new(stream);
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            assert!(line.starts_with("HTTP/1.1 100"), "{line}");
            reader
        };
        let mut reader = tokio::task::spawn_blocking(begin).await.unwrap();
        app.begin_stop();
        let finish = move || {
            reader.get_mut().write_all(body.as_bytes()).unwrap();
            let mut answer = String::new();
            reader.read_to_string(&mut answer).unwrap();
            answer
        };
        let answer = tokio::task::spawn_blocking(finish).await.unwrap();
        assert!(answer.contains("HTTP/1.1 200") && answer.contains("push_ids"), "{answer}");

        let address = app.url("").strip_prefix("http://").unwrap().to_owned();
        app.stop().await;
        let refused = tokio::task::spawn_blocking(move || TcpStream::connect(address)).await.unwrap();
        assert!(refused.is_err());
    })
    .await;
}
