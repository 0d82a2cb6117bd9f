//! Pushes delivered to channels in the last hours, in memory, to attribute openings of the app.
//!
//! It follows the records of deliveries in the log and is read from there when an app first needs it, so nothing else keeps it.

mod deliveries;

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use audience::codec;
use base::{Result, UnreadableRecord};
use boxed::boxed;
use model::event::{Many, RecordKind};
use model::ids::{AppId, Offset};
use model::time::UtcMillis;
use parking_lot::{Mutex, RwLock};
use store::{Store, Tx, log};
use tokio::sync::Mutex as AsyncMutex;

use crate::Sending;

pub use deliveries::Deliveries;
pub use deliveries::RecentPush;

/// How long after its delivery a push can have influenced an opening.
pub const INFLUENCE: Duration = Duration::from_secs(12 * 60 * 60);
/// How long after it was accepted the recipients of a push are kept. Other pushes of its run look them up, and no run takes nearly
/// as long; so do responses of devices.
pub const RECIPIENTS_KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Devices may upload a little later.
const KEPT: Duration = Duration::from_secs(13 * 60 * 60);
/// The log is read at least this often while somebody asks, so that old deliveries are forgotten.
const READ_EVERY: Duration = Duration::from_secs(60);
const RECORDS_PER_READ: u32 = 1_000;

/// The recent deliveries of the apps that this process has used.
#[derive(Default)]
pub(crate) struct RecentDeliveries(Mutex<HashMap<AppId, Arc<Recent>>>);

/// The recent deliveries of one app.
#[derive(Default)]
pub struct Recent {
    /// How often a task began to read the log. Grows only under the lock of `read`.
    begun: AtomicU64,
    /// The last of these readings that was completed.
    reached_by: AtomicU64,
    /// The task that holds the lock reads on from there.
    read: AsyncMutex<LogRead>,
    deliveries: RwLock<Deliveries>,
}

/// How far the log was read.
#[derive(Default)]
struct LogRead {
    until: Option<Offset>,
    /// When, and how many commits had recorded deliveries by then, if they are counted.
    at: UtcMillis,
    n_deliveries: Option<u64>,
    /// Passed over and not told of yet.
    unreadable: Vec<UnreadableRecord>,
}

impl RecentDeliveries {
    fn of(&self, app: AppId) -> Arc<Recent> {
        self.0.lock().entry(app).or_default().clone()
    }

    pub(crate) fn retain(&self, exists: impl Fn(AppId) -> bool) {
        self.0.lock().retain(|app, _| exists(*app));
    }
}

#[boxed]
impl Sending {
    /// The recent deliveries of an app, with all that are committed by now.
    pub async fn recent_deliveries(&self, app: AppId) -> Result<Arc<Recent>> {
        let recent = self.0.recent.of(app);
        let unreadable = recent.catch_up(&self.0.store, app, self.0.clock.now()).await?;
        if !unreadable.is_empty() {
            let key = self.0.tenancy.key_for_log(app).await;
            unreadable.iter().for_each(|record| record.report(&key, "recent_deliveries"));
        }
        Ok(recent)
    }
}

impl Recent {
    pub fn look<T>(&self, look: impl FnOnce(&Deliveries) -> T) -> T {
        look(&self.deliveries.read())
    }

    /// Returns the records that it had to pass over: the pushes that they are about influence nothing.
    async fn catch_up(&self, store: &Store, app: AppId, now: UtcMillis) -> Result<Vec<UnreadableRecord>> {
        let begun = self.begun.load(Ordering::SeqCst);
        let mut read = self.read.lock().await;
        // Many tasks ask at once, and a task that began after this one asked has read enough for it.
        if self.reached_by.load(Ordering::SeqCst) > begun {
            return Ok(Vec::new());
        }
        let n_deliveries = store.n_deliveries();
        if read.is_all(n_deliveries, now) {
            return Ok(Vec::new());
        }
        let turn = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        loop {
            let since = read.until;
            let page = store.read(move |tx| next_page(tx, app, since, now)).await?;
            let mut deliveries = self.deliveries.write();
            read.unreadable.extend(page.unreadable);
            for (offset, many) in page.found {
                match codec::decode(&many.ordinals) {
                    Ok(channels) => deliveries.add(many.push, many.occurred, &channels),
                    Err(_) => read.unreadable.push(UnreadableRecord::of_form(offset, RecordKind::Send)),
                }
            }
            deliveries.forget_before(now.minus(KEPT));
            read.until = Some(page.looked);
            if page.is_end {
                (read.at, read.n_deliveries) = (now, n_deliveries);
                self.reached_by.store(turn, Ordering::SeqCst);
                return Ok(mem::take(&mut read.unreadable));
            }
        }
    }
}

impl LogRead {
    /// Whether no delivery was recorded since, as far as that is known without asking the database.
    fn is_all(&self, n_deliveries: Option<u64>, now: UtcMillis) -> bool {
        n_deliveries.is_some()
            && n_deliveries == self.n_deliveries
            && (self.at..self.at.plus(READ_EVERY)).contains(&now)
    }
}

struct Page {
    found: Vec<(Offset, Many)>,
    unreadable: Vec<UnreadableRecord>,
    looked: Offset,
    is_end: bool,
}

fn next_page(tx: &mut Tx<'_>, app: AppId, read: Option<Offset>, now: UtcMillis) -> Result<Page> {
    let head = log::head(tx, app)?;
    let after = match read {
        Some(offset) => offset,
        None => Offset(log::first_since(tx, app, now.minus(KEPT))?.0 - 1),
    };
    let mut bodies: Vec<(Offset, Vec<u8>)> = Vec::new();
    if after < head {
        log::visit_sends(tx, app, after, head, RECORDS_PER_READ, |offset, body| {
            bodies.push((offset, body.to_vec()));
            Ok(())
        })?;
    }
    let is_end = bodies.len() < RECORDS_PER_READ as usize;
    let last = bodies.last().map_or(after, |(offset, _)| *offset);
    let (mut found, mut unreadable) = (Vec::with_capacity(bodies.len()), Vec::new());
    for (offset, body) in bodies {
        match postcard::from_bytes(&body) {
            Ok(many) => found.push((offset, many)),
            Err(_) => unreadable.push(UnreadableRecord::of_form(offset, RecordKind::Send)),
        }
    }
    Ok(Page { found, unreadable, looked: if is_end { head.max(after) } else { last }, is_end })
}
