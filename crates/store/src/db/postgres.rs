//! PostgreSQL: a connection with its own event loop, driven only by the thread that owns it.

mod bulk;
mod failure;
pub(crate) mod listener;
pub(crate) mod server;
mod tls;
mod types;

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, TryFutureExt, TryStreamExt, future, stream};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, SimpleQueryMessage, Statement};

use model::ids::AppId;

use super::{Access, LockedApps, Row, Rows, Tx, Value, Visit};
use crate::app_numbers::AppNumbers;
use crate::apps::OPERATOR;
use crate::error::{Cause, Error, Result};
use server::{CONNECT_TIMEOUT, Server};

const CACHED_STATEMENTS: usize = 512;
/// Statements of one `execute_many` that are in flight at the same time.
const STATEMENTS_IN_FLIGHT: usize = 256;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How long the server waits for the next statement of a transaction that writes. A node that freezes or is
/// cut off in the middle of one has the rows of its apps locked, and all other nodes would wait for it.
/// Leases of jobs last a little longer than this.
const IDLE_LIMIT_MS: u32 = 10_000;

/// Our tables have a schema to themselves. It comes before the system's, so that `text` means ours. JIT
/// compilation of a statement takes longer than running any of ours, and the planner would do it to every
/// recursive one.
const SESSION: &str = "set search_path = aerogram, pg_catalog; set jit = off";
/// The number is arbitrary; only our own programs take this lock.
pub(super) const LOCK: &str = "select pg_advisory_xact_lock(4703278012655316)";
/// Held until the connection ends.
pub(super) const LOCK_FOR_COPY: &str = "select pg_try_advisory_lock(4703278012655317)";
/// The application name of our connections; if the URL sets another, this connection has the same.
pub(super) const IS_SERVED: &str = "select count(*) > 0 from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()
     and application_name in ('aerogram', current_setting('application_name'))";

pub(super) fn prepare_database(tx: &mut Tx<'_>) -> Result<()> {
    tx.execute("create schema if not exists aerogram", &[])?;
    let types = [
        ("blob", "create domain aerogram.blob as pg_catalog.bytea"),
        ("text", "create domain aerogram.text as pg_catalog.text collate pg_catalog.\"C\""),
    ];
    for (name, create) in types {
        let found = "select count(*) from pg_type t join pg_namespace n on n.oid = t.typnamespace \
                     where n.nspname = 'aerogram' and t.typname = cast($1 as pg_catalog.text)";
        if tx.query_one(found, &[name.into()], |row| row.get::<i64>(0))? == 0 {
            tx.execute(create, &[])?;
        }
    }
    Ok(())
}

/// The rest of a `begin` that locks the rows of apps: other transactions that change these apps wait until
/// this one ends. So the rows that a command reads before it writes are unchanged when it writes, on however
/// many nodes, as on SQLite, where there is one writer.
///
/// A transaction without apps migrates or copies, and has no time limit.
fn lock_apps(apps: &[AppId]) -> String {
    if apps.is_empty() {
        return String::new();
    }
    let limit = format!("; set local idle_in_transaction_session_timeout = {IDLE_LIMIT_MS}");
    let ids: Vec<String> = apps.iter().filter(|app| **app != OPERATOR).map(|app| app.0.to_string()).collect();
    if ids.is_empty() {
        return limit;
    }
    let (columns, ids) = (AppNumbers::COLUMNS, ids.join(", "));
    format!("{limit}; select id, {columns} from app where id in ({ids}) order by id for update")
}

pub(crate) struct PostgresConnection {
    server: Arc<Server>,
    runtime: Runtime,
    link: Option<Link>,
    /// A `begin` sent together with the first statement, which saves waiting for its answer.
    opening: Option<String>,
    locked: LockedApps,
}

struct Link {
    client: Client,
    driver: JoinHandle<()>,
    statements: HashMap<String, Statement>,
}

/// Begins a transaction and locks its apps.
struct Opening<'a> {
    begin: String,
    locked: &'a mut LockedApps,
}

