//! `aerogram backup`: a copy of the SQLite database, made while the service runs.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use store::DatabaseUrl;

use super::progress::Progress;
use crate::config::Data;
use crate::data::DataFolder;
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Backup {
    /// Where the copy goes; nothing is overwritten
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    data: Data,
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
        let copied = Progress::of_unknown()?.during(&message, store::backup::copy(path, &self.file)).await;
        let n_bytes = copied.with_context(|| format!("{} cannot be backed up", path.display()))?;
        output::line(format_args!("{} is a copy of {} ({n_bytes} bytes).", self.file.display(), path.display()))?;
        let key = DataFolder::of(&self.data).secrets_key_path();
        if key.exists() {
            output::note(format_args!(
                "It is of no use without {}: keep a copy of that as well, in another place.",
                key.display()
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}
