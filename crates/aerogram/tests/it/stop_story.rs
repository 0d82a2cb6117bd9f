//! SIGTERM to a server with callers that do nothing.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use testkit::client::Caller;

use crate::server::Server;

const KEY: &str = "stopped-app-key-000001";
const MASTER_SECRET: &str = "stopped-master-secret1";

/// What docs/security.md promises; on a busy machine a start or an end of a process takes its time.
const PROMISED: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread")]
async fn stuck_streams_do_not_keep_it_from_ending() {
    let folder = tempfile::tempdir().unwrap();
    let app = ["--app-key", KEY, "--app-secret", "stopped-app-secret-001", "--master-secret", MASTER_SECRET];
    let server = Server::start(folder.path(), &app);
    let master = Caller::new(server.url.clone()).basic(KEY, MASTER_SECRET);
    // More than the buffers of sockets take.
    let (padding, occurred) = ("x".repeat(60_000), model::time::Clock::System.now().to_api());
    let registration = json!({"channel": {"device_type": "ios", "opt_in": true}});
    let channel = master.post("/api/channels", registration).await.expect(201)["channel_id"].clone();
    for n in 0..12 {
        let event = |m: usize| {
            json!({
                "occurred": occurred, "user": {"channel": channel},
                "body": {"name": format!("padded-{n}-{m}"), "properties": {"padding": padding}}
            })
        };
        let events: Vec<_> = (0..50).map(event).collect();
        master.post("/api/custom-events", json!(events)).await.expect(200);
    }
    let mut stuck = Vec::new();
    for _ in 0..8 {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(64 * 1024).unwrap();
        let address = server.url.strip_prefix("http://").unwrap().parse().unwrap();
        let mut stream = socket.connect(address).await.unwrap().into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        let authorization = STANDARD.encode(format!("{KEY}:{MASTER_SECRET}"));
        let head = "GET /api/events?start=earliest HTTP/1.1\r\nHost: x";
        stream.write_all(format!("{head}\r\nAuthorization: Basic {authorization}\r\n\r\n").as_bytes()).unwrap();
        // It has begun to answer, and nobody reads on.
        stream.read_exact(&mut [0; 1]).unwrap();
        stuck.push(stream);
    }
    let began = Instant::now();
    server.signal("TERM");
    let (code, _, log) = tokio::task::spawn_blocking(move || server.wait()).await.unwrap();
    let took = began.elapsed();
    assert_eq!(code, Some(0), "{log}");
    // Requests in work would have 20 s: that they were not waited for is what counts.
    assert!(!log.contains("some requests did not finish in time"), "{log}");
    println!("ended after {took:?}; promised are {PROMISED:?}");
    drop(stuck);
}
