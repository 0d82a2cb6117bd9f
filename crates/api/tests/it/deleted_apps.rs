//! An app that is deleted while it is being asked for something.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use http::Method;
use model::app::Mode;
use testkit::app::on_each_database;
use testkit::rows::row_counts;

const CHANNEL: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";

/// Requests that write: those that need something of the app's row, and those that would do without it.
const REQUESTS: [(&str, &str, &str); 13] = [
    ("POST", "/api/push", r#"{"audience":"all","device_types":"all","notification":{"alert":"Hi"}}"#),
    ("POST", "/api/channels", r#"{"channel":{"device_type":"ios","opt_in":true,"tags":["t"]}}"#),
    ("PUT", "/api/channels/9c36e8c7-5a73-47c0-9716-99fd3d4197d5", r#"{"channel":{"device_type":"ios"}}"#),
    (
        "POST",
        "/api/channels/open",
        r#"{"channel":{"type":"open","opt_in":true,"address":"a","open":{"open_platform_name":"fridge"}}}"#,
    ),
    ("POST", "/api/lists", r#"{"name":"a"}"#),
    ("POST", "/api/named_users/jo", r#"{"tags":{"add":{"g":["t"]}}}"#),
    ("POST", "/api/named_users/tags", r#"{"audience":{"named_user_id":"jo"},"add":{"g":["t"]}}"#),
    ("POST", "/api/segments", r#"{"display_name":"a","criteria":{"tag":"t"}}"#),
    (
        "POST",
        "/api/schedules",
        r#"{"schedule":{"scheduled_time":"2024-05-02T12:00:00"},
            "push":{"audience":"all","device_types":["ios"],"notification":{"alert":"Hi"}}}"#,
    ),
    (
        "POST",
        "/api/named_users/associate",
        r#"{"channel_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5","device_type":"ios","named_user_id":"jo"}"#,
    ),
    (
        "POST",
        "/api/channels/attributes",
        r#"{"audience":{"ios_channel":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5"},
            "attributes":[{"action":"set","key":"a","value":"b"}]}"#,
    ),
    (
        "POST",
        "/api/custom-events",
        r#"[{"occurred":"2024-05-01T11:00:00","user":{"ios_channel":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5"},
            "body":{"name":"bought","value":1}}]"#,
    ),
    (
        "POST",
        "/api/templates",
        r#"{"name":"a","variables":[{"key":"V","default_value":"v"}],"push":{"notification":{"alert":"{{V}}"}}}"#,
    ),
];

/// Sends the head of a request and waits until the server asks for the body: by then the credentials were good.
fn begin(address: &str, head: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut lines = String::new();
    while !lines.ends_with("\r\n\r\n") {
        reader.read_line(&mut lines).unwrap();
    }
    assert!(lines.starts_with("HTTP/1.1 100"), "{lines}");
    reader
}

fn finish(mut reader: BufReader<TcpStream>, body: &str) -> String {
    reader.get_mut().write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    reader.read_to_string(&mut answer).unwrap();
    answer
}

#[tokio::test]
async fn requests_in_work_learn_that_the_app_is_gone() {
    on_each_database(async |app| {
        let address = app.url("").strip_prefix("http://").unwrap().to_owned();
        for (method, path, body) in REQUESTS {
            let mut before = row_counts(app.engine().store()).await;
            // That the app was deleted, and by whom, stays.
            *before.get_mut("audit").unwrap() += 1;
            let doomed = app.another_app(Mode::Development).await;
            let master = app.nobody().basic(&doomed.key, &doomed.master_secret);
            let registration = r#"{"channel":{"device_type":"ios"}}"#;
            master.put(&format!("/api/channels/{CHANNEL}"), registration).await.expect(200);
            let request = master.request(Method::POST, "/").body(()).unwrap();
            let head = format!(
                "{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {}\r\nContent-Length: {}\r\n\
                 Connection: close\r\nExpect: 100-continue\r\n\r\n",
                request.headers()["authorization"].to_str().unwrap(),
                body.len()
            );
            let target = address.clone();
            let reader = tokio::task::spawn_blocking(move || begin(&target, &head)).await.unwrap();
            app.operator().delete(&format!("/operator/apps/{}", doomed.key)).await.expect(204);
            app.step_all().await;
            let answer = tokio::task::spawn_blocking(move || finish(reader, body)).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 401"), "{method} {path}: {answer}");
            assert!(answer.contains("The app key or the secret is wrong."), "{method} {path}: {answer}");
            app.step_all().await;
            assert_eq!(row_counts(app.engine().store()).await, before, "{method} {path} has left something");
        }
    })
    .await;
}
