//! The connections to one origin: which of them takes the next request, when another one is opened, and how long to leave an
//! unreachable provider alone.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::client::SendRequest;
use parking_lot::{Mutex, MutexGuard};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::connect::{self, NewConnection};
use super::link::{Link, drive};
use super::pace::Pace;
use super::{Origin, WireError, WireOptions};
use crate::http::AddressPolicy;

const FIRST_BACK_OFF: Duration = Duration::from_millis(250);
const LONGEST_BACK_OFF: Duration = Duration::from_secs(30);

/// The assumed capacity of a connection as long as there is none.
const USUAL_STREAMS: usize = 100;

#[derive(Debug)]
pub(super) struct Pool {
    pub(super) origin: Origin,
    tls: Arc<rustls::ClientConfig>,
    policy: AddressPolicy,
    pub(super) options: WireOptions,
    state: Mutex<State>,
    /// A request can be sent that could not before, or never will be.
    changed: Notify,
}

#[derive(Debug)]
struct State {
    links: Vec<(SendRequest<Bytes>, Arc<Link>)>,
    is_connecting: bool,
    n_open: usize,
    pace: Pace,
    /// Failed connections in a row.
    n_failures: u32,
    down: Option<Down>,
    /// The same of those that were opened beside others.
    n_failed_spares: u32,
    /// Until then the connections that there are have to do.
    no_spare_until: Option<Instant>,
}

#[derive(Debug)]
struct Down {
    until: Instant,
    error: WireError,
}

/// The right to send one request on one connection.
pub(super) struct Ticket<'a> {
    pub(super) link: Arc<Link>,
    pool: &'a Pool,
}

/// A ticket with everything needed to use it at once.
pub(super) struct Fresh<'a> {
    pub(super) ticket: Ticket<'a>,
    pub(super) sender: SendRequest<Bytes>,
    pub(super) started: Instant,
}

impl Pool {
    pub(super) fn new(
        origin: Origin,
        tls: Arc<rustls::ClientConfig>,
        policy: AddressPolicy,
        options: WireOptions,
    ) -> Self {
        let state = State {
            links: Vec::new(),
            is_connecting: false,
            n_open: 0,
            pace: Pace::new(Instant::now()),
            n_failures: 0,
            down: None,
            n_failed_spares: 0,
            no_spare_until: None,
        };
        Self { origin, tls, policy, options, state: Mutex::new(state), changed: Notify::new() }
    }

