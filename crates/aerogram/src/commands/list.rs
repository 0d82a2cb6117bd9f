//! `aerogram list`: uploaded lists, filled from and read as CSV.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::noun::{self, One, Verb};
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
    Upload {
        #[command(flatten)]
        one: One,
        /// The file, or `-` for standard input
        #[arg(value_name = "PATH")]
        file: PathBuf,
    },
    /// Print the rows of a list as CSV
    Download(One),
    /// Print the rows that the last upload left out, as CSV
    Errors(One),
}

impl List {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let client = Client::app(&self.remote, &self.login)?;
        match &self.command {
            ListCommand::Verb(verb) => verb.run(&noun::LISTS, &client, self.remote.json).await?,
            ListCommand::Upload { one, file } => self.upload(&client, one, file).await?,
            ListCommand::Download(one) => print(&client, one, "csv").await?,
            ListCommand::Errors(one) => print(&client, one, "errors").await?,
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn upload(&self, client: &Client, one: &One, file: &std::path::Path) -> Result<()> {
        let rows = super::read_input(file)?;
        let reply = client.upload(&format!("/api/lists/{}/csv", one.id.segment()), "text/csv", rows).await?;
        if self.remote.json { reply.print() } else { output::line(format_args!("uploaded")) }
    }
}

/// Piece by piece: a list may have ten million rows.
async fn print(client: &Client, one: &One, part: &str) -> Result<()> {
    let mut rows = client.stream(&format!("/api/lists/{}/{part}", one.id.segment())).await?;
    while let Some(piece) = rows.chunk().await? {
        output::bytes(&piece)?;
    }
    Ok(())
}
