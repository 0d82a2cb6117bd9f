//! How far an import has got, in a small file beside its source: an import that was interrupted goes on where it was.
//!
//! It may be some rows behind, which are then imported once more and change nothing.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    /// The server and the app that the rows go to.
    pub(super) server: String,
    pub(super) app: String,
    /// The size of the source; another size is another source.
    pub(super) size: Option<u64>,
    /// So many rows from the beginning on are done.
    pub(super) n_rows: u64,
    /// Where to go on at a source that has pages.
    pub(super) next_page: Option<String>,
}

/// A state and its file, if it has one.
pub(super) struct StateFile {
    path: Option<PathBuf>,
    pub(super) state: State,
}

impl StateFile {
    /// Nothing is kept, as of standard input.
    pub(super) fn nowhere() -> Self {
        Self { path: None, state: State::default() }
    }

    /// The state of an earlier import of the same source to the same app, or a new one.
    pub(super) fn open(path: PathBuf, new: State, start_over: bool) -> Result<Self> {
        let known = match fs::read(&path) {
            Ok(text) => serde_json::from_slice::<State>(&text).ok(),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
        };
        let is_same = |known: &State| known.server == new.server && known.app == new.app && known.size == new.size;
        let state = known.filter(|known| !start_over && is_same(known)).unwrap_or(new);
        Ok(Self { path: Some(path), state })
    }

    /// Written beside the file first, so that there is never half of one.
    pub(super) fn save(&self) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let text = serde_json::to_vec(&self.state).context("The state of the import cannot be written")?;
        let beside = beside(path, ".new");
        let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, path));
        written.with_context(|| format!("{} cannot be written", path.display()))
    }

    /// All rows are done.
    pub(super) fn end(&self) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(error).with_context(|| format!("{} cannot be deleted", path.display()))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// The path with something at its end.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_goes_on_with_the_same_source_and_app_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let new = State { server: "s".to_owned(), app: "a".to_owned(), size: Some(7), ..State::default() };
        let mut kept = StateFile::open(path.clone(), new.clone(), false).unwrap();
        kept.state.n_rows = 3;
        kept.save().unwrap();
        assert_eq!(StateFile::open(path.clone(), new.clone(), false).unwrap().state.n_rows, 3);
        assert_eq!(StateFile::open(path.clone(), new.clone(), true).unwrap().state.n_rows, 0);
        let other = State { size: Some(8), ..new.clone() };
        assert_eq!(StateFile::open(path.clone(), other, false).unwrap().state.n_rows, 0);
        fs::write(&path, "damaged").unwrap();
        assert_eq!(StateFile::open(path.clone(), new, false).unwrap().state.n_rows, 0);
        kept.end().unwrap();
        assert!(!path.exists());
        kept.end().unwrap();
    }
}
