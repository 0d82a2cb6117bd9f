//! What every handler can reach: the engine, and the few facts and limits of this edge.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use engine::Engine;
use model::ids::AppId;
use ring::digest::{SHA256, digest};
use subtle::ConstantTimeEq;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Settings;
use crate::body::{MOST_BODY_BYTES, Room};
use crate::error::{Error, Result};
use crate::places::{Place, Places};

/// Requests in work at once. More than this means that answers would come too late anyway.
const MOST_IN_FLIGHT: usize = 4096;
/// Bytes of all request bodies in memory. What is made of them while they are read is larger, but not for long.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// The same for those who show no more than the key of an app, which is no secret: nobody can keep others out with it.
const MOST_UNPROVEN_BYTES: usize = 16 * 1024 * 1024;
/// One such body. Devices are told to send half of that at once.
const MOST_UNPROVEN_BODY_BYTES: usize = 1024 * 1024;
/// Requests of them in work at once, beside those of everybody else.
const MOST_UNPROVEN: usize = 2048;
/// How long a body waits for others to be done with.
const BODY_PATIENCE: Duration = Duration::from_secs(3);
/// Long bodies that are taken apart at once. Doing more of this at a time makes none of it faster.
const MOST_READERS: usize = 4;
/// Streams stay open for hours, so they are counted apart from requests.
const MOST_STREAMS: usize = 256;
/// Lists that come in or go out. They may take as long as a stream, and more memory than other requests.
const MOST_TRANSFERS: usize = 64;

/// Streams end rarely.
const STREAMS_RETRY: Duration = Duration::from_secs(30);
const TRANSFERS_RETRY: Duration = Duration::from_secs(5);

/// Every request gets a few of them, so a copy is one count.
#[derive(Clone)]
pub(crate) struct Edge(Arc<Parts>);

pub(crate) struct Parts {
    pub(crate) engine: Engine,
    pub(crate) public_url: Option<Arc<str>>,
    /// A hash, so that comparing takes the same time for tokens of every length.
    operator_token: [u8; 32],
    in_flight: Arc<Semaphore>,
    unproven: Places,
    streams: Places,
    transfers: Places,
    pub(crate) keep_alive: Duration,
    pub(crate) bodies: Room,
    pub(crate) unproven_bodies: Room,
    pub(crate) readers: Arc<Semaphore>,
}

impl Edge {
    pub(crate) fn new(engine: Engine, settings: Settings) -> Self {
        Self(Arc::new(Parts {
            engine,
            public_url: settings.public_url.map(|url| url.trim_end_matches('/').into()),
            operator_token: hash(&settings.operator_token),
            in_flight: Arc::new(Semaphore::new(MOST_IN_FLIGHT)),
            unproven: Places::new(MOST_UNPROVEN),
            streams: Places::new(MOST_STREAMS),
            transfers: Places::new(MOST_TRANSFERS),
            keep_alive: settings.keep_alive,
            bodies: Room::new(MOST_BYTES, MOST_BODY_BYTES, BODY_PATIENCE),
            unproven_bodies: Room::new(MOST_UNPROVEN_BYTES, MOST_UNPROVEN_BODY_BYTES, BODY_PATIENCE),
            readers: Arc::new(Semaphore::new(MOST_READERS)),
        }))
    }

    pub(crate) fn is_operator(&self, token: &str) -> bool {
        hash(token).ct_eq(&self.operator_token).into()
    }

    /// A place among the requests in work, to be held until the answer is made.
    pub(crate) fn admit(&self) -> Result<OwnedSemaphorePermit> {
        self.in_flight.clone().try_acquire_owned().map_err(|_| Error::Busy)
    }

    /// A place among the requests of those who show no more than the key of an app, instead of one among all.
    pub(crate) fn admit_unproven(&self, app: AppId) -> Result<Place> {
        self.unproven.take(app).ok_or(Error::Busy)
    }

    /// A place among the open streams, to be held as long as the stream is.
    pub(crate) fn admit_stream(&self, app: AppId) -> Result<Place> {
        let text = "This app has as many streams open as it may; close one, or try again later.";
        self.streams.take(app).ok_or(Error::TooMany { text, retry_after: STREAMS_RETRY })
    }

    /// A place among the lists that come in or go out, to be held until all of it has.
    pub(crate) fn admit_transfer(&self, app: AppId) -> Result<Place> {
        let text = "This app has as many lists under way as it may; try again when one is done.";
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
