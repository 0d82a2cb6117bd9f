//! An open connection: its prepared statements, and what goes over it in one round trip.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;

use futures_util::{TryStreamExt, future};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Statement};

use model::ids::AppId;

use super::batch::{self, Group, Needs};
use super::planned::{Planned, Reuse};
use super::{failure, sets, types};
use crate::app_numbers::AppNumbers;
use crate::db::{LockedApps, Value};
use crate::error::{Error, Result};

const CACHED_STATEMENTS: usize = 512;
const BEGIN_WRITING: &str = "begin isolation level read committed";

pub(super) struct Link {
    pub(super) client: Client,
    pub(super) driver: JoinHandle<()>,
    pub(super) statements: HashMap<String, Planned>,
    /// Statements for many rows, by the numbers of those for one; `None` where there is none.
    sets: HashMap<usize, Option<Planned>>,
}

/// How a transaction begins.
pub(super) enum Begin {
    Snapshot,
    Write,
    /// Other transactions that change these apps wait until this one ends. So the rows that a command reads before it writes are
    /// unchanged when it writes, on however many nodes, as on SQLite, where there is one writer.
    Lock(Statement, Vec<i64>),
}

/// Begins a transaction and locks its apps.
pub(super) struct Opening<'a> {
    pub(super) begin: Begin,
    pub(super) locked: &'a mut LockedApps,
}

