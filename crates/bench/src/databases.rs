//! `bench databases`: the same requests with SQLite, with PostgreSQL and one node, and with PostgreSQL and two nodes.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use model::ids::ChannelId;
use serde_json::json;
use tempfile::TempDir;
use testkit::postgres::Cluster;

use crate::clients::{self, CLIENTS, Until, Work};
use crate::http::{Connection, request};
use crate::report::{self, number, percent, ratio};
use crate::server::{Server, master_authorization};
use crate::usage::Process;
use crate::{events, writes};

/// Channels that exist before the measurement.
const DEVICES: u32 = 5_000;
/// Rounds take turns, so that a noisy neighbor disturbs all sides.
const ROUNDS: usize = 5;
const TIME: Duration = Duration::from_secs(3);
const MOST_CPU: f64 = 2.0;
const LEAST_RATE: f64 = 0.6;
const MOST_STATEMENTS: f64 = 0.5;
const LEAST_WITH_MORE_NODES: f64 = 0.85;
const KINDS: [&str; 4] = ["registrations", "tag updates", "uploads of events", "pushes"];

pub(crate) async fn run() -> Result<()> {
    report::heading(format_args!("The same requests on each database from {CLIENTS} clients, durable, one app"))?;
    report::progress("preparing");
    let cluster = Cluster::durable().map_err(|why| anyhow!(why))?;
    let url = cluster.fresh_database();
    cluster.ask(&url, "create extension pg_stat_statements");
    let server = Process(cluster.process().context("PostgreSQL has no process")?);
    let folders = [TempDir::new()?, TempDir::new()?, TempDir::new()?];
    let sqlite = Side::new("SQLite", vec![Server::start(folders[0].path())?], None).await?;
    let one = Server::start_on(folders[1].path(), &url)?;
    let postgres = Side::new("PostgreSQL", vec![one], Some(server)).await?;
    // Nodes of one database have the same key.
    let key = "aerogram-data/secrets.key";
    std::fs::create_dir(folders[2].path().join("aerogram-data"))?;
    std::fs::copy(folders[1].path().join(key), folders[2].path().join(key))?;
    let two = Server::start_on(folders[2].path(), &url)?;
    let mut sides = [sqlite, postgres];
    measure(&mut sides, &cluster, &url).await?;
    let [sqlite, mut postgres] = sides;
    for (kind, name) in KINDS.into_iter().enumerate() {
        print(name, &sqlite.rounds[kind], &postgres.rounds[kind], postgres.statements[kind])?;
    }
    let alone = std::mem::take(&mut postgres.rounds);
    postgres.nodes.push(two);
    postgres.name = "PostgreSQL, two nodes";
    let mut sides = [postgres];
    measure(&mut sides, &cluster, &url).await?;
    report::heading(format_args!("Two nodes on one app"))?;
    for (kind, name) in KINDS.into_iter().enumerate() {
        let per_cpu = |rounds: &[Work]| clients::middle(rounds, Work::per_cpu_second);
        let share = per_cpu(&sides[0].rounds[kind]) / per_cpu(&alone[kind]);
        let rate = clients::middle(&sides[0].rounds[kind], Work::per_second);
        report::line(&format!("{name} per second"), &number(rate))?;
        let text = format!("{name} per CPU-second, of those with one node");
        report::goal(&text, &percent(share), "at least 85 %", share >= LEAST_WITH_MORE_NODES)?;
    }
    Ok(())
}

/// A database and the nodes that use it.
struct Side {
    name: &'static str,
    nodes: Vec<Server>,
    /// The server of the database, if it has one.
    database: Option<Process>,
    channels: Arc<[ChannelId]>,
    n_rounds: usize,
    /// By kind.
    rounds: [Vec<Work>; KINDS.len()],
    /// Statements of the database per request, in the last round.
    statements: [f64; KINDS.len()],
}

impl Side {
    async fn new(name: &'static str, nodes: Vec<Server>, database: Option<Process>) -> Result<Self> {
        let channels = events::register(&mut Connection::open(nodes[0].address).await?, DEVICES).await?.into();
        let (rounds, statements) = ([const { Vec::new() }; KINDS.len()], [0.0; KINDS.len()]);
        Ok(Self { name, nodes, database, channels, n_rounds: 0, rounds, statements })
    }

