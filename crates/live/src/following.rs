//! Following the log of an app that has connections: new messages go into the backlog and to the connections.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use base::{Error, Result, UnreadableRecord};
use boxed::boxed;
use model::ids::{AppId, Offset};
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::{Tx, log};

use crate::Live;
use crate::backlog::{Backlog, KEPT};
use crate::hub::{Hub, Reading};
use crate::inboxes;
use crate::message::Message;
use crate::records::{self, Bounds, Looked};

const MOST_READ: Bounds = Bounds { n_records: 500, n_bytes: 4 * 1024 * 1024 };
/// How long an app without connections is still followed: devices that poll come again and again.
const IDLE: Duration = Duration::from_secs(120);
/// Before the database is asked again after an error.
pub(crate) const PAUSE: Duration = Duration::from_secs(1);

impl Live {
    /// Has a task follow the log for the connections of an app.
    pub(crate) fn follow(&self, hub: &Arc<Hub>) {
        if !std::mem::replace(&mut hub.lines.lock().is_followed, true) {
            tokio::spawn(self.clone().follow_for(hub.clone()));
        }
    }

    async fn follow_for(self, hub: Arc<Hub>) {
        // None of them waits for another.
        tokio::select! {
            () = self.read_along(&hub) => {}
            () = self.watch(&hub) => {}
            () = self.write_along(&hub) => {}
        }
        // A node that could not write it is taken for gone a few seconds later.
        self.write_last(&hub).await;
    }

    /// Reads what comes, until the app is let go.
    async fn read_along(&self, hub: &Arc<Hub>) {
        let (mut news, mut used) = (self.0.tenancy.news(hub.app), Instant::now());
        loop {
            let read = self.read_on(hub).await;
            let is_end = read.as_ref().map_or(true, |page| page.is_end);
            if let Err(error) = &read {
                tracing::warn!(
                    error = error as &dyn std::error::Error,
                    "the log could not be read for live connections"
                );
                tokio::time::sleep(PAUSE).await;
            }
            if !hub.lines.lock().is_empty() {
                used = Instant::now();
            }
            let is_stopping = self.0.is_stopping.load(Ordering::Relaxed);
            if (is_stopping || read.is_err() || used.elapsed() >= IDLE) && self.let_go(hub) {
                return;
            }
            if is_end {
                self.0.tenancy.something_new(&mut news).await;
            }
        }
    }

    /// Gives up an app that nobody is connected for. Connections are made under the same lock.
    fn let_go(&self, hub: &Arc<Hub>) -> bool {
        // One reference is the map's, and one that of the task that follows the log.
        const OWN: usize = 2;
        let mut hubs = self.0.hubs.lock();
        let is_idle = hub.lines.lock().is_empty() && Arc::strong_count(hub) <= OWN;
        if is_idle {
            hubs.remove(&hub.app);
        }
        is_idle
    }
}

#[boxed]
impl Live {
    /// Takes in every message that is committed by now.
    pub(crate) async fn catch_up(&self, hub: &Arc<Hub>) -> Result<()> {
        let mut read = self.read_apart(hub).await?;
        let head = read.head;
        while !read.is_end && read.looked < head {
            read = self.read_apart(hub).await?;
        }
        Ok(())
    }

    /// Takes in the next messages. Everybody who wants some waits for their turn, so that no one reads what another has read.
    async fn read_on(&self, hub: &Arc<Hub>) -> Result<Read> {
        let mut reading = hub.reading.lock().await;
        self.take_in(hub, &mut reading).await
    }

    /// The same in a task of its own, for a caller that is given up when its device hangs up: what is in the backlog counts as
    /// handed out, so that nobody may stop before all connections were offered it.
    async fn read_apart(&self, hub: &Arc<Hub>) -> Result<Read> {
        let mut reading = hub.reading.clone().lock_owned().await;
        let (live, hub) = (self.clone(), hub.clone());
        let taking = tokio::spawn(async move { live.take_in(&hub, &mut reading).await });
        taking.await.map_err(Error::internal)?
    }

