//! The state that every handler can reach: the engine, and the few facts and limits of this edge.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use engine::Engine;
use model::ids::AppId;
use model::network::Network;
use ring::digest::{SHA256, digest};
use subtle::ConstantTimeEq;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Settings;
use crate::body::{BodyPatience, MOST_BODY_BYTES, Room};
use crate::browser_rate::BrowserRate;
use crate::error::{Error, Result};
use crate::fair_share::{FairShare, Permit};
use crate::holder::Holder;
use crate::recent_requests::RecentRequests;
use crate::turns::{Turn, Turns};
use crate::wrong_credentials::WrongCredentials;

/// Requests whose credentials are looked up at once. None of them waits for its caller, so nobody can hold these for long.
const MOST_AUTHENTICATING: usize = 4096;
/// Requests of the operator in work at once. They are apart from those of all others, and so are their bodies, so that the
/// operator can always look and act.
const MOST_OPERATING: usize = 64;
const MOST_OPERATOR_BYTES: usize = 20 * 1024 * 1024;
/// Bytes of all request bodies in memory, of which one party gets half. Parsed bodies are larger, but do not live long.
const MOST_BYTES: usize = 128 * 1024 * 1024;
/// The same for callers with only the key of an app, which is no secret: they cannot keep other callers out.
const MOST_UNPROVEN_BYTES: usize = 32 * 1024 * 1024;
/// One body of such a caller. Devices are told to send half of that at once.
const MOST_UNPROVEN_BODY_BYTES: usize = 1024 * 1024;
/// Requests of such callers in work at once, beside those of all others.
const MOST_UNPROVEN: usize = 2048;
/// How long a body waits for the room of others.
const BODY_PATIENCE: Duration = Duration::from_secs(3);
/// Long bodies that are parsed and long answers that are written at once. More at a time would make none of them faster.
const MOST_READERS: usize = 4;
/// Streams stay open for hours, so they are counted apart from requests.
const MOST_STREAMS: usize = 256;
/// Uploads and downloads of lists, and imports. They may take as long as a stream, and more memory than other requests.
const MOST_TRANSFERS: usize = 64;

/// Longer than for transfers, because streams end rarely.
const STREAMS_RETRY: Duration = Duration::from_secs(30);
const TRANSFERS_RETRY: Duration = Duration::from_secs(5);

/// Cloned a few times for every request, so a clone is only one reference count.
#[derive(Clone)]
pub(crate) struct Edge(Arc<Parts>);

pub(crate) struct Parts {
    pub(crate) engine: Engine,
    pub(crate) public_url: Option<Arc<str>>,
    /// A hash, so that comparing takes the same time for tokens of every length.
    operator_token: [u8; 32],
    /// What the operator is called in the audit log.
    pub(crate) operator_credential: Arc<str>,
    /// Live connections that the settings allow and the limit of open files does not.
    pub(crate) live_connections_lacking: usize,
    authenticating: Arc<Semaphore>,
    operating: Arc<Semaphore>,
    requests: FairShare<Holder>,
    unproven: FairShare<AppId>,
    streams: FairShare<AppId>,
    transfers: FairShare<AppId>,
    live: FairShare<AppId>,
    handshakes: Turns<AppId>,
    pub(crate) wrong_credentials: WrongCredentials,
    pub(crate) browser_rate: BrowserRate,
    pub(crate) recent_requests: RecentRequests,
    pub(crate) keep_alive: Duration,
    pub(crate) trusted_proxies: Vec<Network>,
    /// Whether the demonstration is shown to everybody.
    pub(crate) demo: bool,
    pub(crate) body_patience: BodyPatience,
    pub(crate) bodies: Room,
    pub(crate) operator_bodies: Room,
    pub(crate) unproven_bodies: Room,
    pub(crate) readers: Arc<Semaphore>,
}

