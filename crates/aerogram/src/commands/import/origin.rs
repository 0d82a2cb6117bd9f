//! What is imported, and how: by this an interrupted import is known again.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    /// The format, with everything that decides what becomes of a row. It is compared and not read.
    pub(super) how: String,
    /// None at a source that is no file.
    pub(super) files: Vec<SourceFile>,
}

/// A file as it is now. Rows that have changed are other rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SourceFile {
    path: String,
    n_bytes: u64,
    /// Nanoseconds since 1970.
    modified: u64,
}

impl Origin {
    /// Of files, and `None` if one of them, such as standard input, cannot be read twice.
    pub(super) fn of_files(how: String, paths: &[PathBuf]) -> Option<Self> {
        let files = paths.iter().map(|path| SourceFile::at(path)).collect::<Option<_>>()?;
        Some(Self { how, files })
    }

    pub(super) fn n_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.n_bytes).sum()
    }
}

impl SourceFile {
    fn at(path: &Path) -> Option<Self> {
        let found = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        let modified = found.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let modified = u64::try_from(modified).unwrap_or_default();
        Some(Self { path: path.display().to_string(), n_bytes: found.len(), modified })
    }
}
