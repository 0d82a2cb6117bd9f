//! Counts of rows that requests share, between the commits that write them.
//!
//! The change that needs a row first writes it, so that no change is without its row. Those that follow within seconds are counted
//! here when they are committed, and their number is added to the row a little later: otherwise every commit would write the row
//! again. A process that dies takes the last of these counts with it, and never a row.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use model::ids::AppId;
use parking_lot::Mutex;

use super::pending::{Counted, SharedKey};
use crate::Store;

/// How long counts wait.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// Rows whose counts may wait; more are written with every commit.
const MOST_ROWS: usize = 4096;

/// The rows that one writer has written a moment ago.
#[derive(Default)]
pub(crate) struct Tally(Mutex<Known>);

#[derive(Default)]
struct Known {
    rows: BTreeMap<SharedKey, KnownRow>,
    /// When the counts are written at the latest; `None` if no row is known.
    due: Option<Instant>,
}

struct KnownRow {
    /// The requests that are not in the row yet.
    counted: Counted,
    /// Whether the row is there for sure. A server that takes over from another may lack the last commits.
    is_sure: bool,
}

impl Tally {
    /// The count that waits for a row, and whether more may wait; `None` if the row has to be written.
    pub(super) fn waiting(&self, key: &SharedKey) -> Option<(i64, bool)> {
        self.0.lock().rows.get(key).map(|row| (row.counted.n, row.is_sure))
    }

    /// The counts that wait for rows of an app.
    pub(super) fn of_app(&self, app: AppId) -> Vec<(SharedKey, Counted)> {
        let known = self.0.lock();
        let of_app = known.rows.iter().filter(|(key, row)| key.app == app && row.counted.n > 0);
        of_app.map(|(key, row)| (key.clone(), row.counted.clone())).collect()
    }

    /// Rows were committed with all of their counts, and changes whose rows were there already.
    pub(super) fn note(&self, written: Vec<(SharedKey, Counted)>, put_off: Vec<(SharedKey, Counted)>) {
        if written.is_empty() && put_off.is_empty() {
            return;
        }
        let mut known = self.0.lock();
        for (key, counted) in written {
            known.rows.remove(&key);
            if known.rows.len() < MOST_ROWS {
                known.rows.insert(key, KnownRow { counted: counted.emptied(), is_sure: true });
            }
        }
        for (key, counted) in put_off {
            match known.rows.get_mut(&key) {
                Some(row) => row.counted.add(counted),
                None => drop(known.rows.insert(key, KnownRow { counted, is_sure: false })),
            }
        }
        known.due.get_or_insert_with(|| Instant::now() + LONGEST_WAIT);
    }

    /// An app is gone, and its rows with it.
    pub(crate) fn forget(&self, app: AppId) {
        self.0.lock().rows.retain(|key, _| key.app != app);
    }

    /// The database may have lost what was committed last: rows are written again before counts wait for them.
    pub(crate) fn doubt(&self) {
        self.0.lock().rows.values_mut().for_each(|row| row.is_sure = false);
    }

    /// The apps with counts that wait.
    pub(crate) fn apps(&self) -> BTreeSet<AppId> {
        self.0.lock().apps()
    }

    /// When [`Tally::take_due`] has something to do.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.0.lock().due
    }

    /// The apps with counts that have waited for long enough. Forgets the rows that no change has come to since. What cannot be
    /// written now is due again later.
    pub(crate) fn take_due(&self, now: Instant) -> BTreeSet<AppId> {
        let mut known = self.0.lock();
        if known.due.is_none_or(|due| now < due) {
            return BTreeSet::new();
        }
        known.rows.retain(|_, row| row.counted.n > 0);
        known.due = (!known.rows.is_empty()).then(|| now + LONGEST_WAIT);
        known.apps()
    }
}

impl Store {
    /// Writes what this process has counted for the audit log, which otherwise takes a few seconds. What cannot be written now is
    /// written later.
    pub async fn write_audit_counts(&self) {
        let apps: BTreeSet<AppId> = self.shared.tallies.iter().flat_map(|tally| tally.apps()).collect();
        for app in apps {
            if let Err(error) = self.change(app, app, Box::new(move |tx| tx.write_counts(app))).await {
                tracing::debug!(%error, "counts of the audit log have to wait");
            }
        }
    }
}

impl Known {
    fn apps(&self) -> BTreeSet<AppId> {
        self.rows.iter().filter(|(_, row)| row.counted.n > 0).map(|(key, _)| key.app).collect()
    }
}
