//! Keeping SQLite's write-ahead log small without stalling commits. SQLite's own way copies the log back
//! inside some unlucky commit. Here a thread of its own copies it beside the writer, and the writer only
//! starts the log over when hardly anything is left to copy.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use super::BUSY_TIMEOUT;
use crate::error::{Cause, Error, Result};

const MIB: u64 = 1024 * 1024;
/// The log is copied back whenever it has grown by this much. It is also SQLite's `journal_size_limit`: a log
/// that starts over is cut to this size, so a longer file has that much in it.
pub(super) const COPY_AT: u64 = 16 * MIB;
const LIMITS: Limits = Limits { copy_at: COPY_AT, restart_at: 64 * MIB, block_at: 256 * MIB, timeout: BUSY_TIMEOUT };
/// How long a commit may be delayed when the log starts over.
const COMMIT_DELAY: Duration = Duration::from_millis(20);

/// The sizes of the log at which it is maintained.
#[derive(Clone, Copy)]
struct Limits {
    copy_at: u64,
    /// From here on the log is started over once everything in it has been copied.
    restart_at: u64,
    /// From here on the writer waits for readers that hold on to the log. A reader that outlasts this timeout
    /// runs for long (a backup), so the writer waits again only when the log is twice as long.
    block_at: u64,
    timeout: Duration,
}

pub(super) struct Checkpoints {
    limits: Limits,
    log: PathBuf,
    /// Whether the pages of the database are being checked, for which the writer does not wait as for other readers.
    is_checked: Arc<AtomicBool>,
    /// Size of the log when it was last maintained.
    handled: u64,
    /// Size of the log at which the writer waits next.
    block_at: u64,
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
    pub(super) fn start(connection: Connection, log: PathBuf, is_checked: Arc<AtomicBool>) -> Result<Self> {
        Self::within(LIMITS, connection, log, is_checked)
    }

    fn within(limits: Limits, connection: Connection, log: PathBuf, is_checked: Arc<AtomicBool>) -> Result<Self> {
        let copier = Arc::new(Copier::default());
        let (wake, woken) = sync_channel(1);
        let thread = {
            let copier = Arc::clone(&copier);
            std::thread::Builder::new()
                .name("store-checkpoint".to_owned())
                .spawn(move || copier.run(&connection, &woken))
                .map_err(|error| Error::Unavailable(Cause::new("no thread for checkpoints", error)))?
        };
        Ok(Self { limits, log, is_checked, handled: 0, block_at: limits.block_at, copier, wake, thread })
    }

    pub(super) fn after_commit(&mut self, writer: &Connection) {
        let size = std::fs::metadata(&self.log).map_or(0, |log| log.len());
        let Limits { copy_at, restart_at, block_at, timeout } = self.limits;
        if size <= copy_at {
            (self.handled, self.block_at) = (0, block_at);
            return;
        }
        let busy = self.copier.busy.load(Ordering::Acquire);
        if size >= restart_at && !busy && self.copier.complete.swap(false, Ordering::AcqRel) {
            self.handled = size;
            restart(writer, COMMIT_DELAY);
        } else if size < self.handled + copy_at {
            // Little has been added since.
        } else if size >= self.block_at {
            self.handled = size;
            let is_checked = self.is_checked.load(Ordering::Relaxed);
            let is_blocked = restart(writer, if is_checked { COMMIT_DELAY } else { timeout });
            if is_blocked {
                self.block_at = 2 * size;
            }
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

/// Starts the log over; returns whether a reader was in the way.
fn restart(writer: &Connection, timeout: Duration) -> bool {
    let done = writer.busy_timeout(timeout).and_then(|()| checkpoint(writer, "restart"));
    let reset = writer.busy_timeout(BUSY_TIMEOUT);
    match done.and_then(|state| reset.map(|()| state)) {
        Ok(state) if state.blocked => {
            tracing::debug!("a reader holds on to the log; it will be started over later");
            true
        }
        Ok(_) => false,
        Err(error) => {
            tracing::warn!(%error, "the log could not be started over");
            false
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1024;

    /// As the connections of the store, with a log that is cut early.
    fn connect(path: &std::path::Path) -> Connection {
        let connection = Connection::open(path).unwrap();
        let pragmas = format!("pragma wal_autocheckpoint = 0; pragma journal_size_limit = {}", 64 * KIB);
        connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())).unwrap();
        connection.execute_batch(&pragmas).unwrap();
        connection
    }

    #[test]
    fn a_long_reader_holds_the_writer_up_once_and_not_with_every_bit_of_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let (writer, reader) = (connect(&path), connect(&path));
        writer.execute_batch("create table item (note blob)").unwrap();
        let limits =
            Limits { copy_at: 64 * KIB, restart_at: 128 * KIB, block_at: 256 * KIB, timeout: Duration::from_millis(1) };
        let log = path.with_file_name("test.db-wal");
        let mut checkpoints = Checkpoints::within(limits, connect(&path), log.clone(), Arc::default()).unwrap();
        let size = || std::fs::metadata(&log).unwrap().len();
        let write = |checkpoints: &mut Checkpoints| {
            writer.execute("insert into item (note) values (zeroblob(16384))", []).unwrap();
            checkpoints.after_commit(&writer);
        };

        reader.execute_batch("begin; select count(*) from item").unwrap();
        let mut n_waits = 0;
        while size() < 2048 * KIB {
            let before = checkpoints.block_at;
            write(&mut checkpoints);
            n_waits += u32::from(checkpoints.block_at != before);
        }
        assert!((3..=4).contains(&n_waits), "at 256 KiB, and then whenever the log has doubled: {n_waits}");

        reader.execute_batch("commit").unwrap();
        while checkpoints.block_at != limits.block_at {
            write(&mut checkpoints);
            assert!(size() < 8192 * KIB, "the log starts over when the reader has gone");
        }
        checkpoints.finish(&writer);
        assert_eq!(size(), 0);
    }
}
