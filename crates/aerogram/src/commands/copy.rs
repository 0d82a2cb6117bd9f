//! `aerogram copy`: copies an installation to another database.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use model::time::Clock;
use serde_json::{Value, json};
use store::DatabaseUrl;
use store::copy::{Copied, CopyProgress, Occupied, copy};

use super::progress::Progress;
use crate::config::{Answering, Authorities, Ends, Logging};
use crate::output::{self, COUNT, NAME};
use crate::telemetry;

/// The rows after which the progress of a long table is reported.
const REMARK_EVERY: u64 = 1_000_000;

#[derive(Args, Debug)]
pub(crate) struct Copy {
    /// Delete everything that is in the target first, such as the beginning of a copy that was interrupted
    #[arg(long)]
    start_over: bool,

    /// Confirm that
    #[arg(long)]
    yes: bool,

    #[command(flatten)]
    ends: Ends,
    #[command(flatten)]
    authorities: Authorities,
    #[command(flatten)]
    logging: Logging,
    #[command(flatten)]
    answering: Answering,
}

impl Copy {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let (from, to) = self.ends.both()?;
        let occupied = match (self.start_over, self.yes) {
            (true, true) => Occupied::StartOver,
            (true, false) => bail!("Everything in {to} will be deleted; add --yes if that is meant."),
            (false, _) => Occupied::Refuse,
        };
        let _log = telemetry::start(&self.logging)?;
        let mut remarks = Remarks { progress: Progress::of_unknown()?, n_said: 0, is_quiet: self.answering.json };
        let request = tenancy::request_of_command(Clock::System.now(), "database.copy");
        let ca_file = self.authorities.ca_file.as_deref();
        let copying = copy(from, to, ca_file, occupied, move |progress| remarks.hear(&progress));
        let copied = tenancy::on_behalf_of(request, copying).await?;
        if self.answering.json {
            print(from, to, &copied)?
        } else {
            show(from, to, &copied)?
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Progress notes while the copy is made.
struct Remarks {
    progress: Progress,
    /// Rows of the current table that were reported.
    n_said: u64,
    /// Only what a program can read is said.
    is_quiet: bool,
}

impl Remarks {
    fn hear(&mut self, progress: &CopyProgress) {
        let CopyProgress { table, n_rows, is_done } = progress;
        self.progress.show(*n_rows, format!("{table}: {n_rows} rows"));
        if *is_done {
            if *n_rows > 0 && !self.is_quiet {
                self.progress.note(&format!("{table}: {n_rows} copied"));
            }
            self.n_said = 0;
        } else if *n_rows >= self.n_said + REMARK_EVERY && !self.is_quiet {
            self.progress.note(&format!("{table}: {n_rows} copied so far"));
            self.n_said = *n_rows;
        }
    }
}

fn print(from: &DatabaseUrl, to: &DatabaseUrl, copied: &[Copied]) -> Result<()> {
    let tables: Vec<Value> = copied.iter().map(|table| json!({"table": table.table, "rows": table.n_rows})).collect();
    let n_rows: u64 = copied.iter().map(|table| table.n_rows).sum();
    let done = json!({"ok": true, "from": from.to_string(), "to": to.to_string(), "tables": tables, "rows": n_rows});
    output::line(format_args!("{done}"))
}

fn show(from: &DatabaseUrl, to: &DatabaseUrl, copied: &[Copied]) -> Result<()> {
    let filled = copied.iter().filter(|table| table.n_rows > 0);
    let rows: Vec<_> = filled.map(|table| [table.table.clone(), table.n_rows.to_string()]).collect();
    output::table([("TABLE", NAME), ("ROWS", COUNT)], &rows)?;
    let n_rows: u64 = copied.iter().map(|table| table.n_rows).sum();
    output::line(format_args!(
        "\nAll {} tables were copied, {n_rows} rows; both databases have the same number of rows in each.\n\n\
         What to do now:\n  \
         1. Set AEROGRAM_DATABASE to the URL of {to}.\n  \
         2. Keep the data folder with secrets.key and operator-token, or bring the two to the data folder of the new \
         node: without\n     the key it does not start.\n  \
         3. Start the service. Do not start it on {from} again: messages would be sent twice.",
        copied.len()
    ))
}
