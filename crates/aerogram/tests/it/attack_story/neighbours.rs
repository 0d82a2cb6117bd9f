//! Devices of one app that are slow, many or full of inventions, at full size: how another app is served meanwhile, and what the
//! server needs for them. Small versions are `api/tests/it/neighbours.rs` and `api/tests/it/growth.rs`.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use http::Method;
use serde_json::json;
use testkit::client::Caller;

use super::{APP_SECRET, KEY, TOKEN, Target};

/// Nearly as many connections as one address may have.
const SLOW: usize = 2_400;
const HEADS: usize = 2_000;
/// Nearly as long as a head may be.
const HEAD_LINES: usize = 60;
const LARGE: usize = 14;
const LARGEST: usize = 5 * 1024 * 1024;
const PUSHES: usize = 200;
const REGISTRATIONS: usize = 1_000;
const TAGS_EACH: usize = 1_000;

/// A server of another app.
async fn other_app(target: &Target) -> Caller {
    let made = target.nobody.bearer(TOKEN).post("/operator/apps", json!({"name": "Other"})).await.expect(201);
    let (key, secret) = (&made["app"]["key"], &made["master_secret"]);
    target.nobody.basic(key.as_str().unwrap(), secret.as_str().unwrap())
}

/// Sends pushes of another app and asks what everybody needs. Prints and returns how many were answered well.
async fn serve_others(target: &Target, other: &Caller, what: &str) -> usize {
    let (mut n_served, mut times) = (0, Vec::new());
    let body = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
    for _ in 0..PUSHES {
        let began = Instant::now();
        n_served += usize::from(other.post("/api/push", &body).await.status.as_u16() == 200);
        times.push(began.elapsed());
    }
    times.sort();
    let operator = target.nobody.bearer(TOKEN);
    let mut asked = Vec::new();
    for (caller, path) in [(&operator, "/operator/apps"), (&operator, "/metrics"), (&target.nobody, "/health")] {
        let began = Instant::now();
        let status = caller.get(path).await.status.as_u16();
        asked.push(format!("{path} {status} in {:.0} ms", millis(began.elapsed())));
        n_served += usize::from(status == 200);
    }
    println!(
        "{what}: {n_served} of {} answered well, pushes of the other app in {:.1} ms (median) and {:.1} ms (slowest); {}; {} MiB resident",
        PUSHES + asked.len(),
        millis(times[PUSHES / 2]),
        millis(times[PUSHES - 1]),
        asked.join(", "),
        target.server.resident_mib(),
    );
    n_served
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Connections on which a request of a device has begun.
fn begin(target: &Target, n: usize, n_announced: usize, n_sent: usize) -> Vec<TcpStream> {
    let device = target.nobody.basic(KEY, APP_SECRET).request(Method::POST, "/").body(()).unwrap();
    let authorization = device.headers()["authorization"].to_str().unwrap();
    let head = format!(
        "POST /api/channels HTTP/1.1\r\nHost: x\r\nAuthorization: {authorization}\r\nContent-Length: {n_announced}\r\n\r\n"
    );
    let bytes = [head.as_bytes(), &vec![b' '; n_sent]].concat();
    connect_all(target, n, &bytes)
}

fn connect_all(target: &Target, n: usize, bytes: &[u8]) -> Vec<TcpStream> {
    let connect = |_| {
        let mut stream = TcpStream::connect(target.server.url.strip_prefix("http://").unwrap()).unwrap();
        // One that is refused has been hung up on.
        drop(stream.write_all(bytes));
        stream
    };
    (0..n).map(connect).collect()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "opens thousands of connections; docs/security.md has its figures"]
async fn slow_callers_beside_another_app() {
    let target = Target::start("").await;
    let other = other_app(&target).await;
    let all = PUSHES + 3;
    assert_eq!(serve_others(&target, &other, "nobody else").await, all);

    let slow = begin(&target, SLOW, 100, 1);
    assert_eq!(serve_others(&target, &other, &format!("{SLOW} slow bodies")).await, all);
    drop(slow);

    let line = format!("X-Long: {}\r\n", "a".repeat(1_000));
    let head = format!("GET / HTTP/1.1\r\nHost: x\r\n{}", line.repeat(HEAD_LINES));
    let heads = connect_all(&target, HEADS, head.as_bytes());
    assert_eq!(serve_others(&target, &other, &format!("{HEADS} unfinished heads")).await, all);
    drop(heads);

    let large = begin(&target, LARGE, LARGEST, LARGEST - 1);
    let whole = format!("{{\"name\":\"large\"{}}}", " ".repeat(LARGEST - 100));
    let began = Instant::now();
    target.nobody.bearer(TOKEN).post("/operator/apps", whole).await.expect(201);
    println!("a large body of the operator beside {LARGE}: {:.0} ms", millis(began.elapsed()));
    assert_eq!(serve_others(&target, &other, &format!("{LARGE} slow bodies of 5 MiB")).await, all);
    drop(large);
    target.server.signal("TERM");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "sends a million tags; docs/security.md has its figures"]
async fn made_up_tags_beside_another_app() {
    let target = Target::start("").await;
    let other = other_app(&target).await;
    assert_eq!(serve_others(&target, &other, "before").await, PUSHES + 3);
    let disk = |target: &Target| folder_mib(target.folder.path());
    let (memory, size) = (target.server.resident_mib(), disk(&target));
    let (device, began, mut n_taken) = (target.nobody.basic(KEY, APP_SECRET), Instant::now(), 0);
    for n in 0..REGISTRATIONS {
        let tags: Vec<String> = (0..TAGS_EACH).map(|tag| format!("made up {n} {tag}")).collect();
        let channel = json!({"device_type": "ios", "opt_in": true, "set_tags": true, "tags": tags});
        let status = device.post("/api/channels", json!({ "channel": channel })).await.status.as_u16();
        assert!([201, 403, 429].contains(&status), "{status}");
        n_taken += usize::from(status == 201);
    }
    println!(
        "{n_taken} of {REGISTRATIONS} registrations with {TAGS_EACH} new tags each taken, in {:.0} s: {memory} to {} MiB resident, \
         {size:.0} to {:.0} MiB on disk",
        began.elapsed().as_secs_f64(),
        target.server.resident_mib(),
        disk(&target),
    );
    assert_eq!(serve_others(&target, &other, "after").await, PUSHES + 3);
    assert!(n_taken < REGISTRATIONS / 2, "{n_taken}");
    target.server.signal("TERM");
}

fn folder_mib(folder: &Path) -> f64 {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => folder_mib(&entry.path()),
        Ok(metadata) => f64::from(u32::try_from(metadata.len() / 1024).unwrap_or(u32::MAX)) / 1024.0,
        // Gone since.
        Err(_) => 0.0,
    });
    sizes.sum()
}
