//! The newest records of logs in memory: read once for all that follow a log on this node.
//!
//! The index, webhooks, streams, pipelines and the deliveries of the last hours all read the same records soon after they were
//! written. The first of them to ask reads the kinds that any of them asks for, and the others find them here. Whoever is behind
//! the window reads the database.
//!
//! A window changes no answer. Records never change, except when a person is erased, upon which it is filled anew; and a
//! transaction asks only for offsets within the bounds that it sees itself. A window is filled from the state of one transaction,
//! without gaps, and only while all records after its end are kept. A reader does not wait for another one that waits for the
//! database.

mod window;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use model::event::RecordKind;
use model::ids::{AppId, Offset};
use parking_lot::Mutex;

use super::{Record, bounds};
use crate::{Result, Tx};
use window::Window;

/// The apps with a window. With the limits of a window, this bounds the memory to 64 MiB.
const MOST_APPS: usize = 16;
/// How long a reader waits for one that fills the window, at most.
const PATIENCE: Duration = Duration::from_millis(50);

/// How often logs were read since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogReads {
    /// Statements that read records.
    pub from_database: u64,
    /// Questions that were answered without one.
    pub from_memory: u64,
}

/// The windows of a node.
#[derive(Default)]
pub(crate) struct LogWindows {
    apps: Mutex<HashMap<AppId, Slot>>,
    clock: AtomicU64,
    from_database: AtomicU64,
    from_memory: AtomicU64,
}

struct Slot {
    window: Arc<Mutex<Window>>,
    last_used: u64,
}

/// Which records are asked for.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) after: Offset,
    pub(crate) until: Offset,
    pub(crate) kinds: &'a BTreeSet<RecordKind>,
    pub(crate) at_most: u32,
}

impl LogWindows {
    /// The wanted records, oldest first; `None` if the reader has to read the database by itself.
    pub(crate) fn records(&self, tx: &mut Tx<'_>, app: AppId, wanted: Wanted<'_>) -> Result<Option<Vec<Arc<Record>>>> {
        let Some(bounds) = bounds::in_snapshot(tx, app)? else {
            self.apps.lock().remove(&app);
            return Ok(Some(Vec::new()));
        };
        let wanted = Wanted { until: wanted.until.min(bounds.head), ..wanted };
        if wanted.after >= wanted.until || wanted.kinds.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let window = self.window_of(app);
        let Some(mut window) = window.try_lock_for(PATIENCE) else { return Ok(None) };
        if !window.admit(&bounds, wanted) {
            return Ok(None);
        }
        let mut n_reads = 0;
        let found = window.take(wanted, |after, kinds| {
            n_reads += 1;
            window::read(tx, app, (after, wanted.until), kinds)
        });
        self.from_database.fetch_add(n_reads, Ordering::Relaxed);
        self.from_memory.fetch_add(u64::from(n_reads == 0), Ordering::Relaxed);
        found.map(Some)
    }

    /// Counts a reader that has read the database by itself.
    pub(crate) fn count_stored(&self) {
        self.from_database.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn reads(&self) -> LogReads {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        LogReads { from_database: of(&self.from_database), from_memory: of(&self.from_memory) }
    }

    pub(crate) fn retain(&self, mut exists: impl FnMut(AppId) -> bool) {
        self.apps.lock().retain(|app, _| exists(*app));
    }

    pub(crate) fn apps(&self) -> Vec<AppId> {
        self.apps.lock().keys().copied().collect()
    }

    /// The window of an app, in place of the one that was not used for longest if there are too many.
    fn window_of(&self, app: AppId) -> Arc<Mutex<Window>> {
        let last_used = self.clock.fetch_add(1, Ordering::Relaxed);
        let mut apps = self.apps.lock();
        if apps.len() >= MOST_APPS
            && !apps.contains_key(&app)
            && let Some(idle) = apps.iter().min_by_key(|(_, slot)| slot.last_used).map(|(app, _)| *app)
        {
            apps.remove(&idle);
        }
        let slot = apps.entry(app).or_insert_with(|| Slot { window: Arc::default(), last_used });
        slot.last_used = last_used;
        Arc::clone(&slot.window)
    }
}
