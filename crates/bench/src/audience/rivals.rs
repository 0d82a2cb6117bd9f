//! The same questions asked of the index, of SQLite and of PostgreSQL.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Duration;

use anyhow::{Result, ensure};
use audience::index::Index;
use audience::plan::Plan;
use model::ids::{AppId, Ordinal, TermId};
use store::{Store, Tx, Value};
use testkit::store::{Database, Home};

use super::shapes::Shape;
use super::sql::{EVERYONE, OverMembers, over_tokens, token};
use crate::population::Population;
use crate::report;
use crate::sample::{Effort, Sample};
use crate::usage::{self, Process};

pub(super) const EFFORT: Effort = Effort { time: Duration::from_secs(1), at_least: 3, at_most: 1_000_000 };
const NOBODY: AppId = AppId(0);
const CHANNELS_PER_INSERT: u32 = 10_000;
const MEMBERS_PER_INSERT: usize = 100_000;

/// One audience, counted and read out.
pub(crate) struct Answers {
    pub(crate) found: u64,
    pub(crate) count: Sample,
    pub(crate) all: Sample,
}

/// A database with the same channels.
pub(crate) struct Rival {
    store: Store,
    _home: Home,
    /// How many channels have each term; not needed for a database with statistics of its own.
    sizes: HashMap<TermId, u64>,
}

pub(crate) fn ask_index(index: &Index, shape: &Shape, effort: &Effort) -> Result<Answers> {
    let plan = shape.tree.plan();
    let cpu = || Process::own().cpu();
    let found = index.count(&plan);
    let count = Sample::take(effort, cpu, || {
        ensure!(index.count(&plan) == found, "Counting twice gave two answers.");
        Ok(())
    })?;
    // A database returns every channel, so here every channel is visited as well.
    let all = Sample::take(effort, cpu, || {
        let mut n_channels = 0;
        for ordinal in index.resolve(&plan) {
            black_box(ordinal);
            n_channels += 1;
        }
        ensure!(n_channels == found, "Counting and resolving gave two answers.");
        Ok(())
    })?;
    Ok(Answers { found, count, all })
}

impl Rival {
    pub(crate) async fn sqlite(population: &Population, index: &Index, n_channels: u32) -> Result<Self> {
        report::progress("filling SQLite");
        let (store, home) = testkit::store::fresh(Database::Sqlite).await;
        let create = "create table member (term bigint not null, ordinal bigint not null, primary key (term, ordinal)) \
                      without rowid";
        store.write(NOBODY, move |tx| tx.execute(create, &[])).await?;
        let mut members: Vec<(i64, u32)> = (0..n_channels).map(|ordinal| (EVERYONE, ordinal)).collect();
        let mut sizes = HashMap::new();
        for term in 0..u32::try_from(population.terms().len())? {
            let term = TermId(term);
            let holders = index.resolve(&Plan::Term(term));
            sizes.insert(term, holders.len());
            members.extend(holders.into_iter().map(|ordinal| (i64::from(term.0), ordinal)));
            if members.len() >= MEMBERS_PER_INSERT {
                insert_members(&store, std::mem::take(&mut members)).await?;
            }
        }
        insert_members(&store, members).await?;
        store.write(NOBODY, |tx| tx.execute("analyze", &[])).await?;
        Ok(Self { store, _home: home, sizes })
    }

    pub(crate) async fn postgres(population: &Population, n_channels: u32) -> Result<Self> {
        report::progress("filling PostgreSQL");
        let (store, home) = testkit::store::fresh(Database::Postgres).await;
        let create = "create table tokened (ordinal bigint primary key, tokens pg_catalog.text[] not null)";
        store.write(NOBODY, move |tx| tx.execute(create, &[])).await?;
        for first in (0..n_channels).step_by(CHANNELS_PER_INSERT as usize) {
            let last = n_channels.min(first.saturating_add(CHANNELS_PER_INSERT));
            let lines: Result<Vec<String>> = (first..last).map(|ordinal| tokens(population, ordinal)).collect();
            let lines = lines?.join(";");
            let insert = "insert into tokened select cast($1 as bigint) + n - 1, string_to_array(line, ',')
                          from unnest(string_to_array(cast($2 as pg_catalog.text), ';')) with ordinality as lines (line, n)";
            let values = [Value::from(first), Value::from(lines)];
            store.write(NOBODY, move |tx| tx.execute(insert, &values)).await?;
        }
        report::progress("indexing PostgreSQL");
        let index = "create index tokened_by_token on tokened using gin (tokens)";
        store
            .write(NOBODY, move |tx| {
                tx.execute("set local maintenance_work_mem = '512MB'", &[])?;
                tx.execute(index, &[])?;
                tx.execute("analyze tokened", &[])
            })
            .await?;
        Ok(Self { store, _home: home, sizes: HashMap::new() })
    }

