//! Whether the files of the database are still under their names, and the database as long as it was. A file that was deleted,
//! moved or replaced takes changes for as long as the process has it open, and loses all of them when the process ends. One that
//! was cut off or written over is still under its name, but no longer the database.

use std::fs::{self, Metadata};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::path_with;
use crate::error::{Cause, Error, Result};

/// In the place of a length: the file was shorter than before. It stays so, because a file that is written over ends as long as it
/// was, or longer.
const WAS_CUT: u64 = u64::MAX;

/// The open files: the database and its write-ahead log.
pub(crate) struct OpenFiles(Vec<OpenFile>);

struct OpenFile {
    path: PathBuf,
    id: FileId,
    /// The greatest length that was seen of a file that only grows: SQLite gives no room back to the file system unless it vacuums
    /// the database in place. A write-ahead log has none: it may be cut when it starts over. Held while the file is looked at, so
    /// that no length of before a vacuum is noted after it.
    longest: Option<Mutex<u64>>,
    /// Set before the database is vacuumed, which makes it shorter once.
    is_vacuumed: Arc<AtomicBool>,
}

/// A file, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl From<&Metadata> for FileId {
    fn from(file: &Metadata) -> Self {
        Self { device: file.dev(), inode: file.ino() }
    }
}

impl OpenFiles {
    /// To be called when the database was read at least once, which makes the write-ahead log.
    /// `is_vacuumed` is set before the database is vacuumed.
    pub(crate) fn of(database: &Path, is_vacuumed: &Arc<AtomicBool>) -> Result<Self> {
        let mut files = Vec::new();
        for (path, only_grows) in [(database.to_owned(), true), (path_with(database, "-wal"), false)] {
            match fs::metadata(&path) {
                Ok(found) => {
                    let is_watched = only_grows && !is_padded(&path, found.len());
                    let longest = is_watched.then(|| Mutex::new(found.len()));
                    let is_vacuumed = Arc::clone(is_vacuumed);
                    files.push(OpenFile { path, id: (&found).into(), longest, is_vacuumed });
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    let text = format!("{} cannot be looked at", path.display());
                    return Err(Error::Unavailable(Cause::new(text, error)));
                }
            }
        }
        Ok(Self(files))
    }

    /// The error that stands for every change from now on, if a file is not where it was. Costs two system calls.
    pub(crate) fn misplaced(&self) -> Option<Error> {
        self.0.iter().find_map(OpenFile::misplaced)
    }
}

impl OpenFile {
    fn misplaced(&self) -> Option<Error> {
        let longest = self.longest.as_ref().map(Mutex::lock);
        let what = match fs::metadata(&self.path) {
            Ok(found) if FileId::from(&found) != self.id => "was replaced by another file",
            Ok(found) => {
                let mut longest = longest?;
                let is_shorter = found.len() < *longest;
                let is_ours = is_shorter && *longest != WAS_CUT && self.is_vacuumed.swap(false, Ordering::SeqCst);
                let is_cut = is_shorter && !is_ours;
                *longest = if is_cut { WAS_CUT } else { found.len() };
                return is_cut.then(|| self.cut());
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                "was deleted or moved"
            }
            // Whether it is there cannot be seen; reading and writing it still tells of a disk that fails.
            Err(_) => return None,
        };
        Some(Error::unavailable(format!(
            "{} {what} while the service runs, so that every change would be lost; put the file back under its name. If \
             it was deleted, a database is still in /proc/<process>/fd while the service runs, and a write-ahead log is \
             written back when the service is stopped; else restore a backup",
            self.path.display()
        )))
    }

    fn cut(&self) -> Error {
        Error::unavailable(format!(
            "{} was cut off or written over while the service runs, so that it is no longer the database that was opened; \
             stop the service and restore a backup, without the files -wal and -shm that lie beside the database",
            self.path.display()
        ))
    }
}

/// Whether a file is longer than its database, by what its first page says. A copy may have been padded, which SQLite cuts off.
fn is_padded(path: &Path, n_bytes: u64) -> bool {
    const HEAD_BYTES: usize = 32;
    let mut head = [0; HEAD_BYTES];
    let is_read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok();
    let page_bytes = match u64::from(u16::from_be_bytes([head[16], head[17]])) {
        1 => 65_536,
        bytes => bytes,
    };
    let n_pages = u64::from(u32::from_be_bytes([head[28], head[29], head[30], head[31]]));
    is_read && n_bytes > n_pages * page_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_missed_until_the_same_one_is_back() {
        let folder = tempfile::tempdir().unwrap();
        let [database, log, aside] = ["a.db", "a.db-wal", "aside"].map(|name| folder.path().join(name));
        fs::write(&database, "database").unwrap();
        fs::write(&log, "log").unwrap();
        let files = OpenFiles::of(&database, &Arc::default()).unwrap();
        assert!(files.misplaced().is_none());
        for path in [&database, &log] {
            fs::rename(path, &aside).unwrap();
            let gone = files.misplaced().unwrap().to_string();
            assert!(gone.contains(&format!("{} was deleted or moved", path.display())), "{gone}");
            fs::write(path, "another").unwrap();
            assert!(files.misplaced().unwrap().to_string().contains("was replaced"));
            fs::rename(&aside, path).unwrap();
            assert!(files.misplaced().is_none());
        }
    }

    #[test]
    fn a_file_that_is_longer_than_its_database_may_be_cut() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        let mut pages = vec![0; 2 * 4096 + 100];
        pages[16..18].copy_from_slice(&4096_u16.to_be_bytes());
        pages[28..32].copy_from_slice(&2_u32.to_be_bytes());
        for (n_bytes, is_cut) in [(2 * 4096 + 100, false), (2 * 4096, true)] {
            fs::write(&database, &pages[..n_bytes]).unwrap();
            let files = OpenFiles::of(&database, &Arc::default()).unwrap();
            fs::write(&database, &pages[..n_bytes - 100]).unwrap();
            assert_eq!(files.misplaced().is_some(), is_cut);
        }
    }

    #[test]
    fn a_database_that_was_vacuumed_is_shorter_once() {
        let folder = tempfile::tempdir().unwrap();
        let (database, is_vacuumed) = (folder.path().join("a.db"), Arc::<AtomicBool>::default());
        fs::write(&database, "database").unwrap();
        let files = OpenFiles::of(&database, &is_vacuumed).unwrap();
        is_vacuumed.store(true, Ordering::SeqCst);
        assert!(files.misplaced().is_none(), "its log is not copied back yet");
        fs::write(&database, "data").unwrap();
        assert!(files.misplaced().is_none());
        fs::write(&database, "da").unwrap();
        assert!(files.misplaced().is_some(), "nothing was vacuumed since");
    }

    #[test]
    fn a_database_that_was_cut_is_not_trusted_again_and_a_log_may_be_cut() {
        let folder = tempfile::tempdir().unwrap();
        let [database, log] = ["a.db", "a.db-wal"].map(|name| folder.path().join(name));
        fs::write(&database, "data").unwrap();
        fs::write(&log, "log").unwrap();
        let files = OpenFiles::of(&database, &Arc::default()).unwrap();
        fs::write(&log, "").unwrap();
        fs::write(&database, "database").unwrap();
        assert!(files.misplaced().is_none(), "it has grown");
        fs::write(&database, "data").unwrap();
        let cut = files.misplaced().unwrap().to_string();
        assert!(cut.contains(&format!("{} was cut off or written over", database.display())), "{cut}");
        fs::write(&database, "another database").unwrap();
        assert!(files.misplaced().is_some());
    }
}
