//! One connection of a device, in whichever form.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

use model::ids::{ChannelId, Ordinal};
use model::time::UtcMillis;
use parking_lot::Mutex;
use tenancy::Caller;
use tokio::sync::Notify;

use crate::End;
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
        Self { ordinal, channel, caller, expires, wake: Notify::new(), ended: OnceLock::new(), socket }
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

    /// A newer token of the channel was shown.
    pub(crate) fn renew(&self, caller: Caller, expires: UtcMillis) {
        *self.caller.lock() = caller;
        self.expires.store(expires.0, Ordering::Relaxed);
    }

    pub(crate) fn caller(&self) -> Caller {
        self.caller.lock().clone()
    }

    pub(crate) fn is_expired(&self, now: UtcMillis) -> bool {
        self.expires.load(Ordering::Relaxed) <= now.0
    }
}
