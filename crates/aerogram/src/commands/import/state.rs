//! How far an import has got, in a small file beside its source: an import that was interrupted goes on where it was.
//!
//! It may be some rows behind, which are then imported once more and change nothing.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::origin::Origin;

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    /// The server and the app that the rows go to.
    pub(super) server: String,
    pub(super) app: String,
    pub(super) origin: Origin,
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

/// What was in the file before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// The beginning of the same import.
    Same,
    /// The state of another import, or nothing that can be read.
    Other,
}

impl StateFile {
    /// Nothing is kept, as of standard input.
    pub(super) fn nowhere() -> Self {
        Self { path: None, state: State::default() }
    }

    /// The state of an earlier import of the same source to the same app, or a new one, which is written to show that it can be.
    pub(super) fn open(path: PathBuf, new: State, start_over: bool) -> Result<(Self, Found)> {
        let known = match fs::read(&path) {
            Ok(_) if start_over => None,
            Ok(text) => Some(serde_json::from_slice::<State>(&text).ok()),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
        };
        let (state, found) = match known {
            None => (new, Found::Nothing),
            Some(Some(known)) if known.is_of_same_import(&new) => (known, Found::Same),
            Some(_) => (new, Found::Other),
        };
        let file = Self { path: Some(path), state };
        file.save()?;
        Ok((file, found))
    }

    /// Written beside the file first, so that there is never half of one.
    pub(super) fn save(&self) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let text = serde_json::to_vec(&self.state).context("The state of the import cannot be written")?;
        let beside = beside(path, ".new");
        let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, path));
        written.with_context(|| format!("{} cannot be written; --state names another file", path.display()))
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

impl State {
    fn is_of_same_import(&self, other: &Self) -> bool {
        self.server == other.server && self.app == other.app && self.origin == other.origin
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
        let (path, source) = (folder.path().join("state"), folder.path().join("source"));
        fs::write(&source, "rows").unwrap();
        let of = |how: &str, app: &str| {
            let origin = Origin::of_files(how.to_owned(), std::slice::from_ref(&source)).unwrap();
            State { server: "s".to_owned(), app: app.to_owned(), origin, ..State::default() }
        };
        let opened = |new: State, start_over: bool| {
            let (file, found) = StateFile::open(path.clone(), new, start_over).unwrap();
            (file.state.n_rows, found)
        };
        let begun = || {
            let (mut file, _) = StateFile::open(path.clone(), of("csv", "a"), true).unwrap();
            file.state.n_rows = 3;
            file.save().unwrap();
            file
        };
        begun();
        assert_eq!(opened(of("csv", "a"), false), (3, Found::Same));
        for (new, start_over, found) in [
            (of("csv", "b"), false, Found::Other),
            (of("csv with another column", "a"), false, Found::Other),
            (of("csv", "a"), true, Found::Nothing),
        ] {
            begun();
            assert_eq!(opened(new, start_over), (0, found));
        }
        begun();
        let changed = fs::File::options().append(true).open(&source).unwrap();
        changed.set_modified(std::time::UNIX_EPOCH).unwrap();
        assert_eq!(opened(of("csv", "a"), false), (0, Found::Other));
        fs::write(&path, "damaged").unwrap();
        assert_eq!(opened(of("csv", "a"), false), (0, Found::Other));
        let file = begun();
        file.end().unwrap();
        assert!(!path.exists());
        file.end().unwrap();
        assert_eq!(opened(of("csv", "a"), false), (0, Found::Nothing));
    }
}
