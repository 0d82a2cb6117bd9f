//! Everything durable. SQL is written once and runs on the embedded database or on PostgreSQL, chosen by the
//! URL.

pub mod accounts;
pub mod addresses;
mod app_numbers;
pub mod apps;
pub mod attributes;
pub mod audit;
pub mod backup;
pub mod blocks;
pub mod bulk_rows;
pub mod channel_secrets;
pub mod channels;
pub mod contacts;
pub mod copy;
pub mod counters;
mod db;
pub mod devices;
pub mod documents;
mod error;
pub mod event_counters;
pub mod examine;
pub mod experiment_groups;
pub mod faces;
pub mod followers;
pub mod former_secrets;
pub mod growth;
pub mod idempotency;
pub mod inbox_messages;
pub mod inbox_users;
pub mod jobs;
pub mod journeys;
pub mod last_places;
pub mod legacy_tags;
pub mod list_changes;
pub mod lists;
pub mod live_presence;
pub mod live_tokens;
mod local_file;
pub mod log;
pub mod login_links;
pub mod messages;
mod migrate;
pub mod named_users;
pub mod nodes;
mod opening;
mod ordinals;
pub mod origins;
mod parts;
pub mod pipeline_sent;
pub mod pipeline_spans;
pub mod pipeline_timers;
pub mod place_days;
pub mod positions;
mod postgres_settings;
pub mod postings;
pub mod privacy;
pub mod push_audience;
pub mod push_causes;
pub mod push_marks;
pub mod push_outcomes;
pub mod push_received;
pub mod push_responses;
pub mod pushes;
pub mod recipients;
pub mod sandbox;
pub mod search;
pub mod seen_events;
pub mod seen_uploads;
pub mod server_tokens;
pub mod sessions;
pub mod sign_ins;
pub mod signed_requests;
pub mod term_sets;
pub mod terms;
pub mod uninstalled;
pub mod unknown_users;
mod url;
pub mod webhooks;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use model::ids::AppId;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

pub use db::answer::Answer;
pub use db::sqlite::{CleanUp, Extent, Pages};
pub use db::{Column, Durations, FromColumn, Row, Signal, Signals, Trouble, Tx, Value, Waiting};
pub use error::{Cause, Constraint, Error, Result};
pub use parts::Part;
use parts::Places;
pub use postgres_settings::PostgresSettings;
pub use url::{DatabaseUrl, InvalidDatabaseUrl};

use audit::Tally;
use db::answer::{Change, Done, Look};
use db::command::Command;
use db::postgres::{PostgresConnection, listener::Listener, refuse_shared_sessions, server::Server};
use db::reader::Query;
use db::{Connection, DatabaseHealth, Hub, sqlite};
use local_file::LocalFile;
use log::{LogReads, LogWindows};
use nodes::Node;
use opening::{Opening, spawn};

const SQLITE_READERS: usize = 4;

/// The database. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    /// `None` once the store is closed. A caller that is queueing keeps the queues alive until it has done
    /// so.
    queues: Mutex<Option<Arc<Queues>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    hub: Arc<Hub>,
    commits: Arc<AtomicU64>,
    durations: Durations,
    health: Arc<DatabaseHealth>,
    windows: Arc<LogWindows>,
    /// Only of a database that is a file, which no other process uses.
    local: Option<LocalFile>,
    /// Where apps are, if they are spread over several servers.
    places: Option<Places>,
    node: Node,
    /// What each writer has counted for the audit log and not written yet.
    tallies: Vec<Arc<Tally>>,
}

struct Queues {
    writers: Vec<mpsc::Sender<Command>>,
    reader: mpsc::Sender<Query>,
}

impl Store {
    /// Connects and brings the schema up to date.
    pub async fn open(url: &DatabaseUrl) -> Result<Store> {
        Self::open_with(url, None, PostgresSettings::default()).await
    }

