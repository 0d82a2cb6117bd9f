//! From open connections to a store: each gets a thread of its own.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::audit::Tally;
use crate::db::command::CommandQueue;
use crate::db::reader::{self, Reader};
use crate::db::writer::Writer;
use crate::db::{Connection, DatabaseHealth, Durations, Hub, sqlite};
use crate::error::{Cause, Error, Result};
use crate::local_file::LocalFile;
use crate::log::LogWindows;
use crate::nodes::Node;
use crate::parts::Places;
use crate::{Queues, Shared, Store};

/// Connections that wait for their threads.
pub(super) struct Opening {
    pub(super) local: Option<(LocalFile, sqlite::OpenFiles)>,
    pub(super) hub: Hub,
    pub(super) is_spread: bool,
    pub(super) writers: Vec<Connection>,
    pub(super) readers: Vec<Connection>,
}

impl Opening {
    pub(super) fn start(self) -> Result<Store> {
        let hub = Arc::new(self.hub);
        let commits = Arc::new(AtomicU64::new(0));
        let durations = Durations::default();
        let (local, files) = self.local.unzip();
        let health = Arc::new(DatabaseHealth::new(files));
        let windows = Arc::new(LogWindows::default());
        let mut threads = Vec::new();
        let (mut writers, mut tallies) = (Vec::new(), Vec::new());
        for (index, connection) in self.writers.into_iter().enumerate() {
            let (sender, queue) = CommandQueue::new();
            writers.push(sender);
            let (hub, commits, health) = (Arc::clone(&hub), Arc::clone(&commits), Arc::clone(&health));
            let tally = Arc::<Tally>::default();
            tallies.push(Arc::clone(&tally));
            let writer = Writer { connection, queue, hub, commits, durations: durations.clone(), health, tally };
            threads.push(spawn(format!("store-writer-{index}"), || writer.run())?);
        }
        let (reader, queue) = mpsc::channel(reader::QUEUE);
        let queue = Arc::new(tokio::sync::Mutex::new(queue));
        for (index, connection) in self.readers.into_iter().enumerate() {
            let (queue, health, windows) = (Arc::clone(&queue), Arc::clone(&health), Arc::clone(&windows));
            let reader = Reader { connection, queue, durations: durations.clone(), health, windows };
            threads.push(spawn(format!("store-reader-{index}"), || reader.run())?);
        }
        let queues = Mutex::new(Some(Arc::new(Queues { writers, reader })));
        let (places, node) = (self.is_spread.then(Places::default), Node::random());
        let threads = Mutex::new(threads);
        let shared = Shared { queues, threads, hub, commits, durations, health, windows, local, places, node, tallies };
        Ok(Store { shared: Arc::new(shared) })
    }
}

pub(super) fn spawn(name: String, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name(name).spawn(body);
    thread.map_err(|error| Error::Unavailable(Cause::new("no thread for the database", error)))
}
