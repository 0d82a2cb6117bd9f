//! `bench databases`: the same requests with SQLite, and with PostgreSQL and one node.

mod side;
mod statements;

use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use tempfile::TempDir;
use testkit::postgres::Cluster;

use crate::Size;
use crate::clients::{self, CLIENTS, Work};
use crate::report::{self, percent, ratio};
use crate::server::Server;
use crate::usage::Process;

use side::Round;
pub(crate) use side::Side;
use statements::Statements;
pub(crate) use statements::print as print_statements;

/// Rounds take turns, so that a noisy neighbor disturbs all sides.
const ROUNDS: usize = 5;
const MOST_CPU: f64 = 2.0;
const LEAST_RATE: f64 = 0.6;
const MOST_STATEMENTS: f64 = 0.5;
pub(crate) const KINDS: [&str; 4] = ["registrations", "tag updates", "uploads of events", "pushes"];

pub(crate) async fn run(size: Size) -> Result<()> {
    report::heading(format_args!("The same requests on each database from {CLIENTS} clients, durable, one app"))?;
    report::progress("preparing");
    let database = Database::start()?;
    let folders = [TempDir::new()?, TempDir::new()?];
    let sqlite = Side::new("SQLite", vec![Server::start(folders[0].path())?], None, 1, size).await?;
    let node = Server::start_on(folders[1].path(), &database.url)?;
    let mut sides = [sqlite, Side::new("PostgreSQL", vec![node], Some(database.process), 1, size).await?];
    measure(&mut sides, &database, size).await?;
    for (kind, name) in KINDS.into_iter().enumerate() {
        print(name, &sides, kind)?;
        if size.statements {
            print_statements(&sides[1].statements[kind])?;
        }
    }
    Ok(())
}

/// A PostgreSQL server that counts statements, and a database of it.
pub(crate) struct Database {
    cluster: Cluster,
    pub(crate) url: String,
    pub(crate) process: Process,
}

impl Database {
    pub(crate) fn start() -> Result<Self> {
        let cluster = Cluster::durable().map_err(|why| anyhow!(why))?;
        let url = cluster.fresh_database();
        cluster.ask(&url, "create extension pg_stat_statements");
        let process = Process(cluster.process().context("PostgreSQL has no process")?);
        Ok(Self { cluster, url, process })
    }

    /// Another database of the same server.
    pub(crate) fn another(&self) -> String {
        self.cluster.fresh_database()
    }

    fn forget_statements(&self) {
        self.cluster.ask(&self.url, "select pg_stat_statements_reset()");
    }

    /// What was asked since [`Database::forget_statements`], by a service that did some work.
    fn statements(&self, work: &Work, of_database: Duration) -> Result<Statements> {
        Statements::read(&self.cluster.ask(&self.url, statements::SQL), work, of_database)
    }
}

/// Calls all sides in turns, with each kind of request. Pushes come last: they leave work that goes on for longer than a round.
pub(crate) async fn measure(sides: &mut [Side], database: &Database, size: Size) -> Result<()> {
    let (n_sides, n_rounds) = (sides.len(), size.rounds(ROUNDS));
    for (kind, name) in KINDS.into_iter().enumerate() {
        for round in 0..n_rounds {
            report::progress(&format!("{name}, round {} of {n_rounds}", round + 1));
            for n in 0..n_sides {
                pause_others(sides, n, "STOP")?;
                database.forget_statements();
                let side = &mut sides[n];
                let Round { work, of_database } = side.call(kind, round * n_sides + n, size).await?;
                if side.database.is_some() {
                    side.statements[kind] = database.statements(&work, of_database)?;
                }
                side.rounds[kind].push(work);
                pause_others(sides, n, "CONT")?;
            }
        }
    }
    Ok(())
}

/// Sends a signal to all nodes but those of one side, so that what earlier rounds have left to do disturbs no other side.
fn pause_others(sides: &[Side], n: usize, signal: &str) -> Result<()> {
    sides.iter().filter(|other| !other.has_nodes_of(&sides[n])).try_for_each(|other| other.signal(signal))
}

fn print(name: &str, [sqlite, postgres]: &[Side; 2], kind: usize) -> Result<()> {
    report::heading(format_args!("{name}"))?;
    let (rounds, of) = (&postgres.rounds[kind], &sqlite.rounds[kind]);
    report::table(&clients::HEADING, &[clients::row(&sqlite.name, of), clients::row(&postgres.name, rounds)])?;
    let cpu = clients::middle(of, Work::per_cpu_second) / clients::middle(rounds, Work::per_cpu_second);
    report::goal("CPU time per request, of that with SQLite", &ratio(cpu), "at most 2×", cpu <= MOST_CPU)?;
    let rate = clients::share(rounds, of);
    report::goal("rate, of that with SQLite", &percent(rate), "at least 60 %", rate >= LEAST_RATE)?;
    let statements = postgres.statements[kind].per_request();
    let text = format!("{statements:.2}");
    report::goal("statements of the database per request", &text, "under 0.5", statements < MOST_STATEMENTS)
}