/// A write that is prepared.
pub(super) enum Ready<'q> {
    One(Statement, &'q [Value]),
    Set(Statement, &'q [Vec<Value>]),
}

/// Questions of one kind that are prepared.
pub(super) struct Asked {
    pub(super) of: Arc<batch::Statement>,
    pub(super) statement: Statement,
    pub(super) rows: Vec<Vec<Value>>,
}

/// A write that failed.
pub(super) struct FailedWrite(tokio_postgres::Error);

impl FailedWrite {
    /// Whether the server has refused it, and with it the rest of the transaction.
    pub(super) fn is_answer(&self) -> bool {
        self.0.code().is_some()
    }
}

impl From<FailedWrite> for Error {
    fn from(failed: FailedWrite) -> Self {
        failure::classify(failed.0)
    }
}

impl Link {
    pub(super) fn new(client: Client, driver: JoinHandle<()>) -> Self {
        Self { client, driver, statements: HashMap::new(), sets: HashMap::new() }
    }

    pub(super) async fn prepare(&mut self, sql: &str) -> Result<Statement> {
        let known = self.statements.get_mut(sql);
        let n_uses = match known.map(Planned::use_again) {
            Some(Reuse::Ready(statement)) => return Ok(statement),
            Some(Reuse::PlanAgain { n_uses }) => n_uses,
            None => 0,
        };
        let statement = self.client.prepare(sql).await.map_err(failure::classify)?;
        if self.statements.len() == CACHED_STATEMENTS {
            self.statements.clear();
        }
        self.statements.insert(sql.to_owned(), Planned::new(statement.clone(), n_uses));
        Ok(statement)
    }

    /// The statement for many rows of parameters, if there is one.
    pub(super) async fn prepare_set(&mut self, of: &batch::Statement) -> Result<Option<Statement>> {
        let known = self.sets.get_mut(&of.number);
        let n_uses = match known.map(|known| known.as_mut().map(Planned::use_again)) {
            Some(None) => return Ok(None),
            Some(Some(Reuse::Ready(statement))) => return Ok(Some(statement)),
            Some(Some(Reuse::PlanAgain { n_uses })) => n_uses,
            None => 0,
        };
        let one = self.prepare(&of.sql).await?;
        let set = match sets::text(of, &one)? {
            Some(text) => Some(self.client.prepare(&text).await.map_err(failure::classify)?),
            None => None,
        };
        if self.sets.len() == CACHED_STATEMENTS {
            self.sets.clear();
        }
        self.sets.insert(of.number, set.clone().map(|set| Planned::new(set, n_uses)));
        Ok(set)
    }

    pub(super) async fn make_ready<'q>(&mut self, queue: &'q [Group]) -> Result<Vec<Ready<'q>>> {
        let mut ready = Vec::with_capacity(queue.len());
        for Group { statement, rows, .. } in queue {
            let one = self.prepare(&statement.sql).await?;
            if !rows.iter().all(|row| types::fit(row, one.params())) {
                return Err(Error::corrupt(format!("parameters do not fit: {}", statement.sql)));
            }
            let set = if rows.len() > 1 { self.prepare_set(statement).await? } else { None };
            match set {
                Some(set) => ready.extend(rows.chunks(sets::MOST_ROWS).map(|rows| Ready::Set(set.clone(), rows))),
                None => ready.extend(rows.iter().map(|row| Ready::One(one.clone(), row))),
            }
        }
        Ok(ready)
    }

    /// Sends writes one after the other, without waiting for the answer to each.
    pub(super) async fn send(&self, writes: &[Ready<'_>]) -> Result<(), FailedWrite> {
        future::try_join_all(writes.iter().map(|write| self.send_one(write))).await.map(drop).map_err(FailedWrite)
    }

    pub(super) async fn send_or_fail(&self, writes: &[Ready<'_>]) -> Result<()> {
        self.send(writes).await.map_err(Error::from)
    }

    pub(super) async fn commit(&self) -> Result<()> {
        self.run("commit").await
    }

    async fn send_one(&self, write: &Ready<'_>) -> Result<u64, tokio_postgres::Error> {
        match write {
            Ready::One(statement, row) => self.client.execute_raw(statement, *row).await,
            Ready::Set(statement, rows) => self.client.execute_raw(statement, sets::columns(rows)).await,
        }
    }

    pub(super) async fn ask(&mut self, needs: Needs) -> Result<Vec<Asked>> {
        let mut asked = Vec::new();
        for need in needs {
            let statement = self.prepare_set(&need.statement).await?;
            let statement = statement.ok_or_else(|| Error::corrupt(format!("no set: {}", need.statement.sql)))?;
            asked.push(Asked { of: need.statement, statement, rows: need.rows });
        }
        Ok(asked)
    }

    /// The answers for each row of parameters, in their order.
    pub(super) async fn answer(&self, Asked { statement, rows, .. }: &Asked) -> Result<Vec<Vec<tokio_postgres::Row>>> {
        let mut answers: Vec<Vec<_>> = std::iter::repeat_with(Vec::new).take(rows.len()).collect();
        let found = self.client.query_raw(statement, sets::columns(rows)).await.map_err(failure::classify)?;
        let mut found = pin!(found);
        while let Some(row) = found.try_next().await.map_err(failure::classify)? {
            // Counted from 1.
            let number: i64 = row.try_get(0).map_err(failure::classify)?;
            let index = usize::try_from(number - 1).ok().filter(|index| *index < answers.len());
            answers[index.ok_or_else(|| Error::corrupt("an answer to nothing"))?].push(row);
        }
        Ok(answers)
    }

    pub(super) async fn open(&self, opening: Option<Opening<'_>>) -> Result<()> {
        let Some(Opening { begin, locked }) = opening else { return Ok(()) };
        match begin {
            Begin::Snapshot => self.run("begin isolation level repeatable read, read only").await,
            Begin::Write => self.run(BEGIN_WRITING).await,
            Begin::Lock(statement, apps) => {
                future::try_join(self.run(BEGIN_WRITING), self.lock(&statement, apps, locked)).await.map(drop)
            }
        }
    }

    pub(super) async fn run(&self, sql: &str) -> Result<()> {
        self.client.batch_execute(sql).await.map_err(failure::classify)
    }

    async fn lock(&self, statement: &Statement, apps: Vec<i64>, locked: &mut LockedApps) -> Result<()> {
        for row in self.client.query(statement, &[&apps]).await.map_err(failure::classify)? {
            let mut columns = 0..row.len();
            let mut number = || row.try_get(columns.next().unwrap_or_default()).map_err(failure::classify);
            locked.add(AppId(number()?), AppNumbers::read(number)?);
        }
        Ok(())
    }
}
