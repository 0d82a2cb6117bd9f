//! One HTTP/2 connection and the requests under way on it.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use h2::client::{Connection, ResponseFuture, SendRequest};
use h2::{Reason, RecvStream, SendStream, StreamId};
use http::{Request, Response};
use parking_lot::{Mutex, MutexGuard};
use tokio::runtime::{self, Handle};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::pool::Pool;
use super::stream::Stream;
use crate::http::MOST_ANSWER_BYTES;

/// More streams than this on one connection cost memory and bring nothing.
const MOST_STREAMS: usize = 1000;

/// With so many requests under way on a connection, callers of other threads open their own.
const CROWDED: usize = 32;

/// A connection that has said nothing for so long, although requests wait, may have come to a stop.
const SILENT: Duration = Duration::from_secs(1);

/// A connection that is unused for this long is closed.
const IDLE: Duration = Duration::from_secs(15 * 60);

/// How often the requests are searched for those that have waited too long.
const SWEEP: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Link {
    /// Where its requests are written and its answers read.
    home: runtime::Id,
    /// Opened while there was another one.
    pub(super) is_spare: bool,
    /// The number of streams that the server permits right now; it may change at any time.
    n_permitted: AtomicUsize,
    /// Whether an answer has come. Until then there is only one request if the provider wants it so.
    proven: AtomicBool,
    one_stream_first: bool,
    n_open: AtomicUsize,
    since: Instant,
    /// Milliseconds since then until the last answer, until something was last sent, and until something was sent while nothing was
    /// under way.
    heard: AtomicU64,
    used: AtomicU64,
    busy: AtomicU64,
    /// Held here rather than by each waiting task, so that one look per second replaces a timer per request.
    waiting: Mutex<HashMap<StreamId, Waiting>>,
}

#[derive(Debug)]
struct Waiting {
    since: Instant,
    stream: SendStream<Bytes>,
}

/// Why there is no answer to a request.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server has certainly not acted on it: it may be sent again on another connection.
    Unprocessed,
    /// The same, because the server has too much to do: sending it elsewhere at once would make that worse.
    Overloaded,
    /// The connection takes no more requests.
    Closed,
    TimedOut,
    /// The server may have acted on it.
    Lost(String),
}

impl Link {
    /// To be called where the connection is driven.
    pub(super) fn new(one_stream_first: bool, n_permitted: usize, is_spare: bool) -> Self {
        Self {
            home: Handle::current().id(),
            is_spare,
            n_permitted: AtomicUsize::new(n_permitted),
            proven: AtomicBool::new(false),
            one_stream_first,
            n_open: AtomicUsize::new(0),
            since: Instant::now(),
            heard: AtomicU64::new(0),
            used: AtomicU64::new(0),
            busy: AtomicU64::new(0),
            waiting: Mutex::default(),
        }
    }

    pub(super) fn limit(&self) -> usize {
        if self.is_new() { 1 } else { self.n_permitted.load(Ordering::Relaxed).min(MOST_STREAMS) }
    }

    /// Whether it may carry more requests as soon as the first one is answered.
    pub(super) fn is_new(&self) -> bool {
        self.one_stream_first && !self.is_proven()
    }

    pub(super) fn is_proven(&self) -> bool {
        self.proven.load(Ordering::Relaxed)
    }

    pub(super) fn is_at_home_in(&self, runtime: runtime::Id) -> bool {
        self.home == runtime
    }

    pub(super) fn has_room(&self) -> bool {
        self.n_open() < self.limit()
    }

    pub(super) fn is_crowded(&self) -> bool {
        self.n_open() >= CROWDED
    }

    /// Whether it may have come to a stop: requests wait, and nothing was heard for a while.
    pub(super) fn is_stalling(&self, now: Instant) -> bool {
        let silent = u64::try_from(SILENT.as_millis()).unwrap_or(u64::MAX);
        let heard = self.heard.load(Ordering::Relaxed).max(self.busy.load(Ordering::Relaxed));
        self.n_open() > 0 && self.millis(now).saturating_sub(heard) >= silent
    }

    pub(super) fn n_open(&self) -> usize {
        self.n_open.load(Ordering::Relaxed)
    }

    pub(super) fn reserve(&self, now: Instant) {
        if self.n_open.fetch_add(1, Ordering::Relaxed) == 0 {
            self.busy.store(self.millis(now), Ordering::Relaxed);
        }
    }

    pub(super) fn release(&self) {
        self.n_open.fetch_sub(1, Ordering::Relaxed);
    }