impl Edge {
    pub(crate) fn new(engine: Engine, settings: Settings) -> Self {
        let operator_token = hash(&settings.operator_token);
        Self(Arc::new(Parts {
            operator_credential: engine.tenancy().operator_credential(&operator_token),
            live_connections_lacking: settings.limits.live_connections_lacking,
            engine,
            public_url: settings.public_url.map(|url| url.trim_end_matches('/').into()),
            operator_token,
            authenticating: Arc::new(Semaphore::new(MOST_AUTHENTICATING)),
            operating: Arc::new(Semaphore::new(MOST_OPERATING)),
            requests: FairShare::new(settings.limits.requests),
            unproven: FairShare::new(MOST_UNPROVEN),
            streams: FairShare::new(MOST_STREAMS),
            transfers: FairShare::new(MOST_TRANSFERS),
            live: FairShare::new(settings.limits.live_connections),
            handshakes: Turns::new(settings.limits.live_handshakes),
            wrong_credentials: WrongCredentials::new(settings.limits.wrong_credentials_per_minute),
            browser_rate: BrowserRate::default(),
            recent_requests: RecentRequests::default(),
            keep_alive: settings.keep_alive,
            trusted_proxies: settings.trusted_proxies,
            demo: settings.demo,
            body_patience: settings.limits.bodies,
            bodies: Room::new(MOST_BYTES, MOST_BODY_BYTES, BODY_PATIENCE),
            operator_bodies: Room::new(MOST_OPERATOR_BYTES, MOST_BODY_BYTES, BODY_PATIENCE),
            unproven_bodies: Room::new(MOST_UNPROVEN_BYTES, MOST_UNPROVEN_BODY_BYTES, BODY_PATIENCE),
            readers: Arc::new(Semaphore::new(MOST_READERS)),
        }))
    }

    pub(crate) fn is_operator(&self, token: &str) -> bool {
        hash(token).ct_eq(&self.operator_token).into()
    }

    /// Does work that may take long on another thread than those that answer requests, which it would hold up.
    pub(crate) async fn apart<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let permit = self.readers.clone().acquire_owned().await.map_err(Error::internal)?;
        let work = move || {
            let _permit = permit;
            work()
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)
    }

    /// For the time in which credentials are looked up.
    pub(crate) fn begin_authentication(&self) -> Result<OwnedSemaphorePermit> {
        self.authenticating.clone().try_acquire_owned().map_err(|_| Error::Busy)
    }

    /// Counts a request as in work until its answer is made.
    pub(crate) fn admit(&self, holder: Holder) -> Result<Permit<Holder>> {
        self.requests.take(holder).ok_or(Error::Busy)
    }

    /// Counts a request of the operator, whom no app keeps out.
    pub(crate) fn admit_operator(&self) -> Result<OwnedSemaphorePermit> {
        self.operating.clone().try_acquire_owned().map_err(|_| Error::Busy)
    }

    /// Counts a request with only the key of an app. Such requests are counted apart from all others.
    pub(crate) fn admit_unproven(&self, app: AppId) -> Result<Permit<AppId>> {
        self.unproven.take(app).ok_or(Error::Busy)
    }

    /// Counts an open stream until it ends.
    pub(crate) fn admit_stream(&self, app: AppId) -> Result<Permit<AppId>> {
        let text = "This app has as many streams open as it may; close one, or try again later.";
        self.streams.take(app).ok_or(Error::TooMany { text, retry_after: STREAMS_RETRY })
    }

    /// Counts a live connection of a device until it ends.
    pub(crate) fn admit_live(&self, app: AppId) -> Result<Permit<AppId>> {
        let text = "The devices of this app have as many live connections as they may; try again later.";
        self.live.take(app).ok_or(Error::TooMany { text, retry_after: STREAMS_RETRY })
    }

    /// The turn to open a live connection. All devices of a node that has stopped come to another at once, and wait here rather
    /// than in front of the database, where others would wait with them. Those of one app leave half of the turns to others.
    pub(crate) async fn begin_handshake(&self, app: AppId) -> Result<Turn> {
        self.handshakes.wait(app).await.map_err(Error::internal)
    }

    /// Counts a list that is uploaded or downloaded, or an import, until all of it is transferred.
    pub(crate) fn admit_transfer(&self, app: AppId) -> Result<Permit<AppId>> {
        let text = "This app has as many lists and imports under way as it may; try again when one is done.";
        self.transfers.take(app).ok_or(Error::TooMany { text, retry_after: TRANSFERS_RETRY })
    }
}

impl Deref for Edge {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

fn hash(token: &str) -> [u8; 32] {
    digest(&SHA256, token.as_bytes()).as_ref().try_into().expect("SHA-256 gives 32 bytes")
}
