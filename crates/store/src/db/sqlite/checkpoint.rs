//! Keeping SQLite's write-ahead log small without stalling commits. SQLite's own way copies the log back inside some unlucky
//! commit. Here a thread of its own copies it beside the writer, and the writer only starts the log over when hardly
//! anything is left to copy.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use super::PATIENCE;
use crate::error::{Cause, Error, Result};

const MIB: u64 = 1024 * 1024;
/// The log is copied back whenever it has grown by this much. It is also SQLite's `journal_size_limit`: a log that starts
/// over is cut to this size, so a longer file means that there is that much in it.
pub(super) const COPY_AT: u64 = 16 * MIB;
/// From here on the log is started over once everything in it has been copied.
const RESTART_AT: u64 = 64 * MIB;
/// From here on the writer waits for readers that hold on to the log.
const BLOCK_AT: u64 = 256 * MIB;
/// How long a commit may be held up when the log starts over.
const BRIEFLY: Duration = Duration::from_millis(20);

pub(super) struct Checkpoints {
    log: PathBuf,
    /// Size of the log when something was last done about it.
    handled: u64,
    copier: Arc<Copier>,
    wake: SyncSender<()>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct Copier {
    busy: AtomicBool,
    /// The last copy reached the end of the log as it was then.
    complete: AtomicBool,
}

impl Checkpoints {
    pub(super) fn start(connection: Connection, log: PathBuf) -> Result<Self> {
        let copier = Arc::new(Copier::default());
        let (wake, woken) = sync_channel(1);
        let thread = {
            let copier = Arc::clone(&copier);
            std::thread::Builder::new()
                .name("store-checkpoint".to_owned())
                .spawn(move || copier.run(&connection, &woken))
                .map_err(|error| Error::Unavailable(Cause::new("no thread for checkpoints", error)))?
        };
        Ok(Self { log, handled: 0, copier, wake, thread })
    }

    pub(super) fn after_commit(&mut self, writer: &Connection) {
        let size = std::fs::metadata(&self.log).map_or(0, |log| log.len());
        if size <= COPY_AT {
            self.handled = 0;
            return;
        }
        let busy = self.copier.busy.load(Ordering::Acquire);
        if size >= RESTART_AT && !busy && self.copier.complete.swap(false, Ordering::AcqRel) {
            self.handled = size;
            restart(writer, BRIEFLY);
        } else if size < self.handled + COPY_AT {
            // Little has been added since.
        } else if size >= BLOCK_AT {
            self.handled = size;
            restart(writer, PATIENCE);
        } else if !busy {
            self.handled = size;
            self.copier.busy.store(true, Ordering::Release);
            // The thread takes one wake-up at a time, and is not busy: there is room.
            let _ = self.wake.try_send(());
        }
    }

    /// Stops the thread and leaves an empty log.
    pub(super) fn finish(self, writer: &Connection) {
        drop(self.wake);
        if self.thread.join().is_err() {
            tracing::error!("the checkpoint thread had panicked");
        }
        if let Err(error) = checkpoint(writer, "truncate") {
            tracing::warn!(%error, "the log could not be copied back; the next start will do it");
        }
    }
}

impl Copier {
    fn run(&self, connection: &Connection, woken: &Receiver<()>) {
        while woken.recv().is_ok() {
            match checkpoint(connection, "passive") {
                Ok(state) => self.complete.store(state.frames == state.copied, Ordering::Release),
                Err(error) => tracing::warn!(%error, "the log could not be copied back"),
            }
            self.busy.store(false, Ordering::Release);
        }
    }
}

fn restart(writer: &Connection, patience: Duration) {
    let done = writer.busy_timeout(patience).and_then(|()| checkpoint(writer, "restart"));
    let reset = writer.busy_timeout(PATIENCE);
    match done.and_then(|state| reset.map(|()| state)) {
        Ok(state) if state.blocked => {
            tracing::debug!("a reader holds on to the log; it will be started over later")
        }
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "the log could not be started over"),
    }
}

struct State {
    blocked: bool,
    frames: i64,
    copied: i64,
}

fn checkpoint(connection: &Connection, mode: &str) -> rusqlite::Result<State> {
    connection.query_row(&format!("pragma wal_checkpoint({mode})"), [], |row| {
        Ok(State { blocked: row.get(0)?, frames: row.get(1)?, copied: row.get(2)? })
    })
}
