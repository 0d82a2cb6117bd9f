//! `bench triggers`: from a custom event to the message that a pipeline without a delay sends, at three rates.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use model::device_type::DeviceType;
use model::ids::ChannelId;
use model::term::{Reach, Term};
use model::time::Clock;
use serde_json::{Value, json};
use store::channels::{Channel, Key};
use testkit::receiver::{OpenReceiver, Received};
use tokio::task::JoinSet;
use tokio::time;
use uuid::Uuid;

use crate::Size;
use crate::clients::Until;
use crate::commits::Commits;
use crate::http::{Connection, request};
use crate::loading::{self, Place};
use crate::report::{self, duration, number, ratio};
use crate::sample::Sample;
use crate::server::{APP_KEY, Server, master_authorization, operator_authorization};

const PLATFORM: &str = "open::bench";
/// More callers than are ever busy, so that triggers come at their time however long an answer takes.
const CALLERS: usize = 32;
const PATIENCE: Duration = Duration::from_secs(120);
const COMMITS: u64 = 300;

/// Triggers at a steady rate, each of another channel.
struct Level {
    per_second: u32,
    n_triggers: u32,
    per_request: u32,
    most: Duration,
}

impl Level {
    fn n_triggers(&self, size: Size) -> u32 {
        let n_triggers = size.of(self.n_triggers);
        if size.is_trial() { n_triggers.min(self.per_second * 2) } else { n_triggers }
    }
}

const LEVELS: [Level; 3] = [
    Level { per_second: 1, n_triggers: 30, per_request: 1, most: Duration::from_millis(100) },
    Level { per_second: 100, n_triggers: 1_000, per_request: 1, most: Duration::from_millis(250) },
    Level { per_second: 10_000, n_triggers: 50_000, per_request: 100, most: Duration::from_secs(2) },
];

pub(crate) async fn run(size: Size) -> Result<()> {
    report::heading(format_args!("From a trigger of a pipeline without delay to the delivery of its message"))?;
    let (folder, other) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let n_channels = LEVELS.iter().map(|level| level.n_triggers(size)).max().unwrap_or(0);
    load(&Place::embedded(folder.path()), n_channels).await?;
    let server = Server::start(folder.path())?;
    let receiver = OpenReceiver::start().await;
    prepare(&server, &receiver).await?;
    let (mut rows, mut medians, mut n_taken) = (Vec::new(), Vec::new(), 0);
    for level in &LEVELS {
        report::progress(&format!("{} triggers a second", level.per_second));
        let (cpu, n_pushes) = (server.process().cpu()?, pushes(&server).await?);
        let times = measure(&server, &receiver, level, level.n_triggers(size), &mut n_taken).await?;
        let n_pushes = pushes(&server).await? - n_pushes;
        let cpu = server.process().cpu()?.saturating_sub(cpu);
        let per_cpu = f64::from(level.n_triggers(size)) / cpu.as_secs_f64().max(0.01);
        let cells =
            [number(n_pushes as f64), duration(times.median()), duration(times.percentile(99)), number(per_cpu)];
        rows.push([vec![number(f64::from(level.per_second))], cells.to_vec()].concat());
        medians.push((level, times));
    }
    server.stop()?;
    Server::start(other.path())?.stop()?;
    let commits = Commits::open(other.path()).await?;
    let commit = commits.of_bytes(Until::Calls(COMMITS), 1, 100).await?.latency.median();
    commits.close().await;
    report::line("a bare commit, median", &duration(commit))?;
    report::table(&["triggers a second", "pushes", "median", "p99", "triggers per CPU-second"], &rows)?;
    for (level, times) in &medians {
        let (name, p99) = (format!("p99 at {} a second", number(f64::from(level.per_second))), times.percentile(99));
        report::goal(&name, &duration(p99), &format!("under {}", duration(level.most)), p99 < level.most)?;
    }
    // The event, the channels that wait, the push, its recipients and its end are committed one after the other.
    let first = medians.first().map_or(Duration::ZERO, |(_, times)| times.median());
    report::line("median at one a second, of a bare commit", &ratio(first.as_secs_f64() / commit.as_secs_f64()))
}

async fn load(place: &Place<'_>, n_channels: u32) -> Result<()> {
    let device_type = DeviceType::from_name(PLATFORM).context("the platform has no name")?;
    let terms = [Term::DeviceType(device_type.clone()), Term::Reach(Reach::Addressed), Term::Reach(Reach::Alert)];
    let now = Clock::System.now();
    let profile = json!({"device_type": PLATFORM, "opt_in": true}).to_string();
    loading::load_channels(place, &terms, n_channels, |ordinal, numbers| {
        let address = address(ordinal.0);
        let channel = Channel {
            ordinal,
            id: id(ordinal.0),
            device_type: device_type.clone(),
            installed: true,
            address: Some(address.clone()),
            language: None,
            country: None,
            named_user: None,
            created: now,
            last_registration: Some(now),
            terms: numbers.to_vec(),
            profile: profile.clone(),
        };
        (channel, vec![Key { kind: format!("address:{device_type}"), value: address }])
    })
    .await
}

