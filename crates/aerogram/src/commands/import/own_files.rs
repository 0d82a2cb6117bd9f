//! The files that an import writes: none of them may be one that people still need, least of all the source.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::state::State;
use crate::config::Unusable;

/// No state of an import is longer.
const LONGEST_STATE: u64 = 1024 * 1024;

/// Refuses a file for how far an import has got that is there and was left by no import: it would be written anew, and deleted
/// in the end.
pub(super) fn check_state(path: &Path) -> Result<(), Unusable> {
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST_STATE).read_to_end(&mut text));
    // What is not there, or cannot be read, is told when it is to be written.
    if read.is_err() || serde_json::from_slice::<State>(&text).is_ok() {
        return Ok(());
    }
    let text = format!(
        "--state: {} was not left by an import, which would overwrite and then delete it; name a file that is not there yet.",
        path.display()
    );
    Err(Unusable::new(text))
}

/// Refuses a file for the rows that are left out that the import needs itself: it would be emptied.
pub(super) fn check_refused<'a>(path: &Path, needed: impl IntoIterator<Item = &'a Path>) -> Result<(), Unusable> {
    if needed.into_iter().any(|other| is_same(path, other)) {
        let text = format!("--refused: {} is needed by the import itself; name another file.", path.display());
        return Err(Unusable::new(text));
    }
    Ok(())
}

fn is_same(one: &Path, other: &Path) -> bool {
    let id = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
    one == other || id(one).is_some_and(|file| id(other) == Some(file))
}
