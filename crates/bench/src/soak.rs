//! `bench soak`: the same modest load for half an hour. What is needed after a while must not grow any more, and answers must not
//! take longer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use model::ids::ChannelId;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::sleep_until;

use crate::clients::{self, Until};
use crate::http::{Connection, request};
use crate::report::{self, duration, mebibytes, ratio};
use crate::sample::Sample;
use crate::server::{APP_KEY, App, Server};
use crate::usage::Memory;
use crate::{Size, events, writes};

pub(crate) const NAME: &str = "soak";
const CHANNELS: u32 = 100_000;
/// Channels that something happens to.
const BUSY: u32 = 5_000;
const TIME: Duration = Duration::from_secs(30 * 60);
/// Requests begin at these intervals, whether the one before was answered or not.
const PACE: Duration = Duration::from_millis(4);
const CALLERS: usize = 8;
/// The time is told apart in so many parts. The first three are for warming up.
const PARTS: u32 = 10;
const WARM: usize = 3;
const MOST_GROWTH: f64 = 1.1;
const MOST_DELAY: f64 = 1.5;

/// What a part of the time was like.
struct Part {
    latency: Sample,
    memory: Memory,
}

pub(crate) async fn run(size: Size) -> Result<()> {
    let n_channels = size.requests(CHANNELS);
    let time = size.duration(TIME);
    let rate = 1.0 / PACE.as_secs_f64();
    report::heading(format_args!("{n_channels} channels and {rate:.0} requests a second for {} s", time.as_secs()))?;
    let folder = tempfile::tempdir()?;
    let server = Server::start(folder.path())?;
    let busy = prepare(&server, n_channels).await?;
    let n_calls = u64::try_from((time / PARTS).as_millis() / PACE.as_millis())?;
    let mut parts = Vec::new();
    for number in 0..PARTS {
        report::progress(&format!("part {} of {PARTS}", number + 1));
        let times = act(&server, &busy, u64::from(number) * n_calls, n_calls).await?;
        parts.push(Part { latency: Sample::of(times, Duration::ZERO), memory: server.process().memory()? });
    }
    server.stop()?;
    tell(&parts)
}

/// Registers channels, and returns those that something is to happen to.
async fn prepare(server: &Server, n_channels: u32) -> Result<Arc<[ChannelId]>> {
    report::progress("registering");
    let n_busy = BUSY.min(n_channels);
    let busy = events::register(server, &App::first(), n_busy).await?;
    let others = Until::Calls(u64::from(n_channels - n_busy));
    clients::call(server.address, server.process(), others, writes::registration(&App::first(), "soak")).await?;
    Ok(busy.into())
}

/// Sends requests at an even pace. Returns how long answers took, counted from when their requests were due.
async fn act(server: &Server, busy: &Arc<[ChannelId]>, first: u64, n_calls: u64) -> Result<Vec<Duration>> {
    let (began, mut callers) = (Instant::now(), JoinSet::new());
    for caller in 0..CALLERS as u64 {
        let (mut connection, call) = (Connection::open(server.address).await?, load(busy));
        callers.spawn(async move {
            let mut times = Vec::new();
            for n in (caller..n_calls).step_by(CALLERS) {
                let due = began + PACE * u32::try_from(n)?;
                sleep_until(due.into()).await;
                let answer = connection.call(&call(first + n)).await?;
                if answer.status >= 300 {
                    bail!("The server answered {}: {}", answer.status, String::from_utf8_lossy(answer.body));
                }
                times.push(due.elapsed());
            }
            Ok(times)
        });
    }
    let mut times = Vec::new();
    while let Some(done) = callers.join_next().await {
        times.extend(done??);
    }
    Ok(times)
}

/// A bit of everything: tags, uploads of ten events, and pushes to one device and to a tag.
fn load(busy: &Arc<[ChannelId]>) -> impl Fn(u64) -> Vec<u8> + Send + use<> {
    let (app, channels) = (App::first(), Arc::clone(busy));
    let (tags, master) = (writes::tag_update(&app, busy, "soak"), app.master());
    move |n| match n % 10 {
        0..=4 => tags(n),
        5..=7 => events::upload(APP_KEY, &channels, 0, n),
        8 => {
            let channel = usize::try_from(n).map_or(channels[0], |n| channels[n % channels.len()]);
            let push =
                json!({"audience": {"channel": channel}, "device_types": "all", "notification": {"alert": "Hello"}});
            request("POST", "/api/push", &master, &push.to_string())
        }
        _ => {
            let push = json!({"audience": {"tag": "tag-7"}, "device_types": "all", "notification": {"alert": "Hello"}});
            request("POST", "/api/push", &master, &push.to_string())
        }
    }
}

fn tell(parts: &[Part]) -> Result<()> {
    let rows: Vec<Vec<String>> = (1..)
        .zip(parts)
        .map(|(number, Part { latency, memory })| {
            let times = [50, 99].map(|percent| duration(latency.percentile(percent)));
            let [median, p99] = times;
            vec![format!("part {number}"), median, p99, mebibytes(memory.allocated), mebibytes(memory.resident)]
        })
        .collect();
    report::table(&["", "median", "p99", "allocated", "resident"], &rows)?;
    let warm = parts.get(WARM..).unwrap_or(parts);
    let (Some(first), Some(last)) = (warm.first(), warm.last()) else { return Ok(()) };
    let growth = last.memory.allocated as f64 / first.memory.allocated as f64;
    let goal = format!("at most {MOST_GROWTH}×");
    report::goal("memory at the end, of that after warming up", &ratio(growth), &goal, growth <= MOST_GROWTH)?;
    let delay = last.latency.percentile(99).as_secs_f64() / first.latency.percentile(99).as_secs_f64();
    let goal = format!("at most {MOST_DELAY}×");
    report::goal("p99 of answers at the end, of that after warming up", &ratio(delay), &goal, delay <= MOST_DELAY)
}
