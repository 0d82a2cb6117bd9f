//! `aerogram export`: what an app has, as JSON lines that `aerogram import jsonl` reads: channels with all that is known of them,
//! what named users hold, lists with their rows, segments, templates, schedules and pipelines.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use providers::percent_encoded;
use serde_json::{Value, json};

use super::exported_channel::line_of;
use super::import::{DocumentKind, PIPELINES, SCHEDULES, SEGMENTS, TEMPLATES, held_by_user};
use super::listing::each;
use crate::client::Client;
use crate::config::{AppLogin, Remote};
use crate::output;

/// Rows of a list in one line.
const ROWS_PER_LINE: usize = 1000;

#[derive(Args, Debug)]
pub(crate) struct Export {
    /// The file; standard output when absent or `-`
    #[arg(value_name = "PATH")]
    file: Option<PathBuf>,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

/// The lines so far.
struct Lines {
    out: Box<dyn Write>,
    n_lines: u64,
}

impl Export {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let client = Client::app(&self.remote, &self.login)?;
        let file = self.file.as_deref().filter(|path| *path != Path::new("-"));
        let mut lines = Lines::open(file)?;
        channels(&client, &mut lines).await?;
        named_users(&client, &mut lines).await?;
        lists(&client, &mut lines).await?;
        for kind in [&SEGMENTS, &TEMPLATES, &SCHEDULES, &PIPELINES] {
            documents(&client, kind, &mut lines).await?;
        }
        lines.out.flush().context("The export cannot be written")?;
        if let Some(file) = file {
            output::note(format_args!("{} lines were written to {}.", lines.n_lines, file.display()));
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Lines {
    fn open(file: Option<&Path>) -> Result<Self> {
        let out: Box<dyn Write> = match file {
            Some(path) => Box::new(BufWriter::new(
                File::create(path).with_context(|| format!("{} cannot be written", path.display()))?,
            )),
            None => Box::new(BufWriter::new(io::stdout())),
        };
        Ok(Self { out, n_lines: 0 })
    }

    fn add(&mut self, line: &Value) -> Result<()> {
        self.n_lines += 1;
        Ok(writeln!(self.out, "{line}")?)
    }
}

/// Uninstalled channels have nothing but their ids, and are left out.
async fn channels(client: &Client, lines: &mut Lines) -> Result<()> {
    each(client, "/api/channels?limit=1000", "channels", async |channel| match line_of(channel) {
        Ok(line) => lines.add(&line),
        Err(_) => Ok(()),
    })
    .await
}

async fn named_users(client: &Client, lines: &mut Lines) -> Result<()> {
    each(client, "/api/named_users", "named_users", async |user| match held_by_user(&user) {
        Some(held) => lines.add(&json!({ "named_user": held })),
        None => Ok(()),
    })
    .await
}

async fn lists(client: &Client, lines: &mut Lines) -> Result<()> {
    each(client, "/api/lists", "lists", async |mut list| {
        let name = list.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        list.retain(|key, _| matches!(key.as_str(), "name" | "description" | "extra"));
        lines.add(&json!({ "list": list }))?;
        rows(client, &name, lines).await
    })
    .await
}

/// The rows of a list, piece by piece: there may be ten million.
async fn rows(client: &Client, list: &str, lines: &mut Lines) -> Result<()> {
    let mut stream = client.stream(&format!("/api/lists/{}/csv", percent_encoded(list))).await?;
    let (mut open, mut rows): (Vec<u8>, Vec<String>) = (Vec::new(), Vec::new());
    while let Some(piece) = stream.chunk().await? {
        open.extend_from_slice(&piece);
        let end = open.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
        let whole: Vec<u8> = open.drain(..end).collect();
        let text = String::from_utf8(whole).context("The rows of a list are no text")?;
        rows.extend(text.lines().map(str::to_owned));
        while rows.len() >= ROWS_PER_LINE {
            let some: Vec<String> = rows.drain(..ROWS_PER_LINE).collect();
            lines.add(&json!({"list_rows": {"list": list, "rows": some}}))?;
        }
    }
    if !rows.is_empty() {
        lines.add(&json!({"list_rows": {"list": list, "rows": rows}}))?;
    }
    Ok(())
}

async fn documents(client: &Client, kind: &DocumentKind, lines: &mut Lines) -> Result<()> {
    each(client, kind.path, kind.items, async |shown| {
        let mut content = kind.content(shown);
        // A listing of segments has no criteria.
        if kind.key == SEGMENTS.key {
            let id = content.get(kind.id).map(|id| kind.id_in(id)).unwrap_or_default();
            let mut segment: Value = client.get(&format!("{}/{id}", kind.path)).await?.read()?;
            content.insert("criteria".to_owned(), segment["criteria"].take());
        }
        lines.add(&json!({ kind.key: content }))
    })
    .await
}
