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
use crate::presence::Written;
use crate::{End, Live};

/// Connections of one channel; a newer one ends the oldest.
const MOST_OF_CHANNEL: usize = 4;
const MINUTE: Duration = Duration::from_secs(60);

pub(crate) struct Hub {
    pub(crate) app: AppId,
    /// The turn to read the log.
    pub(crate) reading: AsyncMutex<Reading>,
    /// Whether the backlog was read for the first time.
    pub(crate) is_loaded: AtomicBool,
    pub(crate) backlog: RwLock<Backlog>,
    pub(crate) lines: Mutex<Lines>,
    pub(crate) acks: Mutex<Acks>,
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
    by_ordinal: HashMap<u32, Vec<Arc<Line>>>,
    n_lines: usize,
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
            reading: AsyncMutex::default(),
            is_loaded: AtomicBool::new(false),
            backlog: RwLock::default(),
            lines: Mutex::default(),
            acks: Mutex::default(),
            written: Mutex::default(),
            inboxes: Mutex::default(),
            metrics,
        }
    }

    pub(crate) fn n_lines(&self) -> usize {
        self.lines.lock().n_lines
    }

    pub(crate) fn add(&self, line: &Arc<Line>) {
        self.lines.lock().add(line);
        self.metrics.live_connection_begins();
    }

    /// Once removed, a line is passed over.
    pub(crate) fn remove(&self, line: &Arc<Line>) {
        if self.lines.lock().remove(line) {
            self.metrics.live_connection_ends();
        }
    }

    pub(crate) fn all_lines(&self) -> Vec<Arc<Line>> {
        self.lines.lock().by_ordinal.values().flatten().cloned().collect()
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
        let of_channel = self.by_ordinal.entry(ordinal).or_default();
        if of_channel.len() >= MOST_OF_CHANNEL
            && let Some(oldest) = of_channel.iter().find(|line| line.ended().is_none())
        {
            oldest.end(End::Replaced);
        }
        of_channel.push(line.clone());
        self.connected.insert(ordinal);
        self.n_lines += 1;
    }

    /// Returns whether it was there.
    fn remove(&mut self, line: &Arc<Line>) -> bool {
        let ordinal = line.ordinal.0;
        let Some(of_channel) = self.by_ordinal.get_mut(&ordinal) else { return false };
        let Some(place) = of_channel.iter().position(|other| Arc::ptr_eq(other, line)) else { return false };
        of_channel.remove(place);
        self.n_lines -= 1;
        if of_channel.is_empty() {
            self.by_ordinal.remove(&ordinal);
            self.connected.remove(ordinal);
        }
        true
    }

    pub(crate) fn of(&self, ordinal: Ordinal) -> &[Arc<Line>] {
        self.by_ordinal.get(&ordinal.0).map_or(&[], Vec::as_slice)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.n_lines == 0
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