/// Configures the platform and the pipeline, and has one message sent, so that everything is loaded.
async fn prepare(server: &Server, receiver: &OpenReceiver) -> Result<()> {
    let mut connection = Connection::open(server.address).await?;
    let path = format!("/operator/apps/{APP_KEY}/platforms/{PLATFORM}");
    let mut platform = json!({"url": receiver.url(), "validate": false});
    let made = connection.expect(&request("PUT", &path, &operator_authorization(), &platform.to_string())).await?;
    let code = made["validation_code"].as_str().and_then(|code| code.parse().ok());
    receiver.confirm(code.context("the platform has no validation code")?);
    platform["validate"] = json!(true);
    connection.expect(&request("PUT", &path, &operator_authorization(), &platform.to_string())).await?;
    let push = json!({"audience": "triggered", "device_types": [PLATFORM], "notification": {"alert": "Thank you!"}});
    let trigger = json!({"custom_event": {"key": "name", "value": {"equals": "bought"}}});
    let pipeline = json!({"enabled": true, "immediate_trigger": trigger, "outcome": {"push": push}});
    let create = request("POST", "/api/pipelines", &master_authorization(), &pipeline.to_string());
    connection.expect(&create).await?;
    connection.expect(&triggers(0..1)).await?;
    receiver.wait_until(|received| !received.is_empty()).await;
    Ok(())
}

/// The times from the beginning of a request with triggers to the arrival of each message. `n_taken` are the requests that the
/// receiver had got before.
async fn measure(
    server: &Server,
    receiver: &OpenReceiver,
    level: &Level,
    n_triggers: u32,
    n_taken: &mut usize,
) -> Result<Sample> {
    let mut arrivals: Vec<Option<Instant>> = vec![None; n_triggers as usize];
    let mut n_arrived = 0;
    let mut seen = (*n_taken).max(1);
    let arriving = receiver.wait_until(|received| {
        let now = Instant::now();
        for number in received[seen..].iter().flat_map(Received::values).filter_map(number_of) {
            if let Some(arrival) = arrivals.get_mut(number).filter(|arrival| arrival.is_none()) {
                *arrival = Some(now);
                n_arrived += 1;
            }
        }
        seen = received.len();
        n_arrived >= n_triggers
    });
    let (calls, arrived) = tokio::join!(call(server, level, n_triggers), time::timeout(PATIENCE, arriving));
    let (calls, is_complete) = (calls?, arrived.is_ok());
    ensure!(is_complete, "Only {n_arrived} of {n_triggers} messages have arrived.");
    *n_taken = seen;
    let times = arrivals.iter().enumerate().filter_map(|(number, arrival)| {
        let began = calls.get(number / level.per_request as usize)?;
        Some((*arrival)?.saturating_duration_since(*began))
    });
    Ok(Sample::of(times.collect(), Duration::ZERO))
}

/// Sends the triggers at their times. Answers when each request began, in order.
async fn call(server: &Server, level: &Level, n_triggers: u32) -> Result<Vec<Instant>> {
    let (next, began) = (Arc::new(AtomicU32::new(0)), time::Instant::now());
    let (per_request, per_second) = (level.per_request, level.per_second);
    let n_requests = n_triggers.div_ceil(per_request);
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        let (next, mut connection) = (next.clone(), Connection::open(server.address).await?);
        callers.spawn(async move {
            let mut calls = Vec::new();
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= n_requests {
                    return Ok::<_, anyhow::Error>(calls);
                }
                let first = n * per_request;
                let triggers = triggers(first..n_triggers.min(first + per_request));
                time::sleep_until(began + Duration::from_secs_f64(f64::from(first) / f64::from(per_second))).await;
                calls.push((n, Instant::now()));
                connection.expect(&triggers).await?;
            }
        });
    }
    let mut calls = Vec::new();
    while let Some(made) = callers.join_next().await {
        calls.extend(made??);
    }
    calls.sort_unstable_by_key(|(n, _)| *n);
    Ok(calls.into_iter().map(|(_, began)| began).collect())
}

fn triggers(numbers: std::ops::Range<u32>) -> Vec<u8> {
    let event = |n: u32| json!({"user": {"channel": id(n)}, "body": {"name": "bought", "value": 12.5}});
    let body: Vec<Value> = numbers.map(event).collect();
    request("POST", "/api/custom-events", &master_authorization(), &json!(body).to_string())
}

/// How many pushes the pipeline has made since the server was started.
async fn pushes(server: &Server) -> Result<u64> {
    let mut connection = Connection::open(server.address).await?;
    let answer = connection.call(&request("GET", "/metrics", &operator_authorization(), "")).await?;
    let text = std::str::from_utf8(answer.body).context("the metrics are not text")?;
    let lines = text.lines().filter(|line| line.starts_with("aerogram_pushes_accepted_total"));
    Ok(lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum())
}

fn id(number: u32) -> ChannelId {
    ChannelId::from_uuid(Uuid::from_u128(u128::from(number) << 96 | 0x4000_8000_0000_0000_0002))
}

fn address(number: u32) -> String {
    format!("bench-{number}")
}

/// The channel of a message.
fn number_of(message: &Value) -> Option<usize> {
    message["target"]["address"].as_str()?.strip_prefix("bench-")?.parse().ok()
}
