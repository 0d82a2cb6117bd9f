//! `bench webhooks`: events on their way from the log to a webhook, in order and durable; beside bare HTTP clients that post the
//! same number of bodies of the same size to the same receiver.

mod client;
pub(crate) mod receiver;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use model::event::{Event, RecordKind, ScreenViewed};
use model::ids::{EventId, Ordinal};
use model::time::Clock;
use serde_json::json;
use store::log::{self, NewRecord};

use crate::Size;
use crate::http::{Connection, request};
use crate::loading::{self, Users};
use crate::population::Population;
use crate::report::{self, duration, number, percent, ratio};
use crate::server::{APP_KEY, Server, operator_authorization};
use receiver::Receiver;

const EVENTS: u32 = 300_000;
const CHANNELS: u32 = 10_000;
const PER_TRANSACTION: u32 = 5_000;
/// Events of a request, for a webhook that takes several.
const BATCH: u32 = 500;

/// How long the events took, and the CPU time of the sender.
struct Work {
    n_events: u32,
    elapsed: Duration,
    cpu: Duration,
}

impl Work {
    fn per_second(&self) -> f64 {
        f64::from(self.n_events) / self.elapsed.as_secs_f64()
    }

    fn per_cpu_second(&self) -> f64 {
        f64::from(self.n_events) / self.cpu.as_secs_f64().max(0.01)
    }

    fn row(&self, name: &str) -> Vec<String> {
        let each = self.cpu / self.n_events.max(1);
        vec![name.to_owned(), number(self.per_second()), number(self.per_cpu_second()), duration(each)]
    }
}

pub(crate) async fn run(size: Size) -> Result<()> {
    let n_events = size.of(EVENTS);
    report::heading(format_args!("{} events forwarded to a webhook", number(f64::from(n_events))))?;
    let folder = tempfile::tempdir()?;
    loading::load(folder.path(), &Population::new(), CHANNELS, Users::None).await?;
    append_events(folder.path(), n_events).await?;
    let receiver = Receiver::start()?;
    let server = Server::start(folder.path())?;
    let service = forward(&server, &receiver, n_events, 1).await?;
    let body = Bytes::from("x".repeat(receiver.mean_body_bytes()));
    let batches = forward(&server, &Receiver::start()?, n_events, BATCH).await?;
    server.stop()?;
    let bare = client::with_library(receiver.address(), n_events, &body)?;
    let socket = client::on_sockets(receiver.address(), n_events, &body)?;
    let rows = [
        service.row("the service, in order and durable"),
        batches.row(&format!("the same, up to {BATCH} events in a request")),
        bare.row("a bare client with the same HTTP library"),
        socket.row("a bare socket with requests that are ready"),
    ];
    report::table(&["", "per second", "per CPU-second", "CPU each"], &rows)?;
    let rate = service.per_cpu_second();
    report::goal("events per CPU-second", &number(rate), "≥ 20,000", rate >= 20_000.0)?;
    let share = rate / bare.per_cpu_second();
    report::goal("per CPU-second, of the bare client", &percent(share), "≥ 50 %", share >= 0.5)?;
    let share = rate / socket.per_cpu_second();
    report::line("per CPU-second, of the bare socket", &percent(share))?;
    let times = batches.per_cpu_second() / rate;
    report::goal("per CPU-second in batches, of one by one", &ratio(times), "10×", times >= 10.0)
}

/// Events of channels in turn, so that most requests can go out at the same time.
async fn append_events(folder: &Path, n_events: u32) -> Result<()> {
    let (store, app) = loading::open(folder).await?;
    let now = Clock::System.now();
    for first in (0..n_events).step_by(PER_TRANSACTION as usize) {
        let numbers = first..n_events.min(first.saturating_add(PER_TRANSACTION));
        let records: Vec<NewRecord> = numbers.map(|n| record(n, Clock::System.now())).collect::<Result<_>>()?;
        store.write(app, move |tx| log::append(tx, app, now, records.clone())).await?;
    }
    store.close().await;
    Ok(())
}

fn record(n: u32, occurred: model::time::UtcMillis) -> Result<NewRecord> {
    let body = ScreenViewed {
        viewed_screen: format!("product {}", n % 1_000),
        previous_screen: Some("start".to_owned()),
        duration: 1_500,
        session_id: None,
    };
    let event = Event { id: EventId::random(), occurred, body };
    let ordinal = Some(Ordinal(n % CHANNELS));
    Ok(NewRecord { kind: RecordKind::ScreenViewed, ordinal, body: serde_json::to_vec(&event)? })
}

async fn forward(server: &Server, receiver: &Receiver, n_events: u32, batch_size: u32) -> Result<Work> {
    let mut connection = Connection::open(server.address).await?;
    let webhook =
        json!({"url": receiver.url(), "types": ["SCREEN_VIEWED"], "start": "earliest", "batch_size": batch_size});
    let webhook = webhook.to_string();
    let (began, cpu) = (Instant::now(), server.process().cpu()?);
    let path = format!("/operator/apps/{APP_KEY}/webhooks");
    let created = connection.expect(&request("POST", &path, &operator_authorization(), &webhook)).await?;
    receiver.wait_for(u64::from(n_events)).await?;
    let (elapsed, cpu) = (began.elapsed(), server.process().cpu()? - cpu);
    let id = created["webhook"]["webhook_id"].as_str().context("a webhook has no id")?;
    let ask = request("GET", &format!("{path}/{id}"), &operator_authorization(), "");
    let shown = connection.expect(&ask).await?;
    ensure!(shown["webhook"]["failed_attempts"] == 0, "Some events were not taken: {shown}");
    Ok(Work { n_events, elapsed, cpu })
}
