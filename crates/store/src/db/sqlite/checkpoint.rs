//! Keeping SQLite's write-ahead log small without stalling commits. SQLite's own way copies the log back
//! inside some unlucky commit. Here a thread of its own copies it beside the writer, and the writer only
//! starts the log over when hardly anything is left to copy.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::pages::MOST_LOG;
use super::{BUSY_TIMEOUT, failure};
use crate::error::{Cause, Error, Result};

const MIB: u64 = 1024 * 1024;
const LIMITS: Limits = Limits { copy_at: 16 * MIB, restart_at: 64 * MIB, block_at: 256 * MIB, timeout: BUSY_TIMEOUT };
/// SQLite's `journal_size_limit`: a log that starts over is cut to this size. Cutting a file can take a tenth of a second, in which
/// nothing is committed, so it is for a log that had grown beyond what it usually reaches.
pub(super) const LONGEST_FILE: u64 = 2 * LIMITS.restart_at;
// A file that is left so long must not keep the pages from being checked.
const _: () = assert!(LONGEST_FILE <= MOST_LOG);
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
    /// Of the log, not counting what its file has left of one that was started over.
    size: Arc<AtomicU64>,
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
    pub(super) fn start(writer: &mut Connection, copying: Connection, is_checked: Arc<AtomicBool>) -> Result<Self> {
        Self::within(LIMITS, writer, copying, is_checked)
    }

    fn within(
        limits: Limits,
        writer: &mut Connection,
        copying: Connection,
        is_checked: Arc<AtomicBool>,
    ) -> Result<Self> {
        let size = watch_size(writer).map_err(failure::opening)?;
        let copier = Arc::new(Copier::default());
        let (wake, woken) = sync_channel(1);
        let thread = {
            let copier = Arc::clone(&copier);
            std::thread::Builder::new()
                .name("store-checkpoint".to_owned())
                .spawn(move || copier.run(&copying, &woken))
                .map_err(|error| Error::Unavailable(Cause::new("no thread for checkpoints", error)))?
        };
        Ok(Self { limits, size, is_checked, handled: 0, block_at: limits.block_at, copier, wake, thread })
    }

    pub(super) fn after_commit(&mut self, writer: &Connection) {
        let size = self.size.load(Ordering::Relaxed);
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
                Ok(state) => self.complete.store(!state.blocked && state.frames == state.copied, Ordering::Release),
                Err(error) => tracing::warn!(%error, "the log could not be copied back"),
            }
            self.busy.store(false, Ordering::Release);
        }
    }
}

/// How long the log is, from the next commit on.
fn watch_size(writer: &mut Connection) -> rusqlite::Result<Arc<AtomicU64>> {
    let page_size: u32 = writer.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let size = Arc::<AtomicU64>::default();
    let told = Arc::clone(&size);
    writer.wal_hook(Some(move |_: &mut Wal, n_pages: c_int| {
        told.store(u64::try_from(n_pages).unwrap_or(0) * u64::from(page_size), Ordering::Relaxed);
        Ok(())
    }))?;
    Ok(size)
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

    /// As the connections of the store, with another limit of the file.
    fn connect(path: &std::path::Path, longest_file: u64) -> Connection {
        let connection = Connection::open(path).unwrap();
        let pragmas = format!("pragma wal_autocheckpoint = 0; pragma journal_size_limit = {longest_file}");
        connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())).unwrap();
        connection.execute_batch(&pragmas).unwrap();
        connection
    }

    fn write(writer: &Connection, checkpoints: &mut Checkpoints) {
        writer.execute("insert into item (note) values (zeroblob(16384))", []).unwrap();
        checkpoints.after_commit(writer);
    }

    const SMALL: Limits =
        Limits { copy_at: 64 * KIB, restart_at: 128 * KIB, block_at: 256 * KIB, timeout: Duration::from_millis(1) };

    #[test]
    fn a_long_reader_holds_the_writer_up_once_and_not_with_every_bit_of_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let connect = || connect(&path, 64 * KIB);
        let (mut writer, reader) = (connect(), connect());
        writer.execute_batch("create table item (note blob)").unwrap();
        let mut checkpoints = Checkpoints::within(SMALL, &mut writer, connect(), Arc::default()).unwrap();
        let log = path.with_file_name("test.db-wal");
        let size = || std::fs::metadata(&log).unwrap().len();
        reader.execute_batch("begin; select count(*) from item").unwrap();
        let mut n_waits = 0;
        while size() < 2048 * KIB {
            let before = checkpoints.block_at;
            write(&writer, &mut checkpoints);
            n_waits += u32::from(checkpoints.block_at != before);
        }
        assert!((3..=4).contains(&n_waits), "at 256 KiB, and then whenever the log has doubled: {n_waits}");

        reader.execute_batch("commit").unwrap();
        while checkpoints.block_at != SMALL.block_at {
            write(&writer, &mut checkpoints);
            assert!(size() < 8192 * KIB, "the log starts over when the reader has gone");
        }
        assert!(size() <= 128 * KIB, "a file that is longer than usual is cut");
        checkpoints.finish(&writer);
        assert_eq!(size(), 0);
    }

    #[test]
    fn a_log_that_starts_over_keeps_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        // As much longer as that of the store.
        let connect = || connect(&path, LONGEST_FILE / LIMITS.restart_at * SMALL.restart_at);
        let mut writer = connect();
        writer.execute_batch("create table item (note blob)").unwrap();
        let mut checkpoints = Checkpoints::within(SMALL, &mut writer, connect(), Arc::default()).unwrap();
        let log = path.with_file_name("test.db-wal");
        let file_size = || std::fs::metadata(&log).unwrap().len();
        for _ in 0..3 {
            let (mut size, mut longest) = (0, 0);
            loop {
                write(&writer, &mut checkpoints);
                while checkpoints.copier.busy.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
                let size_before = std::mem::replace(&mut size, checkpoints.size.load(Ordering::Relaxed));
                assert!(file_size() >= longest, "cutting a file takes long");
                longest = file_size();
                if size < size_before {
                    break;
                }
            }
        }
        checkpoints.finish(&writer);
        assert_eq!(file_size(), 0);
    }
}
