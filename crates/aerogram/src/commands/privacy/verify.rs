//! `aerogram privacy verify`: searches the database and the snapshots for texts. It runs beside the service, with the settings of
//! the database, because it looks at bytes that the service itself does not see.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Value, json};
use store::search::{self, Hit};

use crate::commands::progress::Progress;
use crate::config::{Answering, Authorities, Data};
use crate::data::DataFolder;
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// The texts to look for: ids, tokens, addresses; UUIDs and tokens in either letter case, UUIDs also in bytes
    #[arg(value_name = "TEXT", required = true)]
    texts: Vec<String>,

    #[command(flatten)]
    data: Data,
    #[command(flatten)]
    authorities: Authorities,
    #[command(flatten)]
    answering: Answering,
}

impl Verify {
    /// Fails if anything is found.
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let (database, ca_file) = (&self.data.database, self.authorities.ca_file.as_deref());
        let looking = async {
            let searched = search::database(database, ca_file, &self.texts).await;
            let mut hits = searched.with_context(|| format!("{database}"))?;
            hits.extend(search::files(self.snapshots()?, &self.texts).await?);
            Ok::<_, anyhow::Error>(hits)
        };
        let hits = Progress::of_unknown()?.during(&format!("reading all of {database}"), looking).await?;
        if self.answering.json {
            let found = |Hit { place, text }: &Hit| json!({"text": text, "place": place.to_string()});
            let found: Vec<Value> = hits.iter().map(found).collect();
            output::line(format_args!("{}", json!({"ok": found.is_empty(), "found": found})))?;
            return Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        for Hit { place, text } in &hits {
            output::line(format_args!("{text} is in {place}"))?;
        }
        if !hits.is_empty() {
            return Ok(ExitCode::FAILURE);
        }
        output::line(format_args!("Nothing of it is in {database} or in the snapshots beside it."))?;
        Ok(ExitCode::SUCCESS)
    }

    fn snapshots(&self) -> Result<Vec<PathBuf>> {
        let folder = DataFolder::of(&self.data);
        let Ok(entries) = std::fs::read_dir(folder.path()) else { return Ok(Vec::new()) };
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        let paths: Vec<PathBuf> = paths.collect::<Result<_, _>>().context("The data folder cannot be read")?;
        let is_snapshot = |path: &PathBuf| path.extension().is_some_and(|end| end == "snapshot" || end == "unfinished");
        Ok(paths.into_iter().filter(is_snapshot).collect())
    }
}
