//! PostgreSQL: a connection with its own event loop, driven only by the thread that owns it.

pub(crate) mod address;
mod batch;
mod bulk;
mod catalog;
mod citus;
pub(crate) mod failure;
mod link;
pub(crate) mod listener;
mod planned;
mod pooling;
mod preparation;
pub(crate) mod server;
mod session;
mod sets;
mod tls;
mod types;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, TryFutureExt, TryStreamExt, future, stream};
use tokio::runtime::Runtime;

use model::ids::AppId;

use super::{Access, FailedCommit, LockedApps, Row, Rows, Value, Visit};
use crate::app_numbers::AppNumbers;
use crate::apps::OPERATOR;
use crate::error::{Cause, Error, Result};
use address::CONNECT_TIMEOUT;
use batch::{Batch, Group};
use link::{Begin, Link, Opening};
use server::Server;
use session::Purpose;

pub(super) use batch::Suspended;
pub(super) use catalog::{
    BIGGEST_TABLES, IS_SERVED, LIVING_NODES, LOCK, LOCK_FOR_COPY, NODE_LOCKS, NOTHING, PRIVILEGES, SERVER_FACTS,
    SETTINGS, STANDBYS, TIME,
};
pub(super) use citus::{PLACES, is_spread, prepare as prepare_citus, spread_next};
pub(crate) use pooling::refuse_shared_sessions;
pub(super) use preparation::{prepare_database, tune_tables};

/// Statements of one `execute_many` that are in flight at the same time.
const STATEMENTS_IN_FLIGHT: usize = 256;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Locks the rows of apps, in the order that all nodes keep to. Where apps are spread over servers it is one app, by which Citus
/// finds the server without planning.
fn lock_apps(is_spread: bool) -> String {
    let wanted = if is_spread { "app = $1" } else { "app = any($1::pg_catalog.int8[]) order by app" };
    format!("select app, {} from app_numbers where {wanted} for update", AppNumbers::COLUMNS)
}

pub(crate) struct PostgresConnection {
    server: Arc<Server>,
    runtime: Runtime,
    link: Option<Link>,
    /// A `begin` sent together with the first statement, which saves waiting for its answer.
    opening: Option<Begin>,
    locked: LockedApps,
    batch: Box<Batch>,
    purpose: Purpose,
}

impl PostgresConnection {
    /// For batches of commands. Connects when it is first needed.
    pub(crate) fn writer(server: Arc<Server>) -> Result<Self> {
        Self::new(server, Purpose::Write)
    }

    /// Connects when it is first needed.
    pub(crate) fn reader(server: Arc<Server>) -> Result<Self> {
        Self::new(server, Purpose::Read)
    }

    /// For work without a time limit. Connects when it is first needed.
    pub(crate) fn maintainer(server: Arc<Server>) -> Result<Self> {
        Self::new(server, Purpose::Maintain)
    }