    /// Waits for room on a connection, but no longer than for an answer.
    pub(super) async fn ticket(self: &Arc<Self>) -> Result<Fresh<'_>, WireError> {
        let waited = async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                // From here on no change is missed.
                changed.as_mut().enable();
                if let Some(ticket) = self.try_ticket()? {
                    return Ok(ticket);
                }
                changed.await;
            }
        };
        tokio::time::timeout(self.options.timeout, waited).await.unwrap_or_else(|_| Err(self.waited_in_vain()))
    }

    /// There was no room in time: on the connections that there are, or because there is none.
    fn waited_in_vain(&self) -> WireError {
        let is_connected = !self.state().links.is_empty();
        if is_connected { WireError::Timeout } else { self.no_connection_in_time() }
    }

    fn no_connection_in_time(&self) -> WireError {
        let reason = format!("{}: there was no connection in time", self.origin.authority);
        WireError::Unreachable { reason, again_in: Duration::ZERO }
    }

    /// `None`: not now. Sees to it that there will be a connection. The best one is driven by the runtime of the caller: an answer
    /// that comes by way of another thread takes more time, and waits for whatever that thread does.
    pub(super) fn try_ticket(self: &Arc<Self>) -> Result<Option<Fresh<'_>>, WireError> {
        let started = Instant::now();
        let mut state = self.state();
        let here = Handle::current().id();
        let free = state.links.iter().filter(|(_, link)| link.has_room());
        let best = free.min_by_key(|(_, link)| (link.is_stalling(started), !link.is_at_home_in(here), link.n_open()));
        let best = best.map(|(sender, link)| (sender.clone(), Arc::clone(link)));
        if best.as_ref().is_none_or(|(_, link)| !link.is_at_home_in(here) && link.is_crowded()) {
            match state.may_connect(&self.options, started) {
                Ok(true) => {
                    state.is_connecting = true;
                    tokio::spawn(self.clone().connect(!state.links.is_empty()));
                }
                Err(error) if best.is_none() => return Err(error),
                Ok(false) | Err(_) => {}
            }
        }
        let Some((sender, link)) = best else { return Ok(None) };
        link.reserve(started);
        state.n_open += 1;
        Ok(Some(Fresh { ticket: Ticket { link, pool: self }, sender, started }))
    }

    async fn connect(self: Arc<Self>, is_spare: bool) {
        let opening = connect::open(&self.origin, &self.tls, self.policy);
        let opened = tokio::time::timeout(self.options.connect_timeout, opening).await;
        let opened = opened.unwrap_or_else(|_| Err(self.no_connection_in_time()));
        let mut state = self.state();
        state.is_connecting = false;
        match opened {
            Ok(opened) => state.links.push(self.start(opened, is_spare)),
            Err(error) => state.failed(error, is_spare),
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// The connection lives until it ends by itself or is no longer used.
    fn start(self: &Arc<Self>, (sender, connection): NewConnection, is_spare: bool) -> (SendRequest<Bytes>, Arc<Link>) {
        let n_permitted = connection.max_concurrent_send_streams();
        let link = Arc::new(Link::new(self.options.one_stream_first, n_permitted, is_spare));
        let (pool, driven, timeout) = (Arc::downgrade(self), link.clone(), self.options.timeout);
        tokio::spawn(async move {
            let ended = drive(connection, &driven, &pool, timeout).await;
            if let Some(pool) = pool.upgrade() {
                pool.ended(&driven, ended);
            }
        });
        (sender, link)
    }

    fn ended(&self, link: &Link, why: Result<(), String>) {
        let mut state = self.state();
        state.forget(link);
        // One that never answered counts like one that was never there, or we would try again and again without a pause.
        if !link.is_proven() && !link.is_idle() {
            let why = why.err().unwrap_or_else(|| "the connection was closed before it was of any use".to_owned());
            let error = match connect::objects_to_certificate(&why) {
                true => WireError::Certificate(why),
                false => WireError::Unreachable {
                    reason: format!("{}: {why}", self.origin.authority),
                    again_in: Duration::ZERO,
                },
            };
            state.failed(error, link.is_spare);
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Releases a connection that was unused for a while; it closes then.
    pub(super) fn retire(&self, link: &Link) {
        let mut state = self.state();
        if link.is_idle() {
            state.forget(link);
        }
    }

    /// Takes a connection that accepts no more requests out of use; requests under way on it complete.
    pub(super) fn leave(&self, link: &Link) {
        self.state().forget(link);
        self.changed.notify_waiters();
    }

    pub(super) fn room_changed(&self) {
        self.changed.notify_waiters();
    }

    /// Notes an answer to a request that began at `started`.
    pub(super) fn answered(&self, started: Instant) {
        let now = Instant::now();
        let mut state = self.state();
        let n_open = state.n_open;
        state.pace.answered(now.duration_since(started), n_open, now);
    }

    /// A connection has proven to be of use: its first answer is there.
    pub(super) fn proven(&self) {
        let mut state = self.state();
        state.n_failures = 0;
        state.down = None;
        state.n_failed_spares = 0;
        state.no_spare_until = None;
        drop(state);
        self.changed.notify_waiters();
    }

    /// How many requests under way at once make sense, counting connections that could still be opened.
    pub(super) fn room(&self) -> usize {
        let state = self.state();
        if state.links.is_empty() && state.down.is_some() {
            return 1;
        }
        let proven = state.links.iter().filter(|(_, link)| !link.is_new());
        let per_link = proven.map(|(_, link)| link.limit()).max().unwrap_or(USUAL_STREAMS);
        (per_link * self.options.for_one_thread()).min(state.pace.n_useful()).max(1)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    /// Whether another connection may be opened now. Fails while there is none, and it is too early to try again.
    fn may_connect(&mut self, options: &WireOptions, now: Instant) -> Result<bool, WireError> {
        // A connection that still has to prove itself will soon carry more.
        let is_growing = self.is_connecting || self.links.iter().any(|(_, link)| link.is_new());
        let here = Handle::current().id();
        let has_own = self.links.iter().any(|(_, link)| link.is_at_home_in(here));
        let most = if has_own { options.for_one_thread() } else { options.connections };
        if is_growing || self.links.len() >= most {
            return Ok(false);
        }
        if self.no_spare_until.is_some_and(|until| until > now) && !self.links.is_empty() {
            return Ok(false);
        }
        let Some(down) = &self.down else { return Ok(true) };
        match down.until.checked_duration_since(now) {
            Some(again_in) if self.links.is_empty() => Err(down.error.clone().again_in(again_in)),
            Some(_) => Ok(false),
            None => {
                self.down = None;
                Ok(true)
            }
        }
    }

    fn forget(&mut self, link: &Link) {
        self.links.retain(|(_, known)| !std::ptr::eq(Arc::as_ptr(known), link));
    }

    /// A connection was of no use. That of one beside others says nothing of the provider.
    fn failed(&mut self, error: WireError, is_spare: bool) {
        let n_failures = if is_spare { &mut self.n_failed_spares } else { &mut self.n_failures };
        let pause = FIRST_BACK_OFF.saturating_mul(1 << (*n_failures).min(16)).min(LONGEST_BACK_OFF);
        *n_failures += 1;
        let until = Instant::now() + pause;
        if is_spare {
            self.no_spare_until = Some(until);
        } else {
            self.down = Some(Down { until, error });
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.pool.state().n_open -= 1;
        self.link.release();
        self.pool.changed.notify_one();
    }
}
