//! What a connection waits for: a server that stops waits for its own work, and not for callers that neither send nor read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Clones are of the same connection.
#[derive(Clone, Default)]
pub(super) struct Peer(Arc<State>);

#[derive(Default)]
struct State {
    /// A head has begun, and its end has not come.
    head_awaited: AtomicBool,
    /// A handler reads a body of which no more has come.
    body_awaited: AtomicBool,
    /// An answer cannot be written because the caller does not read.
    answer_unread: AtomicBool,
    /// Bytes of bodies and answers so far.
    n_bytes: AtomicU64,
}

impl Peer {
    pub(super) fn await_head(&self, is_awaited: bool) {
        self.0.head_awaited.store(is_awaited, Relaxed);
    }

    pub(super) fn await_body(&self, is_awaited: bool) {
        self.0.body_awaited.store(is_awaited, Relaxed);
    }

    pub(super) fn await_reading(&self, is_awaited: bool) {
        self.0.answer_unread.store(is_awaited, Relaxed);
    }

    pub(super) fn count(&self, n_bytes: usize) {
        self.0.n_bytes.fetch_add(n_bytes as u64, Relaxed);
    }

    pub(super) fn is_awaited(&self) -> bool {
        let State { head_awaited, body_awaited, answer_unread, .. } = &*self.0;
        [head_awaited, body_awaited, answer_unread].into_iter().any(|is_awaited| is_awaited.load(Relaxed))
    }

    pub(super) fn n_bytes(&self) -> u64 {
        self.0.n_bytes.load(Relaxed)
    }
}