    fn new(server: Arc<Server>, purpose: Purpose) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::Unavailable(Cause::new("no event loop", error)))?;
        let (locked, batch) = (LockedApps::default(), Box::default());
        Ok(Self { server, runtime, link: None, opening: None, locked, batch, purpose })
    }

    pub(super) fn for_each(&mut self, sql: &str, params: &[Value], visit: &mut Visit<'_>) -> Result<()> {
        if self.batch.is_gathering {
            return self.batch.look_up(sql, params)?.visit(visit);
        }
        let queue = self.queue_before(sql, params);
        let (runtime, link, opening) = self.parts()?;
        runtime.block_on(async {
            let statement = link.prepare(sql).await?;
            let ready = link.make_ready(&queue).await?;
            let rows = link.client.query_raw(&statement, params).map_err(failure::classify);
            let ((), (), rows) = future::try_join3(link.open(opening), link.send_or_fail(&ready), rows).await?;
            let mut rows = pin!(rows);
            while let Some(row) = rows.try_next().await.map_err(failure::classify)? {
                visit(&Row::postgres(&row))?;
            }
            Ok(())
        })
    }

    pub(super) fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64> {
        if self.batch.is_gathering {
            return Err(self.batch.suspend(Suspended::ToRunAlone));
        }
        let queue = self.queue_before(sql, params);
        let (runtime, link, opening) = self.parts()?;
        runtime.block_on(async {
            let statement = link.prepare(sql).await?;
            let ready = link.make_ready(&queue).await?;
            let changed = link.client.execute_raw(&statement, params).map_err(failure::classify);
            let ((), (), changed) = future::try_join3(link.open(opening), link.send_or_fail(&ready), changed).await?;
            Ok(changed)
        })
    }

    /// As [`Self::execute`], for a statement whose answer nobody waits for: it leaves with others, before the next statement that
    /// may concern the same rows, or with the commit.
    pub(super) fn write(&mut self, sql: &str, params: &[Value]) -> Result<()> {
        if self.batch.is_gathering && self.opening.is_some() {
            return Err(self.batch.suspend(Suspended::UntilKnown));
        }
        // Whether the app exists is known once the transaction has begun.
        self.open()?;
        if self.batch.is_gathering {
            self.batch.stage(sql, params);
        } else {
            self.batch.enqueue(sql, params);
        }
        Ok(())
    }

    pub(super) fn execute_many(&mut self, sql: &str, rows: &mut Rows<'_>) -> Result<u64> {
        if self.batch.is_gathering {
            return Err(self.batch.suspend(Suspended::ToRunAlone));
        }
        self.send_queue()?;
        let (runtime, link, opening) = self.parts()?;
        runtime.block_on(async {
            let statement = &link.prepare(sql).await?;
            let client = &link.client;
            link.open(opening).await?;
            stream::iter(rows)
                .map(|row| async move { client.execute_raw(statement, (*row).as_ref()).await })
                .buffered(STATEMENTS_IN_FLIGHT)
                .try_fold(0, |sum, changed| future::ready(Ok(sum + changed)))
                .await
                .map_err(failure::classify)
        })
    }

    pub(super) fn for_each_of_many(&mut self, sql: &str, rows: &mut Rows<'_>, visit: &mut Visit<'_>) -> Result<()> {
        if self.batch.is_gathering {
            // All of them are asked for before the command is put aside for one.
            let answers: Vec<_> = rows.map(|row| self.batch.look_up(sql, (*row).as_ref())).collect();
            let answers = answers.into_iter().collect::<Result<Vec<_>>>()?;
            return answers.iter().try_for_each(|answer| answer.visit(visit));
        }
        self.send_queue()?;
        let (runtime, link, opening) = self.parts()?;
        runtime.block_on(async {
            let statement = &link.prepare(sql).await?;
            let client = &link.client;
            link.open(opening).await?;
            let answers =
                stream::iter(rows)
                    .map(|row| async move {
                        client.query_raw(statement, (*row).as_ref()).await?.try_collect::<Vec<_>>().await
                    })
                    .buffered(STATEMENTS_IN_FLIGHT);
            let mut answers = pin!(answers);
            while let Some(rows) = answers.try_next().await.map_err(failure::classify)? {
                rows.iter().try_for_each(|row| visit(&Row::postgres(row)))?;
            }
            Ok(())
        })
    }

    /// A question that the running command is going to ask.
    pub(super) fn foresee(&mut self, sql: &str, params: &[Value]) {
        if self.batch.is_gathering {
            self.batch.foresee(sql, params);
        }
    }

    /// Runs the next commands against what is known, until [`Self::stop_gathering`].
    pub(super) fn start_gathering(&mut self) {
        self.batch.is_gathering = true;
    }

    pub(super) fn stop_gathering(&mut self) {
        self.batch.stop_gathering();
    }

    /// Puts the command aside if it is run against what is known.
    pub(super) fn leave_gathering(&mut self) -> Result<()> {
        if self.batch.is_gathering { Err(self.batch.suspend(Suspended::ToRunAlone)) } else { Ok(()) }
    }

    /// Ends a command that was run against what is known.
    pub(super) fn end_command(&mut self, is_kept: bool) -> Option<Suspended> {
        self.batch.end_command(is_kept)
    }

    /// Reads what the commands that were put aside have asked for.
    pub(super) fn read_needs(&mut self) -> Result<()> {
        let (queue, needs) = self.batch.take_needs();
        let queue: Vec<Group> = queue.into_groups().collect();
        let (runtime, link, opening) = self.parts()?;
        let answers = runtime.block_on(async {
            let ready = link.make_ready(&queue).await?;
            let asked = link.ask(needs).await?;
            let answers = future::try_join_all(asked.iter().map(|asked| link.answer(asked)));
            let ((), (), answers) = future::try_join3(link.open(opening), link.send_or_fail(&ready), answers).await?;
            Ok::<_, Error>(asked.into_iter().zip(answers).collect::<Vec<_>>())
        })?;
        for (asked, answers) in answers {
            for (params, rows) in asked.rows.iter().zip(answers) {
                self.batch.learn(&asked.of, params, rows);
            }
        }
        Ok(())
    }

    /// Sends everything that is queued.
    pub(super) fn send_queue(&mut self) -> Result<()> {
        let queue: Vec<Group> = self.batch.take_queue().into_groups().collect();
        if queue.is_empty() {
            return Ok(());
        }
        let (runtime, link, opening) = self.parts()?;
        runtime.block_on(async {
            let ready = link.make_ready(&queue).await?;
            future::try_join(link.open(opening), link.send_or_fail(&ready)).await.map(drop)
        })
    }

    pub(super) fn drop_queue(&mut self) {
        self.batch.take_queue();
    }

    /// What is queued, if it must be sent before a statement.
    fn queue_before(&mut self, sql: &str, params: &[Value]) -> Vec<Group> {
        if self.batch.concerns(sql, params) { self.batch.take_queue().into_groups().collect() } else { Vec::new() }
    }

    pub(super) fn begin(&mut self, access: Access<'_>) -> Result<()> {
        // Lets the event loop see whether the server has hung up since the last transaction.
        self.runtime.block_on(async {
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
        });
        self.link.take_if(|link| link.client.is_closed());
        self.connect()?;
        self.locked = LockedApps::default();
        self.batch.start();
        self.batch.is_spread = self.server.is_spread();
        let begin = match access {
            Access::Snapshot => Begin::Snapshot,
            Access::Write(apps) => {
                self.locked = LockedApps::none_found(apps);
                self.begin_writing(apps)?
            }
        };
        self.opening = Some(begin);
        Ok(())
    }

    fn begin_writing(&mut self, apps: &[AppId]) -> Result<Begin> {
        let apps: Vec<i64> = apps.iter().filter(|app| **app != OPERATOR).map(|app| app.0).collect();
        if apps.is_empty() {
            return Ok(Begin::Write);
        }
        let (runtime, link, _) = self.parts()?;
        let lock = runtime.block_on(link.prepare(&lock_apps(link.is_spread)))?;
        Ok(Begin::Lock(lock, apps))
    }

    /// Known once the transaction is open.
    pub(super) fn locked(&self) -> Option<&LockedApps> {
        self.opening.is_none().then_some(&self.locked)
    }

    /// Sends the `begin` that is still to be sent, if there is one.
    pub(super) fn open(&mut self) -> Result<()> {
        if self.opening.is_none() {
            return Ok(());
        }
        if self.batch.is_gathering {
            return Err(self.batch.suspend(Suspended::UntilKnown));
        }
        let (runtime, link, opening) = self.parts()?;
        runtime.block_on(link.open(opening))
    }

    /// Sends everything that is queued, and commits.
    pub(super) fn commit(&mut self) -> Result<(), FailedCommit> {
        let queue: Vec<Group> = self.batch.take_queue().into_groups().collect();
        if queue.is_empty() {
            return self.end("commit").map_err(|error| FailedCommit { error, is_undone: false });
        }
        let (runtime, link, opening) = self.parts().map_err(|error| FailedCommit { error, is_undone: true })?;
        runtime.block_on(async {
            let ready = link.make_ready(&queue).await.map_err(|error| FailedCommit { error, is_undone: true })?;
            let (opened, sent, committed) = future::join3(link.open(opening), link.send(&ready), link.commit()).await;
            // The server answers a commit after a failed statement by rolling back, and says so only by that failure. Without an
            // answer to the statement it is not known what became of the commit.
            opened.map_err(|error| FailedCommit { error, is_undone: false })?;
            sent.map_err(|failed| FailedCommit { is_undone: failed.is_answer(), error: failed.into() })?;
            committed.map_err(|error| FailedCommit { error, is_undone: false })
        })
    }

    /// Ends a transaction that has failed, perhaps with an error of the server.
    pub(super) fn rollback(&mut self, failure: Option<&Error>) {
        self.batch.start();
        // The server rolls back by itself when the connection goes. A new one may lead to a server that takes changes.
        if self.end("rollback").is_err() || failure.is_some_and(failure::is_of_standby) {
            self.link = None;
        }
    }

    pub(super) fn wait<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    pub(super) fn close(self) {
        if let Some(link) = self.link {
            drop((link.client, link.statements));
            // Lets the driver say goodbye to the server.
            let _ = self.runtime.block_on(async { tokio::time::timeout(CONNECT_TIMEOUT, link.driver).await });
        }
    }

    /// Makes the connection, if there is none.
    pub(crate) fn connect(&mut self) -> Result<()> {
        if self.link.is_some() {
            return Ok(());
        }
        self.server.check()?;
        let connected = self.runtime.block_on(async {
            let (client, connection) = self.server.connect(self.purpose).await?;
            let driver = tokio::spawn(async move {
                if let Err(error) = connection.await {
                    // The next caller reconnects, and reports if that fails.
                    tracing::debug!(error = failure::text(&error), "a connection to PostgreSQL was lost");
                }
            });
            let is_spread = self.server.is_spread();
            if is_spread {
                client.batch_execute(citus::SESSION).await.map_err(failure::classify)?;
            }
            Ok(Link::new(client, driver, is_spread))
        });
        match connected {
            Ok(link) => {
                self.link = Some(link);
                self.server.answered();
                Ok(())
            }
            Err(error) => {
                self.server.failed(&error);
                Err(error)
            }
        }
    }

    fn end(&mut self, sql: &str) -> Result<()> {
        if self.opening.take().is_some() {
            return Ok(()); // Nothing was sent, so there is nothing to end.
        }
        let (runtime, link, _) = self.parts()?;
        runtime.block_on(link.run(sql))
    }

    fn parts(&mut self) -> Result<(&Runtime, &mut Link, Option<Opening<'_>>)> {
        let link = self.link.as_mut().ok_or_else(|| Error::unavailable("the connection to PostgreSQL was lost"))?;
        let opening = self.opening.take().map(|begin| Opening { begin, locked: &mut self.locked });
        Ok((&self.runtime, link, opening))
    }
}