    async fn take_in(&self, hub: &Arc<Hub>, reading: &mut Reading) -> Result<Read> {
        let (app, now, n_rewrites) = (hub.app, self.0.clock.now(), reading.n_rewrites);
        let is_loaded = hub.is_loaded.load(Ordering::Acquire);
        let seen = Seen { messages: is_loaded.then(|| hub.backlog.read().seen()), inboxes: hub.inboxes.lock().seen() };
        let page = self.0.store.read(move |tx| next_page(tx, app, seen, n_rewrites, now)).await?;
        if page.is_new_log {
            self.0.passed_over.forget(app);
        }
        if page.is_new_log || !is_loaded {
            *hub.backlog.write() = Backlog::after(page.after);
            *reading = Reading { n_rewrites: page.n_rewrites };
            let connected = hub.lines.lock().connected.clone();
            hub.inboxes.lock().restart(page.head, page.after, &connected);
            hub.is_loaded.store(true, Ordering::Release);
        }
        for (message, channels) in &page.found {
            // What has expired by now is told to nobody, now or later.
            if !message.is_expired(now) {
                hub.backlog.write().add(message, channels);
                hub.fan_out(message, channels).await;
            }
        }
        {
            let mut backlog = hub.backlog.write();
            backlog.advance(page.looked);
            backlog.forget_before(now.minus(KEPT));
        }
        // All that are connected are told how theirs are, and so are devices that come back.
        if !page.are_inboxes_known {
            let connected = hub.lines.lock().connected.clone();
            hub.inboxes.lock().restart(page.looked, page.looked, &connected);
        }
        self.note_inboxes(hub, &page.inboxes, page.looked);
        self.report(app, page.unreadable).await;
        Ok(Read { head: page.head, looked: page.looked, is_end: page.is_end })
    }

    /// Says which records were passed over. An app that was let go is followed anew from hours ago.
    async fn report(&self, app: AppId, unreadable: Vec<UnreadableRecord>) {
        let news = self.0.passed_over.news(app, unreadable);
        if !news.is_empty() {
            let key = self.0.tenancy.key_for_log(app).await;
            news.iter().for_each(|record| record.report(&key, "live_connections"));
        }
    }
}

/// How far the log was read, of what is there.
struct Read {
    head: Offset,
    looked: Offset,
    is_end: bool,
}

/// How far the log was read.
#[derive(Clone, Copy)]
struct Seen {
    /// `None` before the first time.
    messages: Option<Offset>,
    inboxes: Offset,
}

struct Page {
    /// The messages and their channels.
    found: Vec<(Message, RoaringBitmap)>,
    /// Channels in whose inboxes something has changed.
    inboxes: RoaringBitmap,
    /// Whether these are all, as far as the log is followed.
    are_inboxes_known: bool,
    /// The records that were passed over.
    unreadable: Vec<UnreadableRecord>,
    head: Offset,
    after: Offset,
    looked: Offset,
    is_end: bool,
    /// Whether what was read before is no longer true: a person was erased from it, or the database is an older one.
    is_new_log: bool,
    n_rewrites: i64,
}

fn next_page(tx: &mut Tx<'_>, app: AppId, seen: Seen, known: i64, now: UtcMillis) -> Result<Page> {
    let Seen { messages: since, inboxes: inboxes_seen } = seen;
    let (head, n_rewrites) = (log::head(tx, app)?, log::n_rewrites(tx, app)?);
    let is_new_log = since.is_some_and(|since| since > head || n_rewrites != known);
    let after = match since.filter(|_| !is_new_log) {
        Some(since) => since,
        None => Offset(log::first_since(tx, app, now.minus(KEPT))?.0 - 1).min(head),
    };
    let mut found: Vec<(Message, RoaringBitmap)> = Vec::new();
    let Looked { up_to: looked, is_end, mut unreadable } =
        records::read(tx, app, (after, head), MOST_READ, |message, channels| found.push((message, channels)))?;
    // What has changed in inboxes before the log is followed is not known: a device that comes back is told how its own is.
    let is_followed = since.is_some() && !is_new_log;
    let (inboxes, unknown) = match is_followed {
        true => inboxes::changes(tx, app, (inboxes_seen, looked))?,
        false => (RoaringBitmap::new(), Vec::new()),
    };
    let are_inboxes_known = unknown.is_empty();
    unreadable.extend(unknown);
    Ok(Page { found, inboxes, are_inboxes_known, unreadable, head, after, looked, is_end, is_new_log, n_rewrites })
}
