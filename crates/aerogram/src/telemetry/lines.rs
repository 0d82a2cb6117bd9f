//! Log lines on their way out. Logging only puts a line into a buffer; a thread of its own writes the buffer, so that thousands
//! of requests per second cost a few writes.

use std::io::{self, Write};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

/// After a write the next lines gather for this long, or until there are enough of them. A line that comes alone is written at
/// once; of thousands a second, each would otherwise wake the thread, and the thread the reader of the log.
const PAUSE: Duration = Duration::from_millis(10);
/// The size that pipes take at once.
const ENOUGH: usize = 64 * 1024;
/// Lines that have not been written yet, in bytes. With more than this, threads that log wait: nothing is dropped.
const MOST_WAITING: usize = 1024 * 1024;

/// Where lines are put. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Lines(Arc<Shared>);

/// Writes all buffered lines before it is dropped.
pub(crate) struct Writing {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    /// For the thread: there is something to do.
    filled: Condvar,
    /// For threads that log: there is room.
    emptied: Condvar,
}

#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// The thread lets lines gather and wants to be woken only when there are enough.
    is_pausing: bool,
    is_over: bool,
}

impl Lines {
    pub(crate) fn to(mut target: impl Write + Send + 'static) -> io::Result<(Self, Writing)> {
        let shared = Arc::new(Shared::default());
        let source = Arc::clone(&shared);
        let write_all = move || {
            let mut bytes = Vec::new();
            while source.take(&mut bytes) {
                // A failure to write the log cannot be reported anywhere.
                let _ = target.write_all(&bytes);
                bytes.clear();
            }
        };
        let thread = thread::Builder::new().name("log-writer".to_owned()).spawn(write_all)?;
        Ok((Self(Arc::clone(&shared)), Writing { shared, thread: Some(thread) }))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock()
    }

    /// Waits for lines and swaps them for an empty buffer. `false` when there are none and no more will come.
    fn take(&self, empty: &mut Vec<u8>) -> bool {
        let mut waiting = self.lock();
        waiting.is_pausing = true;
        let gathers = |waiting: &mut Waiting| waiting.bytes.len() < ENOUGH && !waiting.is_over;
        self.filled.wait_while_for(&mut waiting, gathers, PAUSE);
        waiting.is_pausing = false;
        let waits = |waiting: &mut Waiting| waiting.bytes.is_empty() && !waiting.is_over;
        self.filled.wait_while(&mut waiting, waits);
        std::mem::swap(&mut waiting.bytes, empty);
        drop(waiting);
        self.emptied.notify_all();
        !empty.is_empty()
    }
}

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let is_full = |waiting: &mut Waiting| waiting.bytes.len() > MOST_WAITING && !waiting.is_over;
        let mut waiting = self.0.lock();
        self.0.emptied.wait_while(&mut waiting, is_full);
        if waiting.is_over {
            drop(waiting);
            return io::stderr().write(line);
        }
        let n_before = waiting.bytes.len();
        waiting.bytes.extend_from_slice(line);
        let is_wanted = match waiting.is_pausing {
            true => n_before < ENOUGH && waiting.bytes.len() >= ENOUGH,
            false => n_before == 0,
        };
        drop(waiting);
        if is_wanted {
            self.0.filled.notify_one();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.filled.notify_all();
        self.shared.emptied.notify_all();
        if let Some(thread) = self.thread.take() {
            // The thread ends after the waiting lines have been written; a panic in it was reported already.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn every_line_is_written_whole_and_in_order() {
        let kept = Kept::default();
        let (lines, writing) = Lines::to(kept.clone()).unwrap();
        let long = "x".repeat(1000);
        thread::scope(|scope| {
            for writer in 0..4 {
                let (mut lines, long) = (lines.clone(), &long);
                scope.spawn(move || {
                    for n in 0..2000 {
                        lines.write_all(format!("{writer} {n} {long}\n").as_bytes()).unwrap();
                    }
                });
            }
        });
        drop(writing);
        let text = String::from_utf8(kept.0.lock().clone()).unwrap();
        for writer in 0..4 {
            let own = text.lines().filter_map(|line| line.strip_prefix(&format!("{writer} ")));
            let numbers: Vec<String> =
                own.map(|line| line.strip_suffix(&format!(" {long}")).unwrap().to_owned()).collect();
            assert_eq!(numbers, (0..2000).map(|n| n.to_string()).collect::<Vec<_>>());
        }
    }
}