impl PostgresConnection {
    /// Connects when it is first needed.
    pub(crate) fn new(server: Arc<Server>) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::Unavailable(Cause::new("no event loop", error)))?;
        Ok(Self { server, runtime, link: None, opening: None, locked: LockedApps::default() })
    }

    pub(super) fn for_each(&mut self, sql: &str, params: &[Value], visit: &mut Visit<'_>) -> Result<()> {
        let (runtime, link, opening) = self.parts()?;
        runtime.block_on(async {
            let statement = link.prepare(sql).await?;
            let rows = link.client.query_raw(&statement, params).map_err(failure::classify);
            let ((), rows) = future::try_join(link.open(opening), rows).await?;
            let mut rows = pin!(rows);
            while let Some(row) = rows.try_next().await.map_err(failure::classify)? {
                visit(&Row::postgres(&row))?;
            }
            Ok(())
        })
    }

    pub(super) fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64> {
        let (runtime, link, opening) = self.parts()?;
        runtime.block_on(async {
            let statement = link.prepare(sql).await?;
            let changed = link.client.execute_raw(&statement, params).map_err(failure::classify);
            let ((), changed) = future::try_join(link.open(opening), changed).await?;
            Ok(changed)
        })
    }

    pub(super) fn execute_many(&mut self, sql: &str, rows: &mut Rows<'_>) -> Result<u64> {
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

    pub(super) fn begin(&mut self, access: Access<'_>) -> Result<()> {
        // Lets the event loop see whether the server has hung up since the last transaction.
        self.runtime.block_on(async {
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
        });
        self.link.take_if(|link| link.client.is_closed());
        if self.link.is_none() {
            self.connect()?;
        }
        self.locked = LockedApps::default();
        self.opening = Some(match access {
            Access::Snapshot => "begin isolation level repeatable read, read only".to_owned(),
            Access::Write(apps) => {
                self.locked = LockedApps::none_found(apps);
                format!("begin isolation level read committed{}", lock_apps(apps))
            }
        });
        Ok(())
    }

    /// Known once the transaction is open.
    pub(super) fn locked(&self) -> &LockedApps {
        &self.locked
    }

    /// Sends the `begin` that is still to be sent, if there is one.
    pub(super) fn open(&mut self) -> Result<()> {
        let (runtime, link, opening) = self.parts()?;
        runtime.block_on(link.open(opening))
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        self.end("commit")
    }

    pub(super) fn rollback(&mut self) {
        if self.end("rollback").is_err() {
            // The server rolls back by itself when the connection goes.
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

    fn connect(&mut self) -> Result<()> {
        self.server.check()?;
        let connected = self.runtime.block_on(async {
            let (client, connection) = self.server.connect().await?;
            let driver = tokio::spawn(async move {
                if let Err(error) = connection.await {
                    // The next caller reconnects, and reports if that fails.
                    tracing::debug!(error = failure::text(&error), "a connection to PostgreSQL was lost");
                }
            });
            client.batch_execute(SESSION).await?;
            Ok(Link { client, driver, statements: HashMap::new() })
        });
        match connected {
            Ok(link) => {
                self.link = Some(link);
                self.server.answered();
                Ok(())
            }
            Err(error) => {
                let error = failure::connecting(error);
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
        runtime.block_on(link.client.batch_execute(sql)).map_err(failure::classify)
    }

    fn parts(&mut self) -> Result<(&Runtime, &mut Link, Option<Opening<'_>>)> {
        let link = self.link.as_mut().ok_or_else(|| Error::unavailable("the connection to PostgreSQL was lost"))?;
        let opening = self.opening.take().map(|begin| Opening { begin, locked: &mut self.locked });
        Ok((&self.runtime, link, opening))
    }
}

impl Link {
    async fn prepare(&mut self, sql: &str) -> Result<Statement> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await.map_err(failure::classify)?;
        if self.statements.len() == CACHED_STATEMENTS {
            self.statements.clear();
        }
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    async fn open(&self, opening: Option<Opening<'_>>) -> Result<()> {
        let Some(Opening { begin, locked }) = opening else { return Ok(()) };
        for message in self.client.simple_query(&begin).await.map_err(failure::classify)? {
            if let SimpleQueryMessage::Row(row) = message {
                // Such an answer is all text.
                let mut cells = 0..row.len();
                let mut number = || {
                    let text = cells.next().and_then(|index| row.get(index));
                    let number = text.and_then(|text| text.parse().ok());
                    number.ok_or_else(|| Error::corrupt("a number of an app that is none"))
                };
                locked.add(AppId(number()?), AppNumbers::read(number)?);
            }
        }
        Ok(())
    }
}
