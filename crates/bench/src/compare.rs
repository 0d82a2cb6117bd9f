//! `bench compare`: two builds of the server in turns, so that both meet the same noise; the ratio of every round, and how far the
//! rounds disagree.

mod sending;

use std::path::Path;

use anyhow::Result;
use tempfile::TempDir;

use crate::Size;
use crate::clients::{self, Work};
use crate::databases::{self, Database, KINDS, Side};
use crate::report::{self, number, percent};
use crate::server::{DATABASE, Server};
use crate::usage::Process;
use sending::Sender;

/// What a change may cost.
const LEAST: f64 = 0.95;
/// Of what is sent. Requests have as many rounds as with `bench databases`.
const ROUNDS: usize = 5;
/// The builds on each database, those that are compared beside each other.
const SIDES: [&str; 4] = ["SQLite, before", "SQLite, now", "PostgreSQL, before", "PostgreSQL, now"];

pub(crate) async fn run(size: Size) -> Result<()> {
    let Some(before) = size.against else {
        return report::line("compare", "skipped: --against names no program to compare with");
    };
    report::heading(format_args!("This build beside {}, in turns", before.display()))?;
    let database = Database::start()?;
    requests(before, &database, size).await?;
    sent(before, &database, size).await
}

async fn requests(before: &Path, database: &Database, size: Size) -> Result<()> {
    report::progress("preparing requests");
    let folders = [TempDir::new()?, TempDir::new()?, TempDir::new()?, TempDir::new()?];
    let mut sides = Vec::new();
    for (name, server, process) in start(before, database, &database.url, &folders)? {
        sides.push(Side::new(name, vec![server], process, 1, size).await?);
    }
    databases::measure(&mut sides, database, size).await?;
    for (kind, name) in KINDS.into_iter().enumerate() {
        report::heading(format_args!("{name}"))?;
        let rows: Vec<_> = sides.iter().map(|side| clients::row(&side.name, &side.rounds[kind])).collect();
        report::table(&clients::HEADING, &rows)?;
        let rates = |side: &Side| side.rounds[kind].iter().map(Work::per_cpu_second).collect::<Vec<_>>();
        print(&sides.iter().map(rates).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// What the service does without being called for each message.
async fn sent(before: &Path, database: &Database, size: Size) -> Result<()> {
    report::progress("preparing what is sent");
    let folders = [TempDir::new()?, TempDir::new()?, TempDir::new()?, TempDir::new()?];
    let mut senders = Vec::new();
    for (name, server, process) in start(before, database, &database.another(), &folders)? {
        senders.push(Sender::new(name, server, process, size).await?);
    }
    let n_rounds = size.rounds(ROUNDS);
    for (kind, name) in sending::KINDS.into_iter().enumerate() {
        for round in 0..n_rounds {
            report::progress(&format!("{name}, round {} of {n_rounds}", round + 1));
            for n in 0..senders.len() {
                signal_others(&senders, n, "STOP")?;
                senders[n].send(kind, round).await?;
                signal_others(&senders, n, "CONT")?;
            }
        }
        report::heading(format_args!("{name}"))?;
        let rates: Vec<_> = senders.iter().map(|sender| sender.rounds[kind].clone()).collect();
        let row = |(sender, rates): (&Sender, &Vec<f64>)| {
            let (least, median, most) = spread(rates);
            vec![sender.name.to_owned(), number(median), number(least), number(most)]
        };
        report::table(
            &["", "per CPU-second", "least", "most"],
            &senders.iter().zip(&rates).map(row).collect::<Vec<_>>(),
        )?;
        print(&rates)?;
    }
    Ok(())
}

fn signal_others(senders: &[Sender], n: usize, signal: &str) -> Result<()> {
    let others = senders.iter().enumerate().filter(|(other, _)| *other != n);
    others.map(|(_, other)| other).try_for_each(|other| other.signal(signal))
}

/// Starts all of [`SIDES`], in their order.
fn start(
    before: &Path,
    database: &Database,
    url: &str,
    folders: &[TempDir; 4],
) -> Result<Vec<(&'static str, Server, Option<Process>)>> {
    let (file, other) = (format!("sqlite:{DATABASE}"), database.another());
    let servers = [
        Server::start_program(before, folders[0].path(), &file)?,
        Server::start_on(folders[1].path(), &file)?,
        Server::start_program(before, folders[2].path(), &other)?,
        Server::start_on(folders[3].path(), url)?,
    ];
    let processes = [None, None, Some(database.process), Some(database.process)];
    Ok(SIDES.into_iter().zip(servers).zip(processes).map(|((name, server), process)| (name, server, process)).collect())
}

/// The ratios of rounds that followed each other, of what a CPU-second makes on all sides.
fn print(rates: &[Vec<f64>]) -> Result<()> {
    for (database, pair) in ["SQLite", "PostgreSQL"].into_iter().zip(rates.chunks(2)) {
        let ratios: Vec<f64> = pair[0].iter().zip(&pair[1]).map(|(before, now)| now / before).collect();
        let (least, median, most) = spread(&ratios);
        let text = format!("{} ({} to {})", percent(median), percent(least), percent(most));
        let name = format!("{database}: per CPU-second, of that before, median and spread");
        report::goal(&name, &text, "at least 95 %", median >= LEAST)?;
    }
    Ok(())
}

/// The least, the median and the most.
fn spread(values: &[f64]) -> (f64, f64, f64) {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let at = |place: usize| values.get(place).copied().unwrap_or_default();
    (at(0), at(values.len() / 2), at(values.len().saturating_sub(1)))
}
