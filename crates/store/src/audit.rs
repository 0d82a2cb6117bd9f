//! The audit log: who asked for which change, from where, and when.
//!
//! A request that may change something is known to the task that serves it ([`on_behalf_of`]). The first of its transactions that
//! changes something also writes its row, so that neither exists without the other. Nothing else writes rows: requests of devices
//! and jobs are on behalf of nobody.

mod listing;
mod pending;
mod retention;
mod tally;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::ids::{AppId, OperationId};
use model::time::UtcMillis;

use crate::Tx;

pub use listing::{AuditRow, Filter, Position, newest};
pub(crate) use pending::{About, PendingAudit, write};
pub use retention::delete_before;
pub(crate) use tally::Tally;

const MINUTE: i64 = 60 * 1000;

/// A request that may change something.
#[derive(Debug)]
pub struct Request {
    at: UtcMillis,
    wanted: Wanted,
    /// Tells it from others of the same time, if it has a row of its own.
    number: i64,
    /// Whether a transaction with its row was committed.
    is_recorded: AtomicBool,
}

/// What is known of a request before it is carried out.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// By whose credential; never the secret itself.
    pub credential: Arc<str>,
    pub address: Option<IpAddr>,
    /// The name of the change, such as `push.send`.
    pub action: &'static str,
    pub rows: Rows,
    /// The things that the request names: what each is, and its id.
    pub object: Vec<(String, String)>,
    pub request_id: Option<String>,
}

/// How many rows requests get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    Each,
    /// One for all requests of a minute with the same credential, address and action. There may be thousands a second of these, so
    /// their row says how many there were, and not what each has changed.
    PerMinute,
}

impl Request {
    pub fn new(at: UtcMillis, wanted: Wanted) -> Self {
        let number = match wanted.rows {
            Rows::Each => first_bits(OperationId::random().uuid().as_bytes()),
            Rows::PerMinute => 0,
        };
        Self { at, wanted, number, is_recorded: AtomicBool::new(false) }
    }

    /// As another row, for one of several changes.
    pub(crate) fn again(&self) -> Self {
        Self::new(self.at, self.wanted.clone())
    }

    pub(crate) fn credential(&self) -> &str {
        &self.wanted.credential
    }

    /// Whether its row says what it has changed.
    pub(crate) fn has_own_row(&self) -> bool {
        self.wanted.rows == Rows::Each
    }

    pub(crate) fn is_recorded(&self) -> bool {
        self.is_recorded.load(Ordering::Relaxed)
    }

    fn set_recorded(&self) {
        self.is_recorded.store(true, Ordering::Relaxed);
    }
}

/// A number that is not negative.
fn first_bits(bytes: &[u8]) -> i64 {
    bytes.iter().take(8).fold(0_i64, |number, byte| (number << 8) | i64::from(*byte)) & i64::MAX
}

tokio::task_local! {
    static REQUEST: Arc<Request>;
}

/// Has what `work` changes recorded as asked for by the request. Tasks that `work` spawns are not on its behalf.
pub async fn on_behalf_of<T>(request: Request, work: impl Future<Output = T>) -> T {
    REQUEST.scope(Arc::new(request), work).await
}

/// The request that the running task serves.
pub(crate) fn current_request() -> Option<Arc<Request>> {
    REQUEST.try_with(Arc::clone).ok()
}

/// Writes a row for a change that is no command of a caller.
pub(crate) fn record<const N: usize>(tx: &mut Tx<'_>, app: AppId, request: Request, detail: [(&str, &str); N]) {
    let detail = detail.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    tx.pending_audit().push(app, Arc::new(request), About { detail, ..About::default() });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_with_rows_of_their_own_have_numbers_of_their_own() {
        let wanted = Wanted {
            credential: "a".into(),
            address: None,
            action: "tag.create",
            rows: Rows::Each,
            object: Vec::new(),
            request_id: None,
        };
        let number = || Request::new(UtcMillis(0), wanted.clone()).number;
        assert_ne!(number(), number());
        assert!((0..100).all(|_| number() >= 0));
    }
}
