//! `bench spread`: the broadcast with one and with two nodes on PostgreSQL, beside SQLite.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;
use sim::Protocol;
use tempfile::TempDir;

use super::devices::Devices;
use super::provider::Provider;
use super::{HEADING, Work, set_up, to_all};
use crate::Size;
use crate::databases::Database;
use crate::http::Connection;
use crate::loading::Place;
use crate::nodes::start_another;
use crate::report::{self, number, percent};
use crate::server::Server;
use crate::usage::Process;

const DEVICES: u32 = 1_000_000;
/// Pushes to all, in turns.
const ROUNDS: usize = 3;
const LEAST: f64 = 0.8;

pub(crate) async fn run(size: Size) -> Result<()> {
    let n_devices = size.of(DEVICES);
    let n_text = number(f64::from(n_devices));
    report::heading(format_args!("A push to {n_text} devices by way of {}, on each database", Protocol::Apns))?;
    let provider = Provider::start()?;
    let devices = Devices::of(Protocol::Apns, &provider)?;
    let database = Database::start()?;
    let folders = [TempDir::new()?, TempDir::new()?, TempDir::new()?];
    let [embedded, first, second] = [&folders[0], &folders[1], &folders[2]].map(TempDir::path);
    let sqlite = Place::embedded(embedded);
    devices.load(&sqlite, n_devices).await?;
    devices.load(&Place { folder: first, database: Some(&database.url) }, n_devices).await?;
    let mut sides = [(); 3].map(|()| Vec::new());
    let n_rounds = size.rounds(ROUNDS);
    for round in 0..n_rounds {
        report::progress(&format!("round {} of {n_rounds}", round + 1));
        let nodes = [sqlite.start()?];
        sides[0].push(send(&nodes, &provider, &devices, n_devices, || Ok(Duration::ZERO)).await?);
        for (side, folders) in [(1, &[first][..]), (2, &[first, second])] {
            let nodes = folders.iter().map(|folder: &&Path| start_another(folder, first, &database.url));
            let nodes = nodes.collect::<Result<Vec<_>>>()?;
            sides[side].push(send(&nodes, &provider, &devices, n_devices, || database.process.family_cpu()).await?);
        }
    }
    let names = ["SQLite", "PostgreSQL, one node", "PostgreSQL, two nodes"];
    let middle = sides.map(|mut rounds: Vec<Work>| {
        rounds.sort_by(|one, other| one.per_cpu_second().total_cmp(&other.per_cpu_second()));
        rounds.swap_remove(rounds.len() / 2)
    });
    let rows: Vec<_> = names.iter().zip(&middle).map(|(name, work)| work.row(name)).collect();
    report::table(&HEADING, &rows)?;
    for (name, work) in names.iter().zip(&middle).skip(1) {
        let share = work.per_cpu_second() / middle[0].per_cpu_second();
        let text = format!("deliveries per CPU-second with {name}, of those with SQLite");
        report::goal(&text, &percent(share), "at least 80 %", share >= LEAST)?;
    }
    Ok(())
}

/// Deliveries per second of CPU time, the server's and that of its database.
pub(crate) async fn rate(n_devices: u32, url: &str, database: Process) -> Result<f64> {
    let (provider, folder) = (Provider::start()?, TempDir::new()?);
    let devices = Devices::of(Protocol::Apns, &provider)?;
    let place = Place { folder: folder.path(), database: Some(url) };
    devices.load(&place, n_devices).await?;
    let nodes = [place.start()?];
    Ok(send(&nodes, &provider, &devices, n_devices, || database.family_cpu()).await?.per_cpu_second())
}

/// One push to all from the nodes, which are new; `database` tells the CPU time of a server of their database.
async fn send(
    nodes: &[Server],
    provider: &Provider,
    devices: &Devices,
    n_devices: u32,
    database: impl Fn() -> Result<Duration>,
) -> Result<Work> {
    let mut connection = Connection::open(nodes[0].address).await?;
    set_up(&mut connection, provider, devices).await?;
    // One device first, which finds neither a connection nor an index.
    let before = provider.messages(devices.protocol);
    super::send(&mut connection, &devices.push(&devices.first())).await?;
    provider.wait_for(devices.protocol, before + 1).await;
    let cpu = || nodes.iter().try_fold(database()?, |sum, node| Ok(sum + node.process().cpu()?));
    to_all(&mut connection, provider, (devices, &devices.push(&json!("all"))), n_devices, cpu)
        .await
        .map(|sent| sent.work)
}