    /// As [`Store::open`], with what counts for PostgreSQL: a file of certificate authorities to trust beside those of the machine,
    /// unless the URL names others, and settings.
    pub async fn open_with(url: &DatabaseUrl, ca_file: Option<&Path>, settings: PostgresSettings) -> Result<Store> {
        let (url, ca_file, request) = (url.clone(), ca_file.map(Path::to_owned), audit::current_request());
        let opened = tokio::task::spawn_blocking(move || match url {
            DatabaseUrl::Sqlite(path) => {
                let database = sqlite::Database::open(&path)?;
                let mut writer = Connection::Sqlite(database.writer()?);
                migrate::run(&mut writer, request.as_deref())?;
                let readers = (0..SQLITE_READERS).map(|_| database.reader().map(Connection::Sqlite));
                let readers = readers.collect::<Result<_>>()?;
                let (files, missing) =
                    (sqlite::OpenFiles::of(&path, database.is_vacuumed())?, positions::compare(&path, &mut writer));
                let local = LocalFile::new(path, database.page_checks(), missing);
                let (hub, writers) = (Hub::for_one_process(), vec![writer]);
                Opening { local: Some((local, files)), hub, is_spread: false, writers, readers }.start()
            }
            DatabaseUrl::Postgres(url) => {
                let server = Server::at(&url, ca_file.as_deref(), settings.statement_limit)?;
                Self::open_postgres(server, settings, request.as_deref())
            }
        });
        opened.await.map_err(|error| Error::Unavailable(Cause::new("opening was interrupted", error)))?
    }

    fn open_postgres(server: Server, settings: PostgresSettings, request: Option<&audit::Request>) -> Result<Store> {
        let server = Arc::new(server);
        let connections = |n: usize, new: fn(Arc<Server>) -> Result<PostgresConnection>| {
            (0..n).map(|_| new(Arc::clone(&server))).collect::<Result<Vec<_>>>()
        };
        let mut readers = connections(settings.n_readers(), PostgresConnection::reader)?;
        let mut writers = connections(settings.n_writers(), PostgresConnection::writer)?;
        let mut migrating = PostgresConnection::maintainer(Arc::clone(&server))?;
        refuse_shared_sessions(&mut migrating, &mut readers[0])?;
        let mut migrating = Connection::Postgres(migrating);
        migrate::run(&mut migrating, request)?;
        let is_spread = migrate::spread_new(&mut migrating)?;
        server.set_spread(is_spread);
        migrating.close();
        // At the start, so that an operator hears of a server that does not have as many.
        readers.iter_mut().chain(&mut writers).try_for_each(PostgresConnection::connect)?;
        let [readers, writers] = [readers, writers].map(|some| some.into_iter().map(Connection::Postgres).collect());
        let store = Opening { local: None, hub: Hub::for_many_nodes(), is_spread, writers, readers }.start()?;
        store.listen(server)?;
        Ok(store)
    }

    /// Brings the schema up to date and spreads the rows of the apps over the servers of Citus. Rows that are there already are
    /// moved; no node may be running then. Repeating it is harmless.
    pub async fn spread(url: &DatabaseUrl, ca_file: Option<&Path>) -> Result<()> {
        let DatabaseUrl::Postgres(url) = url.clone() else {
            return Err(Error::unavailable(
                "only PostgreSQL with the extension Citus can be spread over several servers",
            ));
        };
        let ca_file = ca_file.map(Path::to_owned);
        let spread = tokio::task::spawn_blocking(move || {
            let server = Arc::new(Server::for_maintenance(&url, ca_file.as_deref())?);
            let mut connection = Connection::Postgres(PostgresConnection::maintainer(server)?);
            migrate::run(&mut connection, None)?;
            migrate::spread(&mut connection)?;
            connection.close();
            Ok(())
        });
        spread.await.map_err(|error| Error::Unavailable(Cause::new("spreading was interrupted", error)))?
    }

