//! `aerogram import`: channels from files and from other services, through the bulk call of the API.

mod airship;
mod answers;
mod app;
mod consent;
mod csv;
mod documents;
mod items;
mod jsonl;
mod lists;
mod onesignal;
mod origin;
mod own_files;
mod pinpoint;
mod progress;
mod sending;
mod source;
mod state;
mod total;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

pub(super) use airship::held_by_user;
pub(super) use documents::{ALL as DOCUMENTS, DocumentKind, SEGMENTS, pipeline_rates};

use crate::client::Client;
use crate::config::{AppLogin, Remote, number_in};
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Import {
    #[command(subcommand)]
    format: Format,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand, Debug)]
enum Format {
    /// JSON lines: channels as they are registered, or what `aerogram export` has written
    Jsonl(jsonl::Jsonl),
    /// A CSV file with a header, or a list of tokens
    Csv(csv::Csv),
    /// The CSV export of OneSignal
    Onesignal(onesignal::Onesignal),
    /// The endpoint export of Amazon Pinpoint
    Pinpoint(pinpoint::Pinpoint),
    /// Channels and named users of Airship, through its API
    Airship(airship::Airship),
}

/// How rows are sent, whatever they come from.
#[derive(Args, Debug)]
struct Options {
    /// Read all rows, check channels and users, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Leave out so many rows at the beginning, except lists, segments, templates, schedules, pipelines with their rates and
    /// experiments; what an interrupted import has done is left out by itself
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = number_in(0..=u64::MAX))]
    skip: u64,
    /// Begin anew, although an interrupted import could go on
    #[arg(long)]
    start_over: bool,
    /// The file that keeps how far the import has got; beside the source when absent, or airship.aerogram-import
    #[arg(long, value_name = "PATH")]
    state: Option<PathBuf>,
    /// Import although enabled pipelines of the app could be set off, or its line makes the app looser
    #[arg(long, short)]
    yes: bool,
    /// Write why rows were left out to this file, with their lines, in the order in which it is found, and not to standard error
    #[arg(long, value_name = "PATH")]
    refused: Option<PathBuf>,
    /// Requests under way
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = number_in(1_usize..=32))]
    connections: usize,
}

impl Import {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let client = Client::app(&self.remote, &self.login)?;
        if !consent::is_given(&client, self.format.options()).await? {
            output::note(format_args!("Nothing was imported."));
            return Ok(ExitCode::FAILURE);
        }
        let run = sending::Run::new(client, &self.remote, &self.login)?;
        let total = match &self.format {
            Format::Jsonl(from) => from.run(run, &self.remote).await?,
            Format::Csv(from) => from.run(run).await?,
            Format::Onesignal(from) => from.run(run).await?,
            Format::Pinpoint(from) => from.run(run).await?,
            Format::Airship(from) => from.run(run, &self.remote.authorities).await?,
        };
        total.show(self.remote.json)?;
        Ok(if total.refused == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

impl Format {
    fn options(&self) -> &Options {
        match self {
            Format::Jsonl(from) => &from.options,
            Format::Csv(from) => &from.options,
            Format::Onesignal(from) => &from.options,
            Format::Pinpoint(from) => &from.options,
            Format::Airship(from) => &from.options,
        }
    }
}