    /// Asks for every audience. The database answers from memory and with one thread.
    pub(crate) async fn ask(self, shapes: &[Shape], effort: Effort) -> Result<Vec<Answers>> {
        report::progress("asking");
        let is_sqlite = self.store.is_single_process();
        let questions: Vec<(String, String)> = match is_sqlite {
            true => {
                let size = |term: TermId| self.sizes.get(&term).copied().unwrap_or(0);
                let over = OverMembers { size: &size };
                shapes.iter().map(|shape| (over.count(&shape.tree), over.all(&shape.tree))).collect()
            }
            false => shapes.iter().map(|shape| over_tokens(&shape.tree)).map(|condition| tokened(&condition)).collect(),
        };
        // A transaction that only reads may not change the settings of its connection.
        let answers = self.store.write(NOBODY, move |tx| {
            let backend = if is_sqlite { prepare_sqlite(tx)? } else { prepare_postgres(tx)? };
            questions.iter().map(|(count, all)| ask(tx, backend, (count, all), &effort)).collect::<Result<Vec<_>>>()
        });
        let answers = answers.await?;
        self.store.close().await;
        Ok(answers)
    }
}

fn tokens(population: &Population, ordinal: u32) -> Result<String> {
    let held = population.terms_of(Ordinal(ordinal)).into_iter();
    let tokens = held.map(|position| Ok(token(TermId(u32::try_from(position)?))));
    Ok(tokens.collect::<Result<Vec<_>>>()?.join(","))
}

fn tokened(condition: &str) -> (String, String) {
    (
        format!("select count(*) from tokened where {condition}"),
        format!("select ordinal from tokened where {condition}"),
    )
}

async fn insert_members(store: &Store, members: Vec<(i64, u32)>) -> Result<()> {
    let insert = "insert into member (term, ordinal) values ($1, $2)";
    let write = store.write(NOBODY, move |tx| {
        tx.execute_many(insert, members.iter().map(|(term, ordinal)| [Value::from(*term), Value::from(*ordinal)]))
    });
    write.await?;
    Ok(())
}

/// Enough cache for the whole table, as an operator would give it.
fn prepare_sqlite(tx: &mut Tx<'_>) -> Result<Option<Process>> {
    tx.for_each("pragma cache_size = -1000000", &[], |_| Ok(()))?;
    Ok(None)
}

/// The process that answers, whose CPU time counts.
fn prepare_postgres(tx: &mut Tx<'_>) -> Result<Option<Process>> {
    for setting in ["work_mem = '64MB'", "jit = off", "max_parallel_workers_per_gather = 0"] {
        tx.execute(&format!("set local {setting}"), &[])?;
    }
    let number: u32 = tx.query_one("select pg_backend_pid()", &[], |row| row.get(0))?;
    Ok(Some(Process(number)))
}

fn ask(tx: &mut Tx<'_>, backend: Option<Process>, (count, all): (&str, &str), effort: &Effort) -> Result<Answers> {
    let cpu = || match backend {
        Some(process) => process.first_thread_cpu(),
        None => usage::thread_cpu(),
    };
    let found: i64 = tx.query_one(count, &[], |row| row.get(0))?;
    let found = u64::try_from(found)?;
    let count = Sample::take(effort, cpu, || {
        tx.query_one::<i64>(count, &[], |row| row.get(0))?;
        Ok(())
    })?;
    let all = Sample::take(effort, cpu, || {
        let mut n_rows = 0;
        tx.for_each(all, &[], |row| {
            row.get::<i64>(0)?;
            n_rows += 1;
            Ok(())
        })?;
        ensure!(n_rows == found, "{n_rows} channels were read of {found} that were counted.");
        Ok(())
    })?;
    Ok(Answers { found, count, all })
}
