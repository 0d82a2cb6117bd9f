//! `aerogram import jsonl`: channels as they are registered, and what `aerogram export` has written.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::Options;
use super::items::content_of;
use super::sending::Run;
use super::source::{BytesRead, Row, Rows, lines};
use super::total::Total;
use crate::client::Client;
use crate::config::{Data, Remote};

#[derive(Args, Debug)]
pub(super) struct Jsonl {
    /// The file, plain or gzip, or `-` for standard input
    #[arg(value_name = "PATH")]
    file: PathBuf,
    /// Let schedules, pipelines and experiments send as they did where they come from; without it, recurring schedules come paused,
    /// pipelines come disabled, and schedules that send once and experiments, which cannot be paused, are not made
    #[arg(long)]
    active: bool,
    /// Give the app the name, the mode and the rules of its line, if the export has one, and show what changes; this takes the
    /// operator token
    #[arg(long)]
    with_app: bool,

    #[command(flatten)]
    pub(super) options: Options,
    // Last, because its heading, by which settings are known, extends to all that comes after it.
    #[command(flatten)]
    data: Data,
}

impl Jsonl {
    pub(super) async fn run(&self, run: Run, remote: &Remote) -> Result<Total> {
        let run = match self.with_app {
            true => run.setting_app(Client::operator(remote, &self.data)?),
            false => run,
        };
        let (files, n_bytes) = ([self.file.clone()], BytesRead::default());
        let rows = lines(&files, &n_bytes).map(|line| {
            let (place, line) = line?;
            Ok(Row { place, content: content_of(line) })
        });
        let rows: Rows = Box::new(rows);
        run.letting_active(self.active).files(&self.options, "jsonl".to_owned(), &files, n_bytes, rows).await
    }
}
