//! `bench compare`: two builds of the server in turns, so that both meet the same noise; the ratio of every round, and how far the
//! rounds disagree.

use anyhow::Result;
use tempfile::TempDir;

use crate::Size;
use crate::clients::{self, Work};
use crate::databases::{self, Database, KINDS, Side};
use crate::report::{self, percent};
use crate::server::{DATABASE, Server};

/// What a change may cost.
const LEAST: f64 = 0.95;

pub(crate) async fn run(size: Size) -> Result<()> {
    let Some(before) = size.against else {
        return report::line("compare", "skipped: --against names no program to compare with");
    };
    report::heading(format_args!("This build beside {}, in turns", before.display()))?;
    report::progress("preparing");
    let database = Database::start()?;
    let folders = [TempDir::new()?, TempDir::new()?, TempDir::new()?, TempDir::new()?];
    let (file, other) = (format!("sqlite:{DATABASE}"), database.another());
    let servers = [
        ("SQLite, before", Server::start_program(before, folders[0].path(), &file)?, None),
        ("SQLite, now", Server::start_on(folders[1].path(), &file)?, None),
        ("PostgreSQL, before", Server::start_program(before, folders[2].path(), &other)?, Some(database.process)),
        ("PostgreSQL, now", Server::start_on(folders[3].path(), &database.url)?, Some(database.process)),
    ];
    let mut sides = Vec::new();
    for (name, server, process) in servers {
        sides.push(Side::new(name, vec![server], process, 1, size).await?);
    }
    databases::measure(&mut sides, &database, size).await?;
    for (kind, name) in KINDS.into_iter().enumerate() {
        report::heading(format_args!("{name}"))?;
        let rows: Vec<_> = sides.iter().map(|side| clients::row(&side.name, &side.rounds[kind])).collect();
        report::table(&clients::HEADING, &rows)?;
        for (database, pair) in ["SQLite", "PostgreSQL"].into_iter().zip(sides.chunks(2)) {
            print(database, &pair[0].rounds[kind], &pair[1].rounds[kind])?;
        }
    }
    Ok(())
}

/// The ratios of rounds that followed each other.
fn print(database: &str, before: &[Work], now: &[Work]) -> Result<()> {
    let mut ratios: Vec<f64> =
        before.iter().zip(now).map(|(before, now)| now.per_cpu_second() / before.per_cpu_second()).collect();
    ratios.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (ratios.first(), ratios.last()) else { return Ok(()) };
    let median = ratios[ratios.len() / 2];
    let text = format!("{} ({} to {})", percent(median), percent(*least), percent(*most));
    let name = format!("{database}: per CPU-second, of that before, median and spread");
    report::goal(&name, &text, "at least 95 %", median >= LEAST)
}
