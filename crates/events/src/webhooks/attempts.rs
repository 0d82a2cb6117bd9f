//! The requests of a webhook since the last checkpoint.

use model::event::EventOffset;
use model::time::UtcMillis;
use store::webhooks::{Attempt, DeadLetter, Entry, EntryKind};

use super::window::Sent;

/// So many attempts go into the history at each checkpoint; of successful ones, half as many. All are counted.
const MOST_NOTED: usize = 100;

#[derive(Clone, Debug, Default)]
pub(super) struct AttemptLog {
    pub(super) n_delivered: i64,
    pub(super) n_failed: i64,
    /// Log records that were deleted before they were read.
    pub(super) n_missed: i64,
    pub(super) last_delivered: Option<UtcMillis>,
    pub(super) entries: Vec<Entry>,
    pub(super) letters: Vec<DeadLetter>,
    /// Why the webhook is to be disabled.
    pub(super) end: Option<String>,
}

impl AttemptLog {
    pub(super) fn is_empty(&self) -> bool {
        let is_quiet = self.n_delivered == 0 && self.n_failed == 0 && self.n_missed == 0;
        is_quiet && self.letters.is_empty() && self.end.is_none()
    }

    /// How much there is to remember.
    pub(super) fn n_events(&self) -> usize {
        usize::try_from(self.n_delivered + self.n_failed).unwrap_or(usize::MAX).saturating_add(self.letters.len())
    }

    pub(super) fn delivered(&mut self, sent: Sent, status: u16, millis: u32, now: UtcMillis) {
        self.n_delivered += 1;
        self.last_delivered = Some(now);
        if self.entries.len() < MOST_NOTED / 2 {
            self.entries.push(request(sent, Some(status), None, millis, now));
        }
    }

    pub(super) fn failed(&mut self, sent: Sent, status: Option<u16>, reason: &str, millis: u32, now: UtcMillis) {
        self.n_failed += 1;
        if self.entries.len() < MOST_NOTED {
            self.entries.push(request(sent, status, Some(reason.to_owned()), millis, now));
        }
    }

    pub(super) fn missed(&mut self, n_missed: u64, goes_on_after: EventOffset, now: UtcMillis) {
        self.n_missed = self.n_missed.saturating_add_unsigned(n_missed);
        self.entries.push(Entry { at: now, offset: goes_on_after, kind: EntryKind::Gap { n_missed } });
    }
}

fn request(sent: Sent, status: Option<u16>, error: Option<String>, millis: u32, now: UtcMillis) -> Entry {
    let Sent { event, kind, offset, attempt } = sent;
    let attempt = Attempt { event, kind, number: attempt, millis, status: status.map(u32::from), error };
    Entry { at: now, offset, kind: EntryKind::Request(attempt) }
}
