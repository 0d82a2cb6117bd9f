//! Composition: opens the resources of a node, runs its parts, and stops them in order.

mod huge_pages;
mod limits;
mod parts;
mod self_description;
mod workers;

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use engine::Engine;
use model::app::Mode;
use model::time::Clock;
use providers::Trust;
use providers::http::Timeouts;
use providers::webpush::PushHosts;
use store::Store;
use store::apps::App;
use tokio::net::{TcpListener, TcpSocket};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::{Node, Sealing, SecretsKey, Sources, Token};
use crate::data::{DataFolder, Exposed};
use crate::{first_start, telemetry};
use parts::{Outside, Parts};

pub(crate) fn serve(node: &Node, sources: &Sources) -> Result<ExitCode> {
    let _log = telemetry::start(&node.logging)?;
    if let Some(text) = sources.about_unknown_variables() {
        tracing::warn!("{text}; `aerogram serve --help` lists the settings");
    }
    if node.app.is_for_commands(sources) {
        tracing::warn!(
            "the environment has credentials of an app for commands (AEROGRAM_APP_KEY, AEROGRAM_MASTER_SECRET), which the service \
             ignores; with AEROGRAM_APP_SECRET as well it would make sure that there is such an app"
        );
    }
    limits::raise_open_files();
    huge_pages::hold_back();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("The runtime cannot be started")?.block_on(run(node, sources))
}

async fn run(node: &Node, sources: &Sources) -> Result<ExitCode> {
    let credentials = node.app.credentials(sources)?;
    let (tls, trust) = (node.tls.read()?, node.authorities.trust()?);
    if let Some(tls) = &tls {
        let hangup = signal(SignalKind::hangup()).context("SIGHUP cannot be waited for")?;
        tokio::spawn(reload_at_hangup(tls.clone(), hangup));
    }
    if trust.is_built_in() {
        tracing::warn!(
            event = "trust.built_in",
            "this machine has no list of certificate authorities; those that the program was built with are trusted instead; \
             install the package ca-certificates, or name a file of authorities with SSL_CERT_FILE"
        );
    }
    let folder = DataFolder::of(&node.data);
    folder.refuse_lost_database(&node.data.database)?;
    // Before anything is made, so that a start that fails because the port is in use leaves nothing behind.
    let socket = bind(node.listen)?;
    let operator_token = prepare(&folder, node, sources)?;
    let database = &node.data.database;
    let request = tenancy::request_of_command(Clock::System.now(), "database.migrate");
    let ca_file = node.authorities.ca_file.as_deref();
    let opening = Store::open_with(database, ca_file, node.database.settings());
    let opened = tenancy::on_behalf_of(request, opening).await;
    let store = opened.with_context(|| format!("The database {database} cannot be opened"))?;
    if node.data.distributed.is_some() && !store.is_spread() {
        bail!("The database {database} is not spread over several servers: stop all nodes and run `aerogram migrate`");
    }
    // Listen before creating the first app: its secrets are shown once, which must not happen in a start that fails.
    let (listener, address) = listen(socket, node.listen)?;
    let settings = engine_settings(node, &folder, &store, address, &trust).await?;
    let engine = Engine::start(store.clone(), Clock::System, settings).await?;
    // First, because it is the link to open first.
    if node.serves_console() {
        first_start::offer_account(&engine, node, address).await?;
    }
    first_start::ensure_app(&engine, node, address, &folder, credentials).await?;
    if node.public_url.is_none() && are_links_needed(address, &engine.tenancy().apps().await?) {
        tracing::warn!("links to landing pages work on this machine only; set AEROGRAM_PUBLIC_URL for other devices");
    }
    let operator = engine.tenancy().operator_credential(&tenancy::credentials::hash(operator_token.reveal()));
    let facts = self_description::node_facts(node, address, &operator);
    let (name, id) = (facts.name.clone(), engine.introduce(facts).await);
    let outside = Outside { listener, tls, trust };
    let mut parts = Parts::start(node, engine.clone(), outside, &operator_token)?;
    tokio::spawn(read_atlas(engine));
    tokio::spawn(huge_pages::allow_when_useful());
    let mut signals = StopSignals::catch()?;
    let version = env!("CARGO_PKG_VERSION");
    tracing::info!(node = id, name, listen = %address, %database, roles = ?node.roles, version, "serving");

    tokio::select! {
        () = signals.next() => {}
        // Better to end and be restarted than to continue with half of the parts.
        ended = parts.end_of_any() => return Err(ended),
    }
    tracing::info!("stopping");
    tokio::spawn(end_at_next(signals));
    parts.stop().await?;
    store.close().await;
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Beside everything else: where places are used, the first request about them finds the atlas in memory, or waits for what is left
/// of it.
async fn read_atlas(engine: Engine) {
    match engine.devices().read_atlas_if_used().await {
        Ok(true) => tracing::info!("the atlas of places is in memory"),
        Ok(false) => {}
        Err(error) => tracing::error!(error = &error as &dyn std::error::Error, "the atlas of places cannot be read"),
    }
}

/// Creates the data folder with the operator token, and warns about files that others can access.
fn prepare(folder: &DataFolder, node: &Node, sources: &Sources) -> Result<Token> {
    let data = &node.data;
    folder.create()?;
    let secrets = [sources.secrets_file.as_deref(), node.tls.tls_key.as_deref()].into_iter().flatten();
    for Exposed { path, mode } in secrets.filter_map(Exposed::to_everybody).chain(folder.exposed(&data.database)?) {
        tracing::warn!("other users can get at a file of the service; run `chmod {mode} {}`", path.display());
    }
    match &data.operator_token {
        Some(token) => Ok(token.clone()),
        None => folder.ensure_operator_token(),
    }
}

/// Connections that may wait to be accepted; the system may allow fewer. After a restart of a node or a proxy all devices come
/// back at once, and those that find no room try again only a second later.
const BACKLOG: u32 = 4096;

/// Reserves the address. Callers are refused until somebody listens on it.
fn bind(address: SocketAddr) -> Result<TcpSocket> {
    let bind = || -> io::Result<TcpSocket> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // A process that is restarted gets its address back at once.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        Ok(socket)
    };
    bind().with_context(|| unusable(address))
}

