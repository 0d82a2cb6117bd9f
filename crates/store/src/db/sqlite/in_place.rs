//! Whether the files of the database are still under their names. A file that was deleted, moved or replaced takes changes for as
//! long as the process has it open, and loses all of them when the process ends.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::path_with;
use crate::error::{Cause, Error, Result};

/// The open files: the database and its write-ahead log.
pub(crate) struct OpenFiles(Vec<OpenFile>);

struct OpenFile {
    path: PathBuf,
    id: FileId,
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
    pub(crate) fn of(database: &Path) -> Result<Self> {
        let mut files = Vec::new();
        for path in [database.to_owned(), path_with(database, "-wal")] {
            match fs::metadata(&path) {
                Ok(found) => files.push(OpenFile { path, id: (&found).into() }),
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
        let what = match fs::metadata(&self.path) {
            Ok(found) if FileId::from(&found) == self.id => return None,
            Ok(_) => "was replaced by another file",
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
        let files = OpenFiles::of(&database).unwrap();
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
}