    /// Runs `body` on one consistent state of the database. It cannot change anything.
    pub fn read<T, E>(&self, body: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static) -> Answer<'_, T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        Answer::to_look(body, |look| self.look(look))
    }

    /// Runs `body` in a transaction and answers after it is committed; an error rolls it back.
    ///
    /// Commands that wait at the same time share a commit, so `body` may be run more than once before the one run that counts:
    /// it must compute everything from its arguments and the transaction, and change nothing outside. If the answer is
    /// [`Error::Unavailable`], the change may nevertheless have been made: the connection can break during the commit.
    /// Commands of one app queue up behind each other; those of different apps need not. For an app that was deleted nothing is
    /// written: the first statement of `body` fails with the conflict [`Constraint::AppGone`].
    pub fn write<T, E>(
        &self,
        app: AppId,
        body: impl Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Answer<'_, T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        Answer::to_change(body, |change| self.change(app, app, change))
    }

    /// Subscribes to commits from now on, here and on other nodes.
    pub fn signals(&self) -> Signals {
        self.shared.hub.subscribe(None)
    }

    /// As [`Store::signals`], for one kind of change: other kinds do not wake the subscriber.
    pub fn signals_of(&self, signal: Signal) -> Signals {
        self.shared.hub.subscribe(Some(signal))
    }

    /// Whether no other process can change the database while this one has it open.
    pub fn is_single_process(&self) -> bool {
        self.shared.local.is_some()
    }

    /// How many commits may have recorded deliveries since the store was opened: as long as it stays the same, there are no new
    /// ones. `None` if other processes record some that are not counted here.
    pub fn n_deliveries(&self) -> Option<u64> {
        self.shared.hub.n_deliveries()
    }

    /// The number of this process among those that share the database.
    pub fn node(&self) -> Node {
        self.shared.node
    }

    /// Write transactions committed since the store was opened.
    pub fn commits(&self) -> u64 {
        self.shared.commits.load(Ordering::Relaxed)
    }

    /// How long the transactions of this process take.
    pub fn durations(&self) -> &Durations {
        &self.shared.durations
    }

    /// How many callers in this process wait for the database.
    pub fn waiting(&self) -> Waiting {
        let Ok(queues) = self.queues() else { return Waiting::default() };
        let n_writes = queues.writers.iter().map(|queue| queue.max_capacity() - queue.capacity()).sum();
        Waiting { n_writes, n_reads: queues.reader.max_capacity() - queues.reader.capacity() }
    }

    /// How often the logs of apps were read.
    pub fn log_reads(&self) -> LogReads {
        self.shared.windows.reads()
    }

    /// The apps whose newest log records are in memory.
    pub fn apps_with_recent_log(&self) -> Vec<AppId> {
        self.shared.windows.apps()
    }

    /// Gives up what is in memory of the logs of other apps.
    pub fn retain_recent_logs(&self, exists: impl FnMut(AppId) -> bool) {
        self.shared.windows.retain(exists);
    }

    /// What is wrong with the database, judged by the last read, the last write and the last checks of its file.
    pub fn trouble(&self) -> Option<Trouble> {
        self.shared.health.trouble()
    }

    /// Finishes queued commands, refuses new ones, and closes the database. Without it the same happens some
    /// time after the last clone is dropped.
    pub async fn close(self) {
        self.save_last_positions().await;
        self.shared.close();
        let threads = std::mem::take(&mut *self.shared.threads.lock());
        let joined = tokio::task::spawn_blocking(move || threads.into_iter().all(|thread| thread.join().is_ok()));
        if !joined.await.unwrap_or(false) {
            tracing::error!("a thread of the store had panicked");
        }
    }

    fn look(&self, body: Look) -> Done<'_> {
        Box::pin(async move {
            let (query, answer) = Query::new(body);
            let queues = self.queues()?;
            queues.reader.send(query).await.map_err(|_| closed())?;
            drop(queues);
            answer.await.map_err(|_| closed())?.map_or(Ok(()), Err)
        })
    }

    fn change(&self, app: AppId, place: AppId, body: Change) -> Done<'_> {
        Box::pin(async move {
            let (command, answer) = Command::new(app, place, body);
            let queues = self.queues()?;
            let writer = place.0.unsigned_abs() % queues.writers.len() as u64;
            let writer = &queues.writers[usize::try_from(writer).unwrap_or(0)];
            writer.send(command).await.map_err(|_| closed())?;
            drop(queues);
            answer.await.map_err(|_| closed())?.map_or(Ok(()), Err)
        })
    }

    fn queues(&self) -> Result<Arc<Queues>> {
        self.shared.queues.lock().clone().ok_or_else(closed)
    }

    /// Returns once signals of other nodes are received.
    fn listen(&self, server: Arc<Server>) -> Result<()> {
        let (ready, listening) = oneshot::channel();
        let listener = Listener {
            server,
            hub: Arc::clone(&self.shared.hub),
            node: self.shared.node,
            ready: Some(ready),
            is_interrupted: false,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::Unavailable(Cause::new("no event loop", error)))?;
        let thread = spawn("store-listener".to_owned(), move || runtime.block_on(listener.run()))?;
        self.shared.threads.lock().push(thread);
        listening.blocking_recv().map_err(|_| closed())?
    }
}

impl Shared {
    fn close(&self) {
        if let Some(local) = &self.local {
            local.stop_checks();
        }
        *self.queues.lock() = None;
        self.hub.close();
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
    }
}

fn closed() -> Error {
    Error::unavailable("the store is closed")
}