    /// Sends a request.
    pub(super) fn begin(
        &self,
        mut sender: SendRequest<Bytes>,
        request: Request<()>,
        body: Bytes,
        started: Instant,
    ) -> Result<Exchange<'_>, Failure> {
        let (answer, mut stream) = sender.send_request(request, body.is_empty()).map_err(|_| Failure::Closed)?;
        if !body.is_empty() {
            // If the stream has failed already, the answer says how.
            drop(stream.send_data(body, true));
        }
        self.used.store(self.millis(started), Ordering::Relaxed);
        let id = stream.stream_id();
        self.waiting().insert(id, Waiting { since: started, stream });
        Ok(Exchange { answer, entry: Entry { link: self, id } })
    }

    /// Gives up requests that have waited too long. `false`: the server has said nothing since the oldest was sent, so that
    /// the connection is of no use.
    fn sweep(&self, timeout: Duration) -> bool {
        let now = Instant::now();
        let mut is_dead = false;
        for waiting in self.waiting().values_mut().filter(|waiting| now.duration_since(waiting.since) >= timeout) {
            is_dead |= self.heard.load(Ordering::Relaxed) <= self.millis(waiting.since);
            waiting.stream.send_reset(Reason::CANCEL);
        }
        !is_dead
    }

    pub(super) fn is_idle(&self) -> bool {
        let idle = u64::try_from(IDLE.as_millis()).unwrap_or(u64::MAX);
        self.n_open() == 0 && self.millis(Instant::now()).saturating_sub(self.used.load(Ordering::Relaxed)) >= idle
    }

    fn millis(&self, at: Instant) -> u64 {
        u64::try_from(at.duration_since(self.since).as_millis()).unwrap_or(u64::MAX)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<StreamId, Waiting>> {
        self.waiting.lock()
    }
}

/// A request that is under way.
pub(super) struct Exchange<'a> {
    answer: ResponseFuture,
    /// Its entry among the waiting requests, which is also removed when the caller loses interest.
    entry: Entry<'a>,
}

impl Exchange<'_> {
    /// The answer, and whether it is the first on its connection.
    pub(super) async fn answer(self) -> Result<(Response<Bytes>, bool), Failure> {
        let link = self.entry.link;
        let answer = read(self.answer).await.map_err(|error| Failure::of(&error))?;
        link.heard.store(link.millis(Instant::now()), Ordering::Relaxed);
        let is_first = !link.proven.swap(true, Ordering::Relaxed);
        Ok((answer, is_first))
    }
}

struct Entry<'a> {
    link: &'a Link,
    id: StreamId,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        let entry = self.link.waiting().remove(&self.id);
        // h2 takes a lock of its own when a stream is dropped.
        drop(entry);
    }
}

impl Failure {
    fn of(error: &h2::Error) -> Self {
        let is_said = error.is_remote() && (error.is_reset() || error.is_go_away());
        if is_said && error.reason() == Some(Reason::ENHANCE_YOUR_CALM) {
            return Failure::Overloaded;
        }
        let is_refused = error.is_reset() && error.is_remote() && error.reason() == Some(Reason::REFUSED_STREAM);
        if is_refused || error.is_go_away() && error.is_remote() {
            // h2 reports a GOAWAY only to streams beyond the last one that the server looked at. Servers that restart, or limit
            // the life of a connection, do this: it is no sign of overload.
            return Failure::Unprocessed;
        }
        // Only the sweep cancels.
        if error.is_reset() && !error.is_remote() && error.reason() == Some(Reason::CANCEL) {
            return Failure::TimedOut;
        }
        Failure::Lost(error.to_string())
    }
}

async fn read(answer: ResponseFuture) -> Result<Response<Bytes>, h2::Error> {
    let (head, mut body) = answer.await?.into_parts();
    let body = if body.is_end_stream() { Bytes::new() } else { start_of(&mut body).await? };
    Ok(Response::from_parts(head, body))
}

/// The start of a body; the rest is received and dropped, because breaking off would cost the server a reset.
async fn start_of(body: &mut RecvStream) -> Result<Bytes, h2::Error> {
    let mut start = Bytes::new();
    while let Some(piece) = body.data().await {
        let piece = piece?;
        body.flow_control().release_capacity(piece.len())?;
        if start.is_empty() {
            start = piece;
        } else if start.len() < MOST_ANSWER_BYTES {
            let mut both = BytesMut::from(start);
            both.extend_from_slice(&piece);
            start = both.freeze();
        }
        if body.is_end_stream() {
            break;
        }
    }
    start.truncate(MOST_ANSWER_BYTES);
    Ok(start)
}

/// Keeps a connection going until it ends; the answer says why it did, if anything was wrong.
pub(super) async fn drive(
    mut connection: Connection<Stream, Bytes>,
    link: &Link,
    pool: &Weak<Pool>,
    timeout: Duration,
) -> Result<(), String> {
    let period = SWEEP.min(timeout / 4);
    let mut sweeps = interval(period);
    sweeps.set_missed_tick_behavior(MissedTickBehavior::Delay);
    poll_fn(|cx| {
        while let Poll::Ready(due) = sweeps.poll_tick(cx) {
            // A process that was suspended has not waited: answers that came meanwhile are read before any request is given up.
            let stood_still = due.elapsed() >= period;
            if !stood_still && !link.sweep(timeout) {
                return Poll::Ready(Err("the provider has stopped answering".to_owned()));
            }
            if link.is_idle()
                && let Some(pool) = pool.upgrade()
            {
                pool.retire(link);
            }
        }
        let polled = Pin::new(&mut connection).poll(cx);
        let n_permitted = connection.max_concurrent_send_streams();
        if link.n_permitted.swap(n_permitted, Ordering::Relaxed) < n_permitted
            && let Some(pool) = pool.upgrade()
        {
            pool.room_changed();
        }
        polled.map_err(|error| error.to_string())
    })
    .await
}
