//! What a store whose database is a file does beside reading and writing it: it looks whether the file is still there, has its
//! pages checked, and notes how far the logs have come. A server of PostgreSQL sees to its own files.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::db::sqlite::{PageChecks, Pages};
use crate::error::{Cause, Error, Result};
use crate::positions::{self, MissingRecords, Positions};
use crate::{Store, Trouble};

/// Writing the positions takes no more than one of this many parts of the time, however many apps there are.
const REST: u32 = 50;

pub(crate) struct LocalFile {
    path: PathBuf,
    page_checks: Arc<PageChecks>,
    /// What was missing when it was opened.
    missing: Vec<MissingRecords>,
    saved: tokio::sync::Mutex<Saved>,
}

/// What was last written to the file of positions.
#[derive(Default)]
struct Saved {
    /// The number of commits when the positions were read; `None` if nothing was written yet.
    commits: Option<u64>,
    positions: Positions,
    is_failing: bool,
    not_before: Option<Instant>,
}

impl LocalFile {
    pub(crate) fn new(path: PathBuf, page_checks: Arc<PageChecks>, missing: Vec<MissingRecords>) -> Self {
        Self { path, page_checks, missing, saved: tokio::sync::Mutex::default() }
    }

    pub(crate) fn stop_checks(&self) {
        self.page_checks.stop();
    }
}

impl Store {
    /// Looks whether the file of the database is where it was opened; [`Store::trouble`] tells. Changes look for themselves.
    pub async fn check_file(&self) {
        let health = Arc::clone(&self.shared.health);
        // A panic is of no interest here, and nothing else can go wrong.
        let _ = tokio::task::spawn_blocking(move || health.misplaced()).await;
    }

    /// Reads every page of the file; [`Store::trouble`] tells of damage from then on. `None` for a database that is no file of
    /// ours.
    pub async fn check_pages(&self) -> Result<Option<Pages>> {
        let Some(local) = &self.shared.local else { return Ok(None) };
        let (path, checks, health) =
            (local.path.clone(), Arc::clone(&local.page_checks), Arc::clone(&self.shared.health));
        let check = move || match health.misplaced() {
            None => checks.run(&path),
            // There is another file, or none.
            Some(_) => Ok(Pages::Unknown),
        };
        let checked = tokio::task::spawn_blocking(check).await;
        let pages = checked.map_err(|error| Error::Unavailable(Cause::new("the check was interrupted", error)))??;
        self.shared.health.note_pages(&pages);
        Ok(Some(pages))
    }

    /// Whether the last check has found damaged pages, or a statement has met one.
    pub fn is_damaged(&self) -> bool {
        self.shared.health.is_damaged()
    }

    /// How many log records were missing when the database was opened.
    pub fn n_missing_records(&self) -> i64 {
        let missing = self.shared.local.iter().flat_map(|local| &local.missing);
        missing.map(|missing| missing.to - missing.from + 1).sum()
    }

    /// Notes beside the file how far the logs have come, if anything was committed since the last time.
    pub async fn save_positions(&self) {
        let Some(local) = &self.shared.local else { return };
        let mut saved = local.saved.lock().await;
        let is_due = saved.not_before.is_none_or(|time| time <= Instant::now());
        if is_due {
            self.save_into(local, &mut saved).await;
        }
    }

    /// As [`Store::save_positions`], for the last time.
    pub(crate) async fn save_last_positions(&self) {
        let Some(local) = &self.shared.local else { return };
        self.save_into(local, &mut *local.saved.lock().await).await;
    }

    async fn save_into(&self, local: &LocalFile, saved: &mut Saved) {
        // Read before the positions: a commit after that is noted the next time.
        let commits = self.commits();
        let is_gone = self.trouble() == Some(Trouble::Misplaced);
        if saved.commits == Some(commits) || is_gone {
            return;
        }
        let began = Instant::now();
        let known = saved.positions.clone();
        // If the database cannot be read, that is told elsewhere.
        let Ok(current) = self.read(move |tx| positions::current(tx, &known)).await else { return };
        if saved.commits.is_none() || current != saved.positions {
            let (path, positions) = (local.path.clone(), current.clone());
            let written = tokio::task::spawn_blocking(move || positions::write(&path, &positions)).await;
            let failure = match written {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(error) => Some(error.to_string()),
            };
            let was_failing = std::mem::replace(&mut saved.is_failing, failure.is_some());
            if let Some(error) = failure {
                if !was_failing {
                    let file = positions::path(&local.path);
                    tracing::warn!(error, file = %file.display(), "the positions of the logs cannot be noted; it is tried again");
                }
                return;
            }
        }
        (saved.commits, saved.positions) = (Some(commits), current);
        saved.not_before = Some(Instant::now() + began.elapsed().min(Duration::from_secs(60)) * REST);
    }
}
