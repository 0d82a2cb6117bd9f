//! The whole service in this process: a real database, a real socket, a clock that the test steps, and workers that run when the
//! test says so.

mod nodes;

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ::store::DatabaseUrl;
use ::store::copy::{Occupied, copy};
use devices::LocationSettings;
use engine::{GrowthLimits, PipelineLimits};
use model::app::{Mode, NewApp};
use model::time::{Clock, UtcMillis};
use providers::Trust;
use providers::webpush::PushHosts;
use tempfile::TempDir;
use tenancy::SealKey;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::client::{Caller, Credentials, PATIENCE};
use crate::rows::all_rows;
use crate::store::{Database, Home, databases};
use crate::tls::Authority;

pub const OPERATOR_TOKEN: &str = "the-operator-of-the-tests";
/// Where every stepped clock begins: 2024-05-01 12:00:00.
pub const START: UtcMillis = UtcMillis(1_714_564_800_000);

pub struct TestApp {
    home: Home,
    clock: Clock,
    snapshots: TempDir,
    setup: Setup,
    parts: Parts,
    /// An app in development mode that exists from the start.
    pub app: Credentials,
    caller: Caller,
}

/// What a test may want to be otherwise.
#[derive(Clone, Copy)]
struct Setup {
    locations: LocationSettings,
    retention: engine::Retention,
    limits: api::Limits,
    growth: GrowthLimits,
    pipelines: PipelineLimits,
    /// Whether addresses of this machine are those of a trusted proxy.
    behind_proxy: bool,
    /// How links name the service, if not as it was asked.
    public_url: Option<&'static str>,
    pages: Option<MakePages>,
    /// Whose certificate it has; without one it speaks plain HTTP.
    tls: Option<&'static Authority>,
    /// Whom it trusts beside the authorities of the machine.
    trusts: Option<&'static Authority>,
}

/// Makes the pages of the console, which this crate does not know.
pub type MakePages = &'static (dyn Fn(engine::Engine) -> api::Pages + Send + Sync);

impl Default for Setup {
    fn default() -> Self {
        Self {
            locations: LocationSettings::default(),
            retention: engine::Retention::default(),
            limits: limits(),
            growth: GrowthLimits::NONE,
            pipelines: PipelineLimits::DEFAULT,
            behind_proxy: false,
            public_url: None,
            pages: None,
            tls: None,
            trusts: None,
        }
    }
}

/// The parts that a restart replaces.
struct Parts {
    engine: engine::Engine,
    base: String,
    trust: Trust,
    tls: Option<api::Tls>,
    stop: watch::Sender<bool>,
    server: JoinHandle<()>,
    follower: JoinHandle<()>,
}

/// Runs a test against a new service on each database, one after the other.
pub async fn on_each_database(test: impl AsyncFn(TestApp)) {
    for database in databases() {
        // The future holds a whole service and a test; the stack of a test thread is small.
        let app = Box::pin(TestApp::on(database)).await;
        Box::pin(test(app)).await;
    }
}

impl TestApp {
    pub async fn on(database: Database) -> Self {
        Self::start(Home::with_tables(database), Setup::default()).await
    }

    /// A service with other settings for the positions of devices.
    pub async fn with_locations(database: Database, locations: LocationSettings) -> Self {
        Self::start(Home::with_tables(database), Setup { locations, ..Setup::default() }).await
    }

    /// A service that keeps the log and pushes for another time.
    pub async fn with_retention(database: Database, retention: engine::Retention) -> Self {
        Self::start(Home::with_tables(database), Setup { retention, ..Setup::default() }).await
    }

    /// A service on a database that the test has made.
    pub async fn at(home: Home, locations: LocationSettings) -> Self {
        Self::start(home, Setup { locations, ..Setup::default() }).await
    }

    /// A service whose devices may create only so much.
    pub async fn with_growth(database: Database, growth: GrowthLimits) -> Self {
        Self::start(Home::with_tables(database), Setup { growth, ..Setup::default() }).await
    }

    /// A service whose apps may have only so many pipelines.
    pub async fn with_pipelines(database: Database, pipelines: PipelineLimits) -> Self {
        Self::start(Home::with_tables(database), Setup { pipelines, ..Setup::default() }).await
    }

    /// A service whose callers have other limits.
    pub async fn with_limits(database: Database, limits: api::Limits) -> Self {
        Self::start(Home::with_tables(database), Setup { limits, ..Setup::default() }).await
    }

    /// A service that believes what a proxy on this machine says about its callers.
    pub async fn behind_proxy(database: Database) -> Self {
        Self::start(Home::with_tables(database), Setup { behind_proxy: true, ..Setup::default() }).await
    }

