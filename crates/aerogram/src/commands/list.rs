//! `aerogram list`: uploaded lists, filled from and read as CSV.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use http::Method;
use providers::http::Outgoing;

use super::noun::{self, Noun, One, Verb};
use super::progress::Progress;
use crate::client::Client;
use crate::config::{AppLogin, Remote};
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct List {
    #[command(subcommand)]
    command: ListCommand,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Subcommand, Debug)]
enum ListCommand {
    #[command(flatten)]
    Verb(Verb),
    /// Replace the rows of a list by those of a CSV file
    Upload(Rows),
    /// Print the rows of a list as CSV
    Download(One),
    /// Print the rows that the last upload left out, as CSV
    Errors(One),
}

/// The rows for a list, which tag lists and attribute lists take as well.
#[derive(Args, Debug)]
pub(super) struct Rows {
    #[command(flatten)]
    one: One,
    /// The file, or `-` for standard input
    #[arg(value_name = "PATH")]
    file: PathBuf,
}

impl List {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let client = Client::app(&self.remote, &self.login)?;
        match &self.command {
            ListCommand::Verb(verb) => verb.run(&noun::LISTS, &client, self.remote.json).await?,
            ListCommand::Upload(rows) => rows.send(&noun::LISTS, &client, self.remote.json).await?,
            ListCommand::Download(one) => print(&noun::LISTS, &client, one, "csv").await?,
            ListCommand::Errors(one) => print(&noun::LISTS, &client, one, "errors").await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Rows {
    pub(super) async fn send(&self, noun: &Noun, client: &Client, is_json: bool) -> Result<()> {
        let Self { one, file } = self;
        let (rows, n_bytes) = opened(file)?;
        let sent = rows.sent();
        let path = format!("{}/csv", noun.path_of(&one.id));
        let upload = client.upload(Method::PUT, &path, "text/csv", rows);
        let progress = Progress::of_bytes(n_bytes)?;
        let reply = progress.following(&format!("uploading {}", file.display()), || sent.get(), upload).await?;
        drop(progress);
        if is_json { reply.print() } else { output::line(format_args!("uploaded")) }
    }
}

/// The rows of a file, or of standard input for `-`, and their size if it is known. They are read while they are sent: a list may
/// have ten million.
pub(super) fn opened(file: &Path) -> Result<(Outgoing, Option<u64>)> {
    if file == Path::new("-") {
        return Ok((Outgoing::new(io::stdin(), None), None));
    }
    let unreadable = || format!("{} cannot be read", file.display());
    let rows = File::open(file).with_context(unreadable)?;
    let found = rows.metadata().with_context(unreadable)?;
    anyhow::ensure!(!found.is_dir(), "{} is a folder.", file.display());
    let n_bytes = found.is_file().then_some(found.len());
    Ok((Outgoing::new(rows, n_bytes), n_bytes))
}

/// Piece by piece, as they come.
pub(super) async fn print(noun: &Noun, client: &Client, one: &One, part: &str) -> Result<()> {
    let mut rows = client.stream(&format!("{}/{part}", noun.path_of(&one.id))).await?;
    // Rows that appear on the screen show by themselves how far it has got.
    let progress = if io::stdout().is_terminal() { None } else { Some(Progress::of_unknown()?) };
    let mut n_bytes = 0;
    while let Some(piece) = rows.chunk().await? {
        output::bytes(&piece)?;
        n_bytes += piece.len() as u64;
        if let Some(progress) = &progress {
            progress.show(n_bytes, format!("{} MB", n_bytes / 1_000_000));
        }
    }
    Ok(())
}
