//! `aerogram backup`: a copy of the SQLite database, made while the service runs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::json;
use store::DatabaseUrl;

use super::progress::Progress;
use crate::config::{Answering, Data};
use crate::data::DataFolder;
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Backup {
    /// Where the copy goes; nothing is overwritten
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    data: Data,
    #[command(flatten)]
    answering: Answering,
}

impl Backup {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let database = &self.data.database;
        let DatabaseUrl::Sqlite(path) = database else {
            bail!(
                "{database} is backed up with PostgreSQL's own tools, such as `pg_dump --format=custom --file={}`.",
                self.file.display()
            );
        };
        let message = format!("Copying {}", path.display());
        let size = |path: &Path| std::fs::metadata(path).map(|found| found.len()).ok();
        let partial = store::backup::partial_path(&self.file);
        // The copy has no gaps, so it may become smaller.
        let progress = Progress::of_bytes(size(path))?;
        let copying = store::backup::copy(path, &self.file);
        let copied = progress.following(&message, || size(&partial).unwrap_or(0), copying).await;
        drop(progress);
        let n_bytes = copied.with_context(|| format!("{} cannot be backed up", path.display()))?;
        let key = Some(DataFolder::of(&self.data).secrets_key_path()).filter(|key| key.exists());
        if self.answering.json {
            let shown = |path: &Path| path.display().to_string();
            let done = json!({
                "ok": true,
                "file": shown(&self.file),
                "copy_of": shown(path),
                "bytes": n_bytes,
                "secrets_key": key.as_deref().map(shown),
            });
            output::line(format_args!("{done}"))?;
            return Ok(ExitCode::SUCCESS);
        }
        output::line(format_args!("{} is a copy of {} ({n_bytes} bytes).", self.file.display(), path.display()))?;
        if let Some(key) = key {
            output::note(format_args!(
                "It is of no use without {}: keep a copy of that as well, in another place.",
                key.display()
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}
