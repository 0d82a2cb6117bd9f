//! `bench pushes`: how fast pushes are accepted, and how soon the first device has one.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::json;
use testkit::receiver::OpenReceiver;

use crate::Size;
use crate::clients::{self, CLIENTS, Until, Work};
use crate::commits::Commits;
use crate::http::{Connection, request};
use crate::report::{self, duration, ratio};
use crate::sample::Sample;
use crate::server::{APP_KEY, Server, master_authorization, operator_authorization};

/// Rounds take turns, so that a noisy neighbor disturbs both sides.
const ROUNDS: usize = 3;
const TIME: Duration = Duration::from_secs(4);
const DELIVERIES: usize = 300;

pub(crate) async fn run(size: Size) -> Result<()> {
    let (folder, other) = (tempfile::tempdir()?, tempfile::tempdir()?);
    Server::start(other.path())?.stop()?;
    let commits = Commits::open(other.path()).await?;
    let server = Server::start(folder.path())?;
    accept(&server, &commits, size).await?;
    commits.close().await;
    server.stop()?;
    // Both sides start afresh: after so many writes a database has checkpoints to catch up with.
    let (folder, other) = (tempfile::tempdir()?, tempfile::tempdir()?);
    Server::start(other.path())?.stop()?;
    let commits = Commits::open(other.path()).await?;
    let server = Server::start(folder.path())?;
    deliver(&server, &commits, size.times(DELIVERIES)).await?;
    commits.close().await;
    server.stop()
}

/// Pushes to a tag that no device has: everything but sending is done.
async fn accept(server: &Server, commits: &Commits, size: Size) -> Result<()> {
    let (n_rounds, time) = (size.rounds(ROUNDS), Until::Time(size.time(TIME)));
    report::heading(format_args!("Pushes accepted over HTTP from {CLIENTS} clients, durable"))?;
    let body = json!({
        "audience": {"tag": "nobody"},
        "device_types": "all",
        "notification": {"alert": "The doors open at eight. See you there!", "ios": {"badge": "+1", "sound": "bell"}},
    })
    .to_string();
    let push = request("POST", "/api/push", &master_authorization(), &body);
    let mut rounds = Rounds::default();
    for round in 0..n_rounds {
        report::progress(&format!("round {} of {n_rounds}", round + 1));
        let push = push.clone();
        rounds.bare.push(commits.of_bytes(time, CLIENTS, body.len()).await?);
        rounds.http.push(clients::call(server.address, server.process(), time, move |_| push.clone()).await?);
    }
    let rows = [
        clients::row("bare commits of one value of as many bytes", &rounds.bare),
        clients::row("accepted over HTTP", &rounds.http),
    ];
    report::table(&clients::HEADING, &rows)?;
    let share = clients::share(&rounds.http, &rounds.bare);
    report::line("rate over HTTP, of bare commits of one value of as many bytes", &report::percent(share))
}

#[derive(Default)]
struct Rounds {
    http: Vec<Work>,
    bare: Vec<Work>,
}

/// One push at a time to a webhook, from the answer to the push until the message arrives.
async fn deliver(server: &Server, commits: &Commits, n_deliveries: usize) -> Result<()> {
    report::heading(format_args!("From the answer to the first delivery, one push at a time"))?;
    let (operator, master) = (operator_authorization(), master_authorization());
    let receiver = OpenReceiver::start().await;
    let mut connection = Connection::open(server.address).await?;
    let path = format!("/operator/apps/{APP_KEY}/platforms/open::bench");
    let mut platform = json!({"url": receiver.url(), "validate": false});
    let made = connection.expect(&request("PUT", &path, &operator, &platform.to_string())).await?;
    let code = made["validation_code"].as_str().and_then(|code| code.parse().ok());
    receiver.confirm(code.context("the platform has no validation code")?);
    platform["validate"] = json!(true);
    connection.expect(&request("PUT", &path, &operator, &platform.to_string())).await?;
    let channel = json!({"channel": {"type": "open", "opt_in": true, "address": "bench", "tags": ["everybody"],
                                     "open": {"open_platform_name": "bench"}}});
    connection.expect(&request("POST", "/api/channels/open", &master, &channel.to_string())).await?;

    let push = json!({"audience": {"tag": "everybody"}, "device_types": ["open::bench"],
                      "notification": {"alert": "The doors open at eight."}});
    let push = request("POST", "/api/push", &master, &push.to_string());
    let (mut accepts, mut deliveries) = (Vec::new(), Vec::new());
    for n in 1..=n_deliveries {
        let began = Instant::now();
        connection.expect(&push).await?;
        accepts.push(began.elapsed());
        let accepted = Instant::now();
        receiver.wait_until(|received| received.len() >= n).await;
        deliveries.push(accepted.elapsed());
    }
    let direct = straight(&receiver, n_deliveries).await?;
    let commit = commits.of_bytes(Until::Calls(n_deliveries as u64), 1, 100).await?.latency;
    let delivery = Sample::of(deliveries, Duration::ZERO);
    let times = [
        ("a bare commit", &commit),
        ("a request straight to the receiver", &direct),
        ("from request to answer", &Sample::of(accepts, Duration::ZERO)),
        ("from answer to first delivery", &delivery),
    ];
    let row = |(name, sample): (&str, &Sample)| {
        vec![name.to_owned(), duration(sample.median()), duration(sample.percentile(99))]
    };
    report::table(&["", "median", "p99"], &times.map(row))?;
    // The push's blocks and their jobs are committed before anything is sent.
    let least = commit.median() + direct.median();
    let times = delivery.median().as_secs_f64() / least.as_secs_f64();
    report::line("answer to first delivery, of one commit and one request to the receiver", &ratio(times))
}

/// How long the receiver takes by itself.
async fn straight(receiver: &OpenReceiver, n_messages: usize) -> Result<Sample> {
    let url = receiver.url();
    let (host, path) =
        url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).context("the receiver has no address")?;
    let mut connection = Connection::open(host.parse()?).await?;
    let message = request("POST", &format!("/{path}/push"), "none", r#"{"values": []}"#);
    let mut times = Vec::new();
    for _ in 0..n_messages {
        let began = Instant::now();
        connection.expect(&message).await?;
        times.push(began.elapsed());
    }
    Ok(Sample::of(times, Duration::ZERO))
}
