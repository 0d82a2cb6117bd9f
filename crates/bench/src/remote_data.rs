//! `bench remote-data`: devices that ask for remote data, whether anything is new and for all of it, and whether a flag is on for
//! them by an attribute that many devices have, beside `GET /health` of the same server.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::Size;
use crate::clients::{CLIENTS, HEADING, Until, Work, crowd, middle, row};
use crate::http::{Connection, request};
use crate::report::{self, number, ratio};
use crate::server::{APP_KEY, Server, master_authorization};

const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(2);
/// What an app that uses all of it has.
const MESSAGES: usize = 30;
const FLAGS: usize = 10;
/// Devices with the attribute that decides about a flag.
const DEVICES: u32 = 10_000;
/// Of the rate of the reference.
const LEAST_NOT_MODIFIED: f64 = 0.8;
const LEAST_FULL: f64 = 0.5;
/// One million devices that ask once an hour.
const ASKING: f64 = 1_000_000.0 / 3600.0;

pub(crate) async fn run(size: Size) -> Result<()> {
    report::heading(format_args!("Remote data of an app with {MESSAGES} in-app messages and {FLAGS} feature flags"))?;
    let folder = tempfile::tempdir()?;
    let server = Server::start(folder.path())?;
    let mut connection = Connection::open(server.address).await?;
    fill(&mut connection).await?;
    // Before anything is asked: its flag is new to everybody.
    let resolve = resolving(&mut connection, size.requests(DEVICES)).await?;
    let path =
        format!("/api/remote-data/app/{APP_KEY}/android?sdk_version=20.10.0&language=en&country=US&random_value=42");
    let ask =
        |more: &str| format!("GET {path} HTTP/1.1\r\nHost: bench\r\nAccept-Encoding: gzip\r\n{more}\r\n").into_bytes();
    let full = ask("");
    let answer = connection.call(&full).await?;
    let modified = answer.header("last-modified").context("remote data has a date")?.to_owned();
    report::line("bytes of an answer, packed", &number(answer.body.len() as f64))?;
    let known = ask(&format!("If-Modified-Since: {modified}\r\n"));
    let health = request("GET", "/health", "", "");

    let (mut reference, mut not_modified, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    let mut resolved = Vec::new();
    let time = size.time(ROUND);
    for _ in 0..size.rounds(ROUNDS) {
        reference.push(measure(&server, time, &health, 200).await?);
        not_modified.push(measure(&server, time, &known, 304).await?);
        whole.push(measure(&server, time, &full, 200).await?);
        resolved.push(measure(&server, time, &resolve, 200).await?);
    }
    let rows = [
        row("GET /health", &reference),
        row("nothing is new (304)", &not_modified),
        row("all of it", &whole),
        row("a flag by an attribute", &resolved),
    ];
    report::table(&HEADING, &rows)?;
    let of_reference =
        |rounds: &[Work]| middle(rounds, Work::per_cpu_second) / middle(&reference, Work::per_cpu_second);
    for (name, rounds, least) in [
        ("304 beside GET /health", &not_modified, LEAST_NOT_MODIFIED),
        ("all of it beside GET /health", &whole, LEAST_FULL),
    ] {
        let share = of_reference(rounds);
        report::goal(name, &ratio(share), &format!("at least {}", ratio(least)), share >= least)?;
    }
    let cpu = ASKING / middle(&not_modified, Work::per_cpu_second);
    report::line("CPU for a million devices that ask once an hour", &format!("{:.2} % of a core", cpu * 100.0))?;
    server.stop()
}

async fn fill(connection: &mut Connection) -> Result<()> {
    let master = master_authorization();
    let mut post = async |path: &str, body: &Value| -> Result<()> {
        connection.expect(&request("POST", path, &master, &body.to_string())).await.map(drop)
    };
    for n in 0..MESSAGES {
        let message = json!({"in_app_message": {
            "type": "in_app_message",
            "triggers": [{"type": "custom_event_count", "goal": 1,
                          "predicate": {"key": "event_name", "value": {"equals": format!("event {n}")}}}],
            "audience": {"locale": ["en", "nb"], "tags": {"not": {"tag": "staff"}}, "miss_behavior": "skip"},
            "message": {"name": format!("Message {n}"), "display_type": "modal", "display": {
                "heading": {"text": format!("Heading {n}")}, "body": {"text": format!("A sentence about thing {n}.")},
                "buttons": [{"id": "go", "label": {"text": "Show"}, "actions": {"^u": format!("https://shop.example/{n}")}}],
            }},
        }});
        post(&format!("/api/in-app/{APP_KEY}"), &message).await?;
    }
    for n in 0..FLAGS {
        let flag = json!({"name": format!("flag {n}"), "audience_selector": {"tags": {"tag": "beta"}},
                          "variables": {"type": "fixed", "data": {"color": "blue"}}});
        post("/api/feature-flags", &flag).await?;
    }
    Ok(())
}

/// The question of one device about a flag by an attribute that many have.
async fn resolving(connection: &mut Connection, n_devices: u32) -> Result<Vec<u8>> {
    let master = master_authorization();
    let mut post = async |path: &str, body: &Value| -> Result<Value> {
        connection.expect(&request("POST", path, &master, &body.to_string())).await
    };
    let mut channels = Vec::new();
    for n in 0..n_devices {
        let channel = json!({"device_type": "android", "opt_in": true, "push_address": format!("registration-{n}")});
        channels.push(post("/api/channels", &json!({ "channel": channel })).await?["channel_id"].clone());
    }
    for some in channels.chunks(1_000) {
        let set =
            json!({"audience": {"channel": some}, "attributes": [{"action": "set", "key": "plan", "value": "gold"}]});
        post("/api/channels/attributes", &set).await?;
    }
    let audience = json!({"attribute": "plan", "operator": "equals", "value": "gold"});
    let flag = post("/api/feature-flags", &json!({"name": "lounge", "server_audience": audience})).await?;
    let id = flag["flag_id"].as_str().context("a flag has an id")?;
    let body = json!({"platform": "android", "channel_id": channels.first()});
    Ok(request("POST", &format!("/api/feature-flags/{id}/resolve"), &master, &body.to_string()))
}

async fn measure(server: &Server, time: Duration, asked: &[u8], status: u16) -> Result<Work> {
    let mut connections = Vec::new();
    for _ in 0..CLIENTS {
        connections.push(Connection::open(server.address).await?);
    }
    let asked = asked.to_vec();
    crowd(server.process(), Until::Time(time), connections, async move |connection: &mut Connection, _| {
        let answer = connection.call(&asked).await?;
        ensure!(answer.status == status, "The server answered {}, not {status}.", answer.status);
        Ok(())
    })
    .await
}
