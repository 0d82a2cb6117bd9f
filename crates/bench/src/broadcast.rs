//! `bench broadcast`: one push to very many devices, all the way to providers that speak the real protocol over TLS, durable,
//! with checkpoints; beside a bare loop on the `h2` crate and `h2load` that send the same requests to the same server.

mod account;
mod bare;
pub(crate) mod devices;
mod encrypting;
pub(crate) mod postgres;
pub(crate) mod provider;
mod tool;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use sim::Protocol;

use crate::Size;
use crate::http::{Connection, request};
use crate::loading::Place;
use crate::report::{self, duration, mebibytes, number, percent};
use crate::sample::Sample;
use crate::server::{master_authorization, operator_authorization};
use devices::Devices;
use provider::Provider;

/// Pushes to one device, to see how soon it gets them.
const SINGLE: usize = 200;
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Enough for a rate, however many devices the push had.
const MOST_REFERENCE: u32 = 500_000;

/// Encrypting for browsers is the most expensive part of sending to them, so there are fewer of those.
const BROADCASTS: [(Protocol, u32); 3] =
    [(Protocol::Apns, 1_000_000), (Protocol::Fcm, 1_000_000), (Protocol::WebPush, 200_000)];

pub(crate) async fn run(size: Size) -> Result<()> {
    for (protocol, n_devices) in BROADCASTS {
        one(protocol, size.of(n_devices), size).await?;
    }
    Ok(())
}

async fn one(protocol: Protocol, n_devices: u32, size: Size) -> Result<()> {
    report::heading(format_args!("A push to {} devices by way of {protocol}", number(f64::from(n_devices))))?;
    let provider = Provider::start()?;
    let devices = Devices::of(protocol, &provider)?;
    let folder = tempfile::tempdir()?;
    let place = Place::embedded(folder.path());
    devices.load(&place, n_devices).await?;
    // Of files that are closed, as afterwards: while they are in use, their log has some of it.
    let before = account::n_bytes(folder.path())?;
    let server = place.start()?;
    let mut connection = Connection::open(server.address).await?;
    set_up(&mut connection, &provider, &devices).await?;

    single(&mut connection, &provider, &devices, size.times(SINGLE)).await?;
    let idle = server.process().memory()?;
    server.process().forget_peak()?;
    let cpu = || server.process().cpu();
    let Broadcast { push, work: sent, first } =
        to_all(&mut connection, &provider, (&devices, &devices.push(&json!("all"))), n_devices, cpu).await?;
    let peak = server.process().memory()?.peak.saturating_sub(idle.resident);
    let account = account::measure(&mut connection, &push).await?;
    let personalized =
        to_all(&mut connection, &provider, (&devices, &devices.personalized_push()), n_devices, cpu).await?.work;
    server.stop()?;
    let stored = account::n_bytes(folder.path())?.saturating_sub(before);

    let n_reference = n_devices.min(MOST_REFERENCE);
    let bare = bare::run(&provider, protocol, n_reference).await?;
    let tool = tool::run(&provider, protocol, n_reference, size)?;
    let rows: Vec<_> = [
        ("h2load", tool.as_ref()),
        ("a bare loop on h2", Some(&bare)),
        ("the service, durable", Some(&sent)),
        ("the same, with two variables", Some(&personalized)),
    ]
    .into_iter()
    .filter_map(|(name, work)| Some(work?.row(name)))
    .collect();
    report::table(&HEADING, &rows)?;
    report::line("answer to first delivery of all", &duration(first))?;
    let share = sent.per_cpu_second() / bare.per_cpu_second();
    match protocol {
        Protocol::Apns | Protocol::Fcm => {
            report::goal("per CPU-second, of the bare loop", &percent(share), "≥ 70 %", share >= 0.7)?;
            let rate = sent.per_cpu_second();
            report::goal("deliveries per CPU-second", &number(rate), "≥ 60,000", rate >= 60_000.0)?;
        }
        Protocol::Adm | Protocol::Wns | Protocol::UnifiedPush | Protocol::Open => {
            report::line("per CPU-second, of the bare loop", &percent(share))?;
        }
        Protocol::WebPush => {
            let text = "per CPU-second, of the bare loop, which encrypts as much";
            report::goal(text, &percent(share), "≥ 85 %", share >= 0.85)?;
        }
    }
    let kept = personalized.per_second() / sent.per_second();
    report::goal("rate with two variables, of that without", &percent(kept), "≥ 60 %", kept >= 0.6)?;
    report::goal("peak memory above idle", &mebibytes(peak), "≤ 200 MB", peak <= 200_000_000)?;
    account.report()?;
    // Two pushes went to everybody.
    let each = stored as f64 / (2.0 * f64::from(n_devices));
    report::line("bytes of the database for each delivery, with its log record", &format!("{each:.2}"))
}

