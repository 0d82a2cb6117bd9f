//! A copy of an SQLite file in use: one consistent state, whatever is committed meanwhile.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::db::sqlite;
use crate::error::{Cause, Error};

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{} exists already; give the copy another name", .0.display())]
    Exists(PathBuf),
    #[error("{} is there, which another backup is writing or did not finish; wait for it, or delete it", .0.display())]
    Unfinished(PathBuf),
    #[error("there is no {}", .0.display())]
    NoDatabase(PathBuf),
    #[error("{} cannot be read: {}; run this as the user of the service", .0.display(), .1)]
    Unreadable(PathBuf, #[source] io::Error),
    #[error("{} cannot be written: {}", .0.display(), .1)]
    File(PathBuf, #[source] io::Error),
    #[error("the copy is whole, but stays as {} because it cannot be given its name: {}", .0.display(), .1)]
    Unnamed(PathBuf, #[source] io::Error),
    #[error(transparent)]
    Store(#[from] Error),
}

/// Copies a database file that may be in use, and returns how many bytes the copy has. It has its name only
/// when it is whole and on the disk, and until then one that ends in `.partial`. Only its owner can read it.
/// Nothing is overwritten.
pub async fn copy(database: &Path, copy: &Path) -> Result<u64, BackupError> {
    let (database, copy) = (database.to_owned(), copy.to_owned());
    let copied = tokio::task::spawn_blocking(move || make(&database, &copy)).await;
    copied.map_err(|error| Error::Unavailable(Cause::new("the copy was interrupted", error)))?
}

/// The file that becomes a copy.
pub fn partial_path(copy: &Path) -> PathBuf {
    sqlite::path_with(copy, ".partial")
}

fn make(database: &Path, copy: &Path) -> Result<u64, BackupError> {
    // Not by `exists`, which says no as well where the folder may not be looked into.
    match File::open(database) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(BackupError::NoDatabase(database.to_owned()));
        }
        Err(error) => return Err(BackupError::Unreadable(database.to_owned(), error)),
    }
    if copy.exists() {
        return Err(BackupError::Exists(copy.to_owned()));
    }
    let partial = partial_path(copy);
    let failed = |error| BackupError::File(partial.clone(), error);
    // SQLite takes an empty file for a new one, and leaves its mode alone.
    let file = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(BackupError::Unfinished(partial)),
        Err(error) => return Err(failed(error)),
    };
    let written = sqlite::write_copy(database, &partial).map_err(BackupError::from);
    // SQLite does not see to it that a copy reaches the disk.
    let written = written.and_then(|()| file.sync_all().and_then(|()| file.metadata()).map_err(failed));
    let n_bytes = match written {
        Ok(written) => written.len(),
        Err(error) => {
            // The first error is the one that matters; a file left behind is refused by name the next time.
            drop(fs::remove_file(&partial));
            return Err(error);
        }
    };
    // Unlike a renaming, a link does not replace what has come there meanwhile.
    match fs::hard_link(&partial, copy) {
        Ok(()) => {}
        Err(error) => return Err(BackupError::Unnamed(partial, error)),
    }
    fs::remove_file(&partial).and_then(|()| sync_folder(copy)).map_err(failed)?;
    Ok(n_bytes)
}

/// A name is on the disk when its folder is.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}
