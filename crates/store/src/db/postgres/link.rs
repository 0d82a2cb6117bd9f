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
/// New rows that are listed in one statement, where apps are spread over servers.
const MOST_LISTED: usize = 64;

pub(super) struct Link {
    pub(super) client: Client,
    pub(super) driver: JoinHandle<()>,
    pub(super) statements: HashMap<String, Planned>,
    /// Statements for many rows, by the numbers of those for one; `None` where there is none.
    sets: HashMap<usize, Option<Planned>>,
    /// Whether apps are spread over several servers.
    pub(super) is_spread: bool,
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
    /// With the parameter that is the same in all rows, if one is to be.
    Set(Statement, &'q [Vec<Value>], Option<usize>),
    /// Of new rows that are listed one after the other.
    List(Statement, &'q [Vec<Value>]),
}

/// Questions of one kind that are prepared.
pub(super) struct Asked {
    pub(super) of: Arc<batch::Statement>,
    pub(super) statement: Statement,
    pub(super) rows: Vec<Vec<Value>>,
    params: AskedFor,
}

/// How the parameters of questions are sent.
enum AskedFor {
    /// As columns, but for one that is the same in all rows, if one is to be.
    Many(Option<usize>),
    /// As they are.
    One,
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
    pub(super) fn new(client: Client, driver: JoinHandle<()>, is_spread: bool) -> Self {
        Self { client, driver, statements: HashMap::new(), sets: HashMap::new(), is_spread }
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
        let kept = self.kept(of);
        let set = match sets::text(of, &one, kept)? {
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
            if self.is_spread && rows.len() > 1 {
                self.make_ready_spread(statement, &one, rows, &mut ready).await?;
                continue;
            }
            let set = if rows.len() > 1 { self.prepare_set(statement).await? } else { None };
            match set {
                Some(set) => ready.extend(rows.chunks(sets::MOST_ROWS).map(|rows| Ready::Set(set.clone(), rows, None))),
                None => ready.extend(rows.iter().map(|row| Ready::One(one.clone(), row))),
            }
        }
        Ok(ready)
    }

    /// As [`Self::make_ready`] for one statement and several rows, where apps are spread over servers.
    async fn make_ready_spread<'q>(
        &mut self,
        statement: &batch::Statement,
        one: &Statement,
        rows: &'q [Vec<Value>],
        ready: &mut Vec<Ready<'q>>,
    ) -> Result<()> {
        let mut rest = rows;
        while rest.len() > 1 {
            // Few sizes, so that there are few statements.
            let n_rows = MOST_LISTED.min(1 << rest.len().ilog2());
            let Some(text) = sets::listing(statement, one.params().len(), n_rows) else { break };
            let list = self.prepare(&text).await?;
            let (listed, others) = rest.split_at(n_rows);
            ready.push(Ready::List(list, listed));
            rest = others;
        }
        let kept = self.kept(statement);
        if let Some(place) = kept
            && rest.len() > 1
            && sets::is_same(rest, place)
            && let Some(set) = self.prepare_set(statement).await?
        {
            ready.extend(rest.chunks(sets::MOST_ROWS).map(|rows| Ready::Set(set.clone(), rows, kept)));
        } else {
            ready.extend(rest.iter().map(|row| Ready::One(one.clone(), row)));
        }
        Ok(())
    }

    /// The parameter that tells the server, where apps are spread over several.
    fn kept(&self, of: &batch::Statement) -> Option<usize> {
        of.shape.place.filter(|_| self.is_spread)
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
            Ready::Set(statement, rows, kept) => self.client.execute_raw(statement, sets::columns(rows, *kept)).await,
            Ready::List(statement, rows) => {
                self.client.execute_raw(statement, rows.iter().flatten().collect::<Vec<_>>()).await
            }
        }
    }

    pub(super) async fn ask(&mut self, needs: Needs) -> Result<Vec<Asked>> {
        let mut asked = Vec::new();
        for need in needs {
            // Citus plans it many times quicker than a set of one.
            if self.is_spread
                && need.rows.len() == 1
                && let Some(text) = sets::one(&need.statement)
            {
                let statement = self.prepare(&text).await?;
                asked.push(Asked { of: need.statement, statement, rows: need.rows, params: AskedFor::One });
                continue;
            }
            let statement = self.prepare_set(&need.statement).await?;
            let statement = statement.ok_or_else(|| Error::corrupt(format!("no set: {}", need.statement.sql)))?;
            let (kept, mut rows) = (self.kept(&need.statement), need.rows);
            while !rows.is_empty() {
                // Most of the time all are about the same app.
                let app = kept.and_then(|place| rows[0].get(place - 1).cloned());
                let is_of_app = |row: &Vec<Value>| kept.is_none_or(|place| row.get(place - 1) == app.as_ref());
                let (of_app, others) = rows.into_iter().partition(is_of_app);
                let (of, statement) = (Arc::clone(&need.statement), statement.clone());
                asked.push(Asked { of, statement, rows: of_app, params: AskedFor::Many(kept) });
                rows = others;
            }
        }
        Ok(asked)
    }

    /// The answers for each row of parameters, in their order.
    pub(super) async fn answer(
        &self,
        Asked { statement, rows, params, .. }: &Asked,
    ) -> Result<Vec<Vec<tokio_postgres::Row>>> {
        let mut answers: Vec<Vec<_>> = std::iter::repeat_with(Vec::new).take(rows.len()).collect();
        let found = match params {
            AskedFor::Many(kept) => self.client.query_raw(statement, sets::columns(rows, *kept)).await,
            AskedFor::One => {
                self.client.query_raw(statement, rows.first().map(Vec::as_slice).unwrap_or_default()).await
            }
        };
        let found = found.map_err(failure::classify)?;
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
        let found = match apps[..] {
            [app] if self.is_spread => self.client.query(statement, &[&app]).await,
            _ => self.client.query(statement, &[&apps]).await,
        };
        for row in found.map_err(failure::classify)? {
            let mut columns = 0..row.len();
            let mut number = || row.try_get(columns.next().unwrap_or_default()).map_err(failure::classify);
            locked.add(AppId(number()?), AppNumbers::read(number)?);
        }
        Ok(())
    }
}