pub(crate) async fn set_up(connection: &mut Connection, provider: &Provider, devices: &Devices) -> Result<()> {
    let (path, platform) = (devices.platform_path(), devices.platform(provider).to_string());
    connection.expect(&request("PUT", &path, &operator_authorization(), &platform)).await.map(drop)
}

/// Sends a push to all devices.
async fn to_all(
    connection: &mut Connection,
    provider: &Provider,
    (devices, push): (&Devices, &Value),
    n_devices: u32,
    cpu: impl Fn() -> Result<Duration>,
) -> Result<Broadcast> {
    let (before, cpu_before, began) = (provider.messages(devices.protocol), cpu()?, Instant::now());
    let push = send(connection, push).await?;
    let accepted = Instant::now();
    provider.wait_for(devices.protocol, before + 1).await;
    let first = accepted.elapsed();
    let status = until_done(connection, &push).await?;
    let work = Work { n_messages: n_devices, elapsed: began.elapsed(), cpu: cpu()?.saturating_sub(cpu_before) };
    let delivered = status["platforms"][devices.device_type_name()]["delivered"].as_u64();
    ensure!(delivered == Some(u64::from(n_devices)), "Not everybody was served: {status}");
    Ok(Broadcast { push, work, first })
}

/// A push that was sent to all devices.
struct Broadcast {
    push: String,
    work: Work,
    /// From the answer to the first delivery.
    first: Duration,
}

/// The columns of [`Work::row`].
const HEADING: [&str; 4] = ["", "per second", "per CPU-second", "CPU each"];

/// How many messages were sent, in what time, and the CPU time of the sender.
struct Work {
    n_messages: u32,
    elapsed: Duration,
    cpu: Duration,
}

impl Work {
    fn per_second(&self) -> f64 {
        f64::from(self.n_messages) / self.elapsed.as_secs_f64()
    }

    fn per_cpu_second(&self) -> f64 {
        f64::from(self.n_messages) / self.cpu.as_secs_f64().max(0.01)
    }

    fn row(&self, name: &str) -> Vec<String> {
        let each = self.cpu / self.n_messages.max(1);
        vec![name.to_owned(), number(self.per_second()), number(self.per_cpu_second()), duration(each)]
    }
}

/// One push at a time to one device, from the answer to the push until the message arrives.
async fn single(connection: &mut Connection, provider: &Provider, devices: &Devices, n_pushes: usize) -> Result<()> {
    let push = devices.push(&devices.first());
    let mut times = Vec::new();
    for n in 0..=n_pushes {
        let before = provider.messages(devices.protocol);
        send(connection, &push).await?;
        let accepted = Instant::now();
        provider.wait_for(devices.protocol, before + 1).await;
        // The first push finds neither a connection nor an index.
        if n > 0 {
            times.push(accepted.elapsed());
        }
    }
    let sample = Sample::of(times, Duration::ZERO);
    let text = format!("{} / {}", duration(sample.median()), duration(sample.percentile(99)));
    report::line("answer to delivery on an idle server, one device, median / p99", &text)
}

/// Sends a push; returns its id.
async fn send(connection: &mut Connection, push: &Value) -> Result<String> {
    id_of(&connection.expect(&request("POST", "/api/push", &master_authorization(), &push.to_string())).await?)
}

/// The id in the answer to a push.
pub(crate) fn id_of(answer: &Value) -> Result<String> {
    Ok(answer["push_ids"][0].as_str().context("a push has no id")?.to_owned())
}

/// Waits until a push has ended; returns what became of it.
pub(crate) async fn until_done(connection: &mut Connection, push: &str) -> Result<Value> {
    let ask = request("GET", &format!("/api/push/{push}"), &master_authorization(), "");
    let mut looks = tokio::time::interval(LOOK_EVERY);
    loop {
        looks.tick().await;
        let mut answer = connection.expect(&ask).await?;
        if answer["push"]["state"] == "done" {
            return Ok(answer["push"].take());
        }
    }
}
