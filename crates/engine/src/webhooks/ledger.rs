//! What has happened to a webhook since the last checkpoint.

use model::time::UtcMillis;
use store::webhooks::{DeadLetter, NewAttempt};

use super::window::Sent;

/// So many attempts go into the history at each checkpoint; of those that succeed, half as many. All are counted.
const MOST_NOTED: usize = 100;

#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    pub(super) n_delivered: i64,
    pub(super) n_failed: i64,
    pub(super) last_delivered: Option<UtcMillis>,
    pub(super) attempts: Vec<NewAttempt>,
    pub(super) letters: Vec<DeadLetter>,
    /// Why the webhook is to be disabled.
    pub(super) end: Option<String>,
}

impl Ledger {
    pub(super) fn is_empty(&self) -> bool {
        self.n_delivered == 0 && self.n_failed == 0 && self.end.is_none()
    }

    pub(super) fn n_events(&self) -> usize {
        usize::try_from(self.n_delivered + self.n_failed).unwrap_or(usize::MAX)
    }

    pub(super) fn delivered(&mut self, sent: &Sent, status: u16, millis: u32, now: UtcMillis) {
        self.n_delivered += 1;
        self.last_delivered = Some(now);
        if self.attempts.len() < MOST_NOTED / 2 {
            self.attempts.push(attempt(sent, Some(status), None, millis, now));
        }
    }

    pub(super) fn failed(&mut self, sent: &Sent, status: Option<u16>, reason: &str, millis: u32, now: UtcMillis) {
        self.n_failed += 1;
        if self.attempts.len() < MOST_NOTED {
            self.attempts.push(attempt(sent, status, Some(reason.to_owned()), millis, now));
        }
    }
}

fn attempt(sent: &Sent, status: Option<u16>, error: Option<String>, millis: u32, now: UtcMillis) -> NewAttempt {
    NewAttempt {
        at: now,
        event: sent.event.id,
        kind: sent.event.kind,
        offset: sent.event.offset,
        attempt: sent.attempt,
        millis,
        status: status.map(u32::from),
        error,
    }
}
