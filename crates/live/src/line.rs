//! One connection of a device, in whichever form.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use model::ids::{ChannelId, Offset, Ordinal};
use model::time::UtcMillis;
use parking_lot::Mutex;
use tenancy::Caller;
use tokio::sync::Notify;

use crate::End;
use crate::message::InboxNews;
use crate::socket::Socket;

pub(crate) struct Line {
    pub(crate) ordinal: Ordinal,
    pub(crate) channel: ChannelId,
    /// Whose credentials it was opened with, or last renewed with.
    caller: Mutex<Caller>,
    /// When its token ends, in milliseconds.
    expires: AtomicI64,
    /// Something is new for the task that serves it.
    pub(crate) wake: Notify,
    ended: OnceLock<End>,
    /// How the inbox of the channel is, if the device is yet to be told.
    inbox: Mutex<Option<InboxNews>>,
    /// Where messages are written to at once; other forms are woken, and read them.
    pub(crate) socket: Option<Socket>,
}

impl Line {
    pub(crate) fn new(
        ordinal: Ordinal,
        channel: ChannelId,
        caller: Caller,
        expires: Option<UtcMillis>,
        socket: Option<Socket>,
    ) -> Self {
        let expires = AtomicI64::new(expires.map_or(i64::MAX, |expires| expires.0));
        let caller = Mutex::new(caller);
        let (wake, ended, inbox) = (Notify::new(), OnceLock::new(), Mutex::default());
        Self { ordinal, channel, caller, expires, wake, ended, inbox, socket }
    }

    /// Ends the connection. The first reason counts.
    pub(crate) fn end(&self, end: End) {
        if self.ended.set(end).is_ok() {
            self.wake.notify_one();
        }
    }

    pub(crate) fn ended(&self) -> Option<End> {
        self.ended.get().copied()
    }

    /// Has the device told how its inbox is, in place of what it was not told yet.
    pub(crate) fn tell_inbox(&self, news: InboxNews) {
        *self.inbox.lock() = Some(news);
        self.wake.notify_one();
    }

    pub(crate) fn take_inbox(&self) -> Option<InboxNews> {
        self.inbox.lock().take()
    }

    pub(crate) fn has_inbox(&self) -> bool {
        self.inbox.lock().is_some()
    }

    /// Has the socket take how the inbox is. A socket that is behind is asked again when it has taken something.
    pub(crate) fn offer_inbox(&self, socket: &Socket) {
        let mut inbox = self.inbox.lock();
        if inbox.is_some_and(|news| socket.offer_inbox(news)) {
            *inbox = None;
        }
    }

    /// A newer token of the channel was shown.
    pub(crate) fn renew(&self, caller: Caller, expires: UtcMillis) {
        *self.caller.lock() = caller;
        self.expires.store(expires.0, Ordering::Relaxed);
    }

    /// Whether its caller stands or falls with another.
    pub(crate) fn stands_as(&self, caller: &Caller) -> bool {
        self.caller.lock().stands_as(caller)
    }

    /// Adds its caller to some, unless one of them stands for it.
    pub(crate) fn note_caller(&self, callers: &mut Vec<Caller>) {
        let caller = self.caller.lock();
        if !callers.iter().any(|known| known.stands_as(&caller)) {
            callers.push(caller.clone());
        }
    }

    /// Ends the connection if its token has ended, or its device is silent or takes nothing, and pings the device if it is time to.
    /// All connections were handed everything up to the settled position.
    pub(crate) fn check(&self, now: UtcMillis, instant: Instant, settled: Option<Offset>) {
        if self.expires.load(Ordering::Relaxed) <= now.0 {
            self.end(End::Credentials);
        }
        let Some(socket) = &self.socket else { return };
        // Nothing is taken out of it meanwhile: a position says that the device knows how its inbox is.
        let inbox = self.inbox.lock();
        match socket.check(instant, settled.filter(|_| inbox.is_none())) {
            Err(end) => self.end(end),
            // A ping that did not fit.
            Ok(()) if socket.has_rest() => self.wake.notify_one(),
            Ok(()) => {}
        }
    }
}