    /// A service that is known to clients by another address.
    pub async fn with_public_url(database: Database, public_url: &'static str) -> Self {
        Self::start(Home::with_tables(database), Setup { public_url: Some(public_url), ..Setup::default() }).await
    }

    /// A service with pages for people.
    pub async fn with_pages(database: Database, pages: MakePages) -> Self {
        Self::start(Home::with_tables(database), Setup { pages: Some(pages), ..Setup::default() }).await
    }

    /// A service with TLS of its own.
    pub async fn with_tls(database: Database, tls: &'static Authority, limits: api::Limits) -> Self {
        Self::start(Home::with_tables(database), Setup { tls: Some(tls), limits, ..Setup::default() }).await
    }

    /// A service that trusts an authority beside those of the machine.
    pub async fn trusting(database: Database, authority: &'static Authority) -> Self {
        Self::start(Home::with_tables(database), Setup { trusts: Some(authority), ..Setup::default() }).await
    }

    /// Has the service read its certificate again.
    pub async fn reload_tls(&self) {
        self.parts.tls.as_ref().expect("a service with TLS").reload().await;
    }

    async fn start(home: Home, setup: Setup) -> Self {
        let clock = Clock::stepped(START);
        let snapshots = tempfile::tempdir().expect("a temporary folder can be made");
        let parts = Parts::start(&home, &clock, snapshots.path(), setup).await;
        let app = create_app(&parts.engine, Mode::Development).await;
        Self { caller: parts.caller(), home, clock, snapshots, setup, parts, app }
    }

    /// Stops the service as SIGTERM would and starts it again on the same database, under a new address.
    pub async fn restart(self) -> Self {
        self.parts.stop().await;
        let parts = Parts::start(&self.home, &self.clock, self.snapshots.path(), self.setup).await;
        Self { caller: parts.caller(), parts, ..self }
    }

    /// As [`TestApp::restart`], and apps may have only so many pipelines from then on.
    pub async fn restart_with_pipelines(mut self, pipelines: PipelineLimits) -> Self {
        self.setup.pipelines = pipelines;
        self.restart().await
    }

    /// As [`TestApp::restart`], and clients know the service by this address from then on.
    pub async fn restart_with_public_url(mut self, public_url: &'static str) -> Self {
        self.setup.public_url = Some(public_url);
        self.restart().await
    }

    /// As [`TestApp::restart`], with pages for people from then on.
    pub async fn restart_with_pages(mut self, pages: MakePages) -> Self {
        self.setup.pages = Some(pages);
        self.restart().await
    }

    /// As [`TestApp::restart`], but the audience index has to be built from the channels again.
    pub async fn restart_without_snapshots(self) -> Self {
        self.parts.stop().await;
        let snapshots = tempfile::tempdir().expect("a temporary folder can be made");
        let parts = Parts::start(&self.home, &self.clock, snapshots.path(), self.setup).await;
        Self { caller: parts.caller(), parts, snapshots, ..self }
    }

    /// Stops the service, copies its database to a new one, and starts it on that; nothing else changes. Every row of the copy
    /// is the same.
    pub async fn moved_to(self, database: Database) -> Self {
        self.parts.stop().await;
        let home = Home::new(database);
        let copied = copy(&self.home.url, &home.url, None, Occupied::Refuse, |_| {}).await;
        copied.unwrap_or_else(|error| panic!("{error}"));
        let (from, to) = (self.home.open().await, home.open().await);
        let (originals, copies) = (all_rows(&from).await, all_rows(&to).await);
        assert_eq!(originals.keys().collect::<Vec<_>>(), copies.keys().collect::<Vec<_>>());
        for (table, rows) in originals {
            assert_eq!(rows, copies[&table], "{table}");
        }
        from.close().await;
        to.close().await;
        let parts = Parts::start(&home, &self.clock, self.snapshots.path(), self.setup).await;
        Self { caller: parts.caller(), parts, home, ..self }
    }

    /// The same service, as another of its apps uses it.
    pub fn as_app(self, app: Credentials) -> Self {
        Self { app, ..self }
    }

    /// Stops the service and waits until it has released all its resources.
    pub async fn stop(self) {
        self.parts.stop().await;
    }