    /// CPU time of the service and the database together.
    fn cpu(&self) -> Result<Duration> {
        let mut all = self.database.map_or(Ok(Duration::ZERO), Process::family_cpu)?;
        for node in &self.nodes {
            all += node.process().cpu()?;
        }
        Ok(all)
    }

    async fn call(&self, kind: usize) -> Result<Work> {
        let round = format!("{}-{}", self.nodes.len(), self.n_rounds);
        match kind {
            0 => self.call_with(writes::registration(&round)).await,
            1 => self.call_with(writes::tag_update(&self.channels, &round)).await,
            2 => {
                let (channels, round) = (Arc::clone(&self.channels), (self.nodes.len() * 1000 + self.n_rounds) as u64);
                self.call_with(move |n| events::upload(&channels, round, n)).await
            }
            _ => {
                let body =
                    json!({"audience": {"tag": "nobody"}, "device_types": "all", "notification": {"alert": "Hello"}});
                let push = request("POST", "/api/push", &master_authorization(), &body.to_string());
                self.call_with(move |_| push.clone()).await
            }
        }
    }

    async fn call_with(&self, make: impl Fn(u64) -> Vec<u8> + Clone + Send + 'static) -> Result<Work> {
        let mut connections = Vec::new();
        for node in self.nodes.iter().cycle().take(CLIENTS) {
            connections.push(Connection::open(node.address).await?);
        }
        let before = self.cpu()?;
        let call = async move |connection: &mut Connection, n| {
            let answer = connection.call(&make(n)).await?;
            if answer.status >= 300 {
                bail!("The server answered {}: {}", answer.status, String::from_utf8_lossy(answer.body));
            }
            Ok(())
        };
        let mut work = clients::crowd(Process::own(), Until::Time(TIME), connections, call).await?;
        work.cpu = self.cpu()?.saturating_sub(before);
        Ok(work)
    }
}

async fn measure(sides: &mut [Side], cluster: &Cluster, url: &str) -> Result<()> {
    for round in 0..ROUNDS {
        report::progress(&format!("round {} of {ROUNDS}", round + 1));
        for kind in 0..KINDS.len() {
            for side in sides.iter_mut() {
                if side.database.is_some() {
                    cluster.ask(url, "select pg_stat_statements_reset()");
                }
                let work = side.call(kind).await?;
                if side.database.is_some() {
                    let calls =
                        "select coalesce(sum(calls), 0) from pg_stat_statements where query not like '%pg_stat%'";
                    let calls: f64 = cluster.ask(url, calls).parse()?;
                    side.statements[kind] = calls / work.n_calls.max(1) as f64;
                }
                side.rounds[kind].push(work);
            }
        }
        for side in sides.iter_mut() {
            side.n_rounds += 1;
        }
    }
    if sides.iter().any(|side| side.rounds.iter().any(Vec::is_empty)) {
        bail!("{} was not measured", sides[0].name);
    }
    Ok(())
}

fn print(name: &str, sqlite: &[Work], postgres: &[Work], statements: f64) -> Result<()> {
    report::heading(format_args!("{name}"))?;
    report::table(&clients::HEADING, &[clients::row("SQLite", sqlite), clients::row("PostgreSQL", postgres)])?;
    let per_cpu = |rounds: &[Work]| clients::middle(rounds, Work::per_cpu_second);
    let cpu = per_cpu(sqlite) / per_cpu(postgres);
    report::goal("CPU time per request, of that with SQLite", &ratio(cpu), "at most 2×", cpu <= MOST_CPU)?;
    let rate = clients::share(postgres, sqlite);
    report::goal("rate, of that with SQLite", &percent(rate), "at least 60 %", rate >= LEAST_RATE)?;
    let text = format!("{statements:.2}");
    report::goal("statements of the database per request", &text, "under 0.5", statements < MOST_STATEMENTS)
}
