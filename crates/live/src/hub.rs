//! The connections of one app on this node.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use base::Metrics;
use model::ids::{AppId, ChannelId, Ordinal};
use parking_lot::{Mutex, RwLock};
use roaring::RoaringBitmap;
use tokio::sync::Mutex as AsyncMutex;

use crate::acks::Acks;
use crate::backlog::Backlog;
use crate::inboxes::Inboxes;
use crate::line::Line;
use crate::places::{Place, Places};
use crate::presence::Written;
use crate::{End, Live};

/// Connections of one channel; a newer one ends the oldest.
const MOST_OF_CHANNEL: usize = 4;
/// Connections looked at before others get their turn on the thread.
const SLICE: usize = 1_024;
const MINUTE: Duration = Duration::from_secs(60);

pub(crate) struct Hub {
    pub(crate) app: AppId,
    /// The turn to read the log.
    pub(crate) reading: Arc<AsyncMutex<Reading>>,
    /// Whether the backlog was read for the first time.
    pub(crate) is_loaded: AtomicBool,
    pub(crate) backlog: RwLock<Backlog>,
    pub(crate) lines: Mutex<Lines>,
    pub(crate) acks: Mutex<Acks>,
    /// The turn to write what connections have said.
    pub(crate) writing: AsyncMutex<()>,
    /// Who is connected, as other nodes know it.
    pub(crate) written: Mutex<Written>,
    /// What has changed in inboxes.
    pub(crate) inboxes: Mutex<Inboxes>,
    metrics: Metrics,
}

/// What is known of the log, for the task that reads it.
#[derive(Default)]
pub(crate) struct Reading {
    /// How often records had been changed in place when the log was read.
    pub(crate) n_rewrites: i64,
}

#[derive(Default)]
pub(crate) struct Lines {
    pub(crate) connected: RoaringBitmap,
    places: Places<Arc<Line>>,
    /// The last one that was looked at in this round.
    looked: Option<Place>,
    /// How often each channel has connected, or tried to, since they were last counted anew.
    pub(crate) n_openings: HashMap<ChannelId, u32>,
    counted: Option<Instant>,
    /// Whether a task follows the log.
    pub(crate) is_followed: bool,
}

impl Hub {
    pub(crate) fn new(app: AppId, metrics: Metrics) -> Self {
        Self {
            app,
            reading: Arc::default(),
            is_loaded: AtomicBool::new(false),
            backlog: RwLock::default(),
            lines: Mutex::default(),
            acks: Mutex::default(),
            writing: AsyncMutex::default(),
            written: Mutex::default(),
            inboxes: Mutex::default(),
            metrics,
        }
    }

    pub(crate) fn n_lines(&self) -> usize {
        self.lines.lock().places.len()
    }

    pub(crate) fn add(&self, line: &Arc<Line>) {
        self.lines.lock().add(line);
        self.acks.lock().up_to.connect(line.ordinal);
        self.metrics.live_connection_begins();
    }

    /// Once removed, a line is passed over.
    pub(crate) fn remove(&self, line: &Arc<Line>) {
        if self.lines.lock().remove(line) {
            self.acks.lock().up_to.disconnect(line.ordinal);
            self.metrics.live_connection_ends();
        }
    }

    /// Looks at all connections, and lets others have their turn meanwhile.
    pub(crate) async fn each_line(&self, mut look: impl FnMut(&Line)) {
        let mut last = None;
        loop {
            let some = self.lines.lock().places.after(last, SLICE);
            some.iter().for_each(|(_, line)| look(line));
            match some.last() {
                Some((place, _)) if some.len() == SLICE => last = Some(*place),
                _ => return,
            }
            tokio::task::yield_now().await;
        }
    }

    /// Looks at some connections, where it stopped the last time. Without any left, the next look begins anew.
    pub(crate) async fn some_lines(&self, n_lines: usize, mut look: impl FnMut(&Line)) {
        let mut n_left = n_lines;
        while n_left > 0 {
            let n_wanted = n_left.min(SLICE);
            let some = {
                let mut lines = self.lines.lock();
                let some = lines.places.after(lines.looked, n_wanted);
                lines.looked = some.last().filter(|_| some.len() == n_wanted).map(|(place, _)| *place);
                some
            };
            some.iter().for_each(|(_, line)| look(line));
            if some.len() < n_wanted {
                return;
            }
            n_left -= n_wanted;
            tokio::task::yield_now().await;
        }
    }
}

impl Lines {
    /// Counts anew how often channels connect, once a minute.
    pub(crate) fn forget_openings(&mut self, now: Instant) {
        let since = *self.counted.get_or_insert(now);
        if now.saturating_duration_since(since) >= MINUTE {
            (self.counted, self.n_openings) = (Some(now), HashMap::new());
        }
    }

    fn add(&mut self, line: &Arc<Line>) {
        let ordinal = line.ordinal.0;
        if self.places.of(ordinal).count() >= MOST_OF_CHANNEL
            && let Some(oldest) = self.places.of(ordinal).find(|line| line.ended().is_none())
        {
            oldest.end(End::Replaced);
        }
        self.places.add(ordinal, line.clone());
        self.connected.insert(ordinal);
    }

    /// Returns whether it was there.
    fn remove(&mut self, line: &Arc<Line>) -> bool {
        let ordinal = line.ordinal.0;
        let was_there = self.places.remove(ordinal, |other| Arc::ptr_eq(other, line));
        if was_there && self.places.of(ordinal).next().is_none() {
            self.connected.remove(ordinal);
        }
        was_there
    }

    pub(crate) fn of(&self, ordinal: Ordinal) -> impl Iterator<Item = &Arc<Line>> {
        self.places.of(ordinal.0)
    }

    /// The connections of channels, which are in ascending order.
    pub(crate) fn of_each(&self, ordinals: &[u32]) -> Vec<Arc<Line>> {
        self.places.of_each(ordinals)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.len() == 0
    }
}

impl Live {
    pub(crate) fn hub(&self, app: AppId) -> Arc<Hub> {
        self.0.hubs.lock().entry(app).or_insert_with(|| Arc::new(Hub::new(app, self.0.metrics.clone()))).clone()
    }

    pub(crate) fn hubs(&self) -> Vec<Arc<Hub>> {
        self.0.hubs.lock().values().cloned().collect()
    }
}