    pub fn engine(&self) -> &engine::Engine {
        &self.parts.engine
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.parts.base)
    }

    /// Tells the server to stop; it finishes the requests in work.
    pub fn begin_stop(&self) {
        self.parts.stop.send_replace(true);
    }

    /// Where the data is.
    pub fn database(&self) -> &DatabaseUrl {
        &self.home.url
    }

    /// The folder of the snapshots of audience indexes.
    pub fn snapshots(&self) -> &Path {
        self.snapshots.path()
    }

    /// The clock of the service, for code that has to agree with it.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    pub fn advance(&self, by: Duration) {
        self.clock.step(by);
    }

    /// Runs jobs until none is due, and returns how many there were.
    pub async fn step_all(&self) -> usize {
        let worker = self.parts.engine.worker();
        let mut n_jobs = 0;
        while worker.step().await.expect("the database answers") {
            n_jobs += 1;
        }
        n_jobs
    }

    /// Another app, independent of all others.
    pub async fn another_app(&self, mode: Mode) -> Credentials {
        create_app(&self.parts.engine, mode).await
    }

    /// A caller without credentials.
    pub fn nobody(&self) -> &Caller {
        &self.caller
    }

    /// A server of the app.
    pub fn master(&self) -> Caller {
        self.caller.basic(&self.app.key, &self.app.master_secret)
    }

    /// A device of the app.
    pub fn device(&self) -> Caller {
        self.caller.basic(&self.app.key, &self.app.app_secret)
    }

    pub fn operator(&self) -> Caller {
        self.caller.bearer(OPERATOR_TOKEN)
    }
}

impl Parts {
    fn caller(&self) -> Caller {
        Caller::trusting(&self.trust, self.base.clone())
    }

    async fn start(home: &Home, clock: &Clock, snapshots: &Path, setup: Setup) -> Self {
        let Setup { locations, retention, limits, growth, pipelines, behind_proxy, public_url, pages, tls, trusts } =
            setup;
        let store = home.open().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let scheme = if tls.is_some() { "https" } else { "http" };
        let base = format!("{scheme}://{}", listener.local_addr().expect("a listener has an address"));
        let trust = tls.or(trusts).map_or_else(system_trust, Authority::trust);
        let tls = tls.map(|authority| api::Tls::read(authority.server_files()).expect("the files fit"));
        let settings = engine::Settings {
            seal_key: SealKey::new(&[7; 32]),
            allow_private_addresses: true,
            snapshot_folder: Some(snapshots.to_owned()),
            retention,
            locations,
            growth,
            pipelines,
            public_url: public_url.map_or_else(|| base.clone(), str::to_owned),
            trust: trust.clone(),
            timeouts: PATIENCE,
            push_hosts: PushHosts::default(),
            page_checks: engine::PageCheckTimes::default(),
        };
        let engine = engine::Engine::start(store, clock.clone(), settings).await.expect("the engine starts");
        let (stop, stops) = watch::channel(false);
        let settings = api::Settings {
            public_url: public_url.map(str::to_owned),
            operator_token: OPERATOR_TOKEN.to_owned(),
            serves_api: true,
            keep_alive: api::KEEP_ALIVE,
            drain: Duration::ZERO,
            limits,
            tls: tls.clone(),
            trusted_proxies: behind_proxy.then(|| "127.0.0.0/8".parse().expect("a network")).into_iter().collect(),
            demo: false,
            pages: pages.map(|pages| pages(engine.clone())),
        };
        let server = tokio::spawn(api::serve(listener, engine.clone(), settings, stops.clone()));
        let follows = engine.clone();
        let follower = tokio::spawn(async move { follows.follow(stops).await });
        Self { engine, base, trust, tls, stop, server, follower }
    }

    async fn stop(self) {
        self.stop.send_replace(true);
        self.server.await.expect("the server does not panic");
        self.follower.await.expect("the follower does not panic");
        self.engine.store().clone().close().await;
    }
}

/// Those of the service, but tests try wrong credentials a thousand times a minute.
pub fn limits() -> api::Limits {
    api::Limits { wrong_credentials_per_minute: u32::MAX, ..api::Limits::default() }
}

/// What the machine trusts, which is a few hundred files. It is read once.
fn system_trust() -> Trust {
    static TRUST: OnceLock<Trust> = OnceLock::new();
    TRUST.get_or_init(Trust::of_system).clone()
}

async fn create_app(engine: &engine::Engine, mode: Mode) -> Credentials {
    static N_APPS: AtomicU32 = AtomicU32::new(0);
    let name = format!("Test {}", N_APPS.fetch_add(1, Ordering::Relaxed));
    let new = NewApp { name, mode, key: None, app_secret: None, master_secret: None };
    let created = engine.tenancy().create_app(new, None).await.expect("an app can be created");
    Credentials {
        key: created.key.as_str().to_owned(),
        app_secret: created.app_secret,
        master_secret: created.master_secret,
    }
}