/// Another process may have bound the same address and been quicker to listen on it.
fn listen(socket: TcpSocket, address: SocketAddr) -> Result<(TcpListener, SocketAddr)> {
    let listener = socket.listen(BACKLOG).with_context(|| unusable(address))?;
    let address = listener.local_addr().context("The address listened on is unknown")?;
    Ok((listener, address))
}

fn unusable(address: SocketAddr) -> String {
    format!("The address {address} cannot be listened on; choose another with --listen or AEROGRAM_LISTEN")
}

async fn engine_settings(
    node: &Node,
    folder: &DataFolder,
    store: &Store,
    address: SocketAddr,
    trust: &Trust,
) -> Result<engine::Settings> {
    Ok(engine::Settings {
        seal_key: secrets_key(&node.sealing, folder, store).await?.seal_key(),
        snapshot_folder: Some(folder.path().to_owned()),
        allow_private_addresses: node.allow_private_addresses,
        retention: node.history.retention(),
        locations: devices::LocationSettings {
            keep_coordinates: node.locations.keep_coordinates,
            kept_days: node.locations.keep_places_days,
        },
        growth: node.growth.limits(),
        pipelines: node.pipelines.limits(),
        public_url: node.url(address).to_string(),
        trust: trust.clone(),
        timeouts: Timeouts::default(),
        push_hosts: PushHosts::with(&node.push_hosts),
        page_checks: node.database.page_checks(),
    })
}

/// Whether messages go to devices on other machines: an app in production has such devices, and so may a server that other
/// machines reach. Behind a proxy the address says nothing.
fn are_links_needed(address: SocketAddr, apps: &[App]) -> bool {
    address.ip().is_unspecified() || apps.iter().any(|app| app.mode == Mode::Production)
}

/// The key from the settings or from its file. A new key is made only for a database that belongs to none: with any other
/// database, its encrypted data could not be read.
async fn secrets_key(sealing: &Sealing, folder: &DataFolder, store: &Store) -> Result<SecretsKey> {
    if let Some(key) = &sealing.secrets_key {
        return Ok(key.clone());
    }
    if let Some(key) = folder.secrets_key()? {
        return Ok(key);
    }
    if engine::has_key(store).await? {
        return Err(folder.no_secrets_key());
    }
    folder.ensure_secrets_key()
}

/// SIGTERM (service managers, containers) and SIGINT (the keyboard).
pub(crate) struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    /// From here on the signals no longer end the process by themselves.
    pub(crate) fn catch() -> Result<Self> {
        let terminate = signal(SignalKind::terminate()).context("SIGTERM cannot be waited for")?;
        let interrupt = signal(SignalKind::interrupt()).context("SIGINT cannot be waited for")?;
        Ok(Self { terminate, interrupt })
    }

    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Tools that renew certificates tell a service of it by SIGHUP. Without TLS the signal ends the process, as it does by default.
async fn reload_at_hangup(tls: api::Tls, mut hangup: Signal) {
    while hangup.recv().await.is_some() {
        tls.reload().await;
    }
}

/// A person who asks twice does not want to wait. Nothing is lost: accepted work is in the database.
async fn end_at_next(mut signals: StopSignals) {
    signals.next().await;
    tracing::warn!("stopping at once");
    std::process::exit(1);
}
