//! `aerogram export`: what an app has, as JSON lines that `aerogram import jsonl` reads: what it is itself, channels with all that
//! is known of them, what named users hold, lists with their rows, segments, templates, schedules, pipelines with the rates of all
//! of them, and experiments.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use providers::percent_encoded;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::exported_channel::line_of;
use super::import::{DOCUMENTS, DocumentKind, SEGMENTS, held_by_user, pipeline_rates};
use super::listing::each;
use super::progress::Progress;
use crate::client::{Client, patiently};
use crate::config::{AppLogin, Data, Remote};
use crate::output;

/// Rows of a list in one line.
const ROWS_PER_LINE: usize = 1000;
/// How far it has got is shown after so many lines.
const LINES_AT_ONCE: u64 = 500;
const UNWRITTEN: &str = "The export cannot be written";
const UNKEPT: &str = "The rows of a list cannot be kept in a temporary file";

#[derive(Args, Debug)]
pub(crate) struct Export {
    /// The file, which is not overwritten; standard output when absent or `-`
    #[arg(value_name = "PATH")]
    file: Option<PathBuf>,
    /// Replace the file, if it is there, once the new one is whole
    #[arg(long, requires = "file")]
    force: bool,
    /// Write the name, the mode and the rules of the app as well; this takes the operator token
    #[arg(long)]
    with_app: bool,

    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
    #[command(flatten)]
    data: Data,
}

/// The lines so far.
struct Lines {
    out: BufWriter<Target>,
    n_lines: u64,
    progress: Progress,
}

/// Where the lines go.
enum Target {
    /// A file that gets its name when it is whole, and is gone if it does not become so. Only its owner can read it: lines have
    /// addresses of devices and ids of people.
    File { partial: NamedTempFile, path: PathBuf },
    /// What is no file, such as a pipe.
    Stream(Box<dyn Write>),
}

impl Export {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let client = Client::app(&self.remote, &self.login)?;
        let file = self.file.as_deref().filter(|path| *path != Path::new("-"));
        let target = Target::open(file, self.force)?;
        let mut lines = Lines { out: BufWriter::new(target), n_lines: 0, progress: Progress::of_unknown()? };
        if self.with_app {
            self.app(&mut lines).await?;
        }
        channels(&client, &mut lines).await?;
        named_users(&client, &mut lines).await?;
        lists(&client, &mut lines).await?;
        rates(&client, &mut lines).await?;
        for kind in DOCUMENTS {
            documents(&client, kind, &mut lines).await?;
        }
        let Lines { out, n_lines, progress } = lines;
        drop(progress);
        out.into_inner().map_err(io::IntoInnerError::into_error).and_then(Target::finish).context(UNWRITTEN)?;
        if let Some(file) = file {
            output::note(format_args!("{n_lines} lines were written to {}.", file.display()));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// What the operator can change of it. Its key and its secrets are where it is.
    async fn app(&self, lines: &mut Lines) -> Result<()> {
        let (operator, (key, _)) = (Client::operator(&self.remote, &self.data)?, self.login.required()?);
        let path = format!("/operator/apps/{key}");
        let mut answer: Value = patiently(|| operator.get(&path)).await?.read()?;
        let Some(Value::Object(mut app)) = answer.get_mut("app").map(Value::take) else {
            bail!("The server's answer has no 'app' (do the versions match?)");
        };
        app.retain(|name, _| !matches!(name.as_str(), "key" | "created"));
        lines.add(&json!({ "app": app }))
    }
}

impl Lines {
    fn add(&mut self, line: &Value) -> Result<()> {
        self.n_lines += 1;
        if self.n_lines.is_multiple_of(LINES_AT_ONCE) {
            self.progress.show(self.n_lines, format!("{} lines", self.n_lines));
        }
        Ok(writeln!(self.out, "{line}")?)
    }
}

impl Target {
    fn open(path: Option<&Path>, is_forced: bool) -> Result<Self> {
        let Some(path) = path else { return Ok(Target::Stream(Box::new(io::stdout()))) };
        let opened = match fs::metadata(path) {
            Ok(found) if !found.is_file() => {
                File::options().write(true).open(path).map(|file| Target::Stream(Box::new(file)))
            }
            Ok(_) if !is_forced => bail!("{} is there already; --force replaces it.", path.display()),
            Ok(_) | Err(_) => Self::beside(path),
        };
        opened.with_context(|| format!("{} cannot be written", path.display()))
    }

    /// A link to a file stays one.
    fn beside(path: &Path) -> io::Result<Self> {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().unwrap_or_default();
        let partial = tempfile::Builder::new().prefix(name).suffix(".partial").tempfile_in(folder)?;
        Ok(Target::File { partial, path })
    }

    /// Where there is room for what is in the file, if it is one.
    fn folder(&self) -> Option<&Path> {
        match self {
            Target::File { partial, .. } => partial.path().parent(),
            Target::Stream(_) => None,
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Target::File { partial, path } => {
                partial.as_file().sync_all()?;
                partial.persist(path).map(drop).map_err(|unnamed| unnamed.error)
            }
            Target::Stream(mut out) => out.flush(),
        }
    }
}

impl Write for Target {
    fn write(&mut self, some: &[u8]) -> io::Result<usize> {
        match self {
            Target::File { partial, .. } => partial.write(some),
            Target::Stream(out) => out.write(some),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::File { partial, .. } => partial.flush(),
            Target::Stream(out) => out.flush(),
        }
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
    each(client, "/api/named_users?limit=1000", "named_users", async |user| match held_by_user(&user) {
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

/// The rows of a list. There may be ten million, and an answer that breaks off does not say where the next one is to go on: they
/// are kept in a file until all of them are there, and the whole list is asked for again until then.
async fn rows(client: &Client, list: &str, lines: &mut Lines) -> Result<()> {
    let path = format!("/api/lists/{}/csv", percent_encoded(list));
    let (folder, message) = (lines.out.get_ref().folder(), format!("{} lines, rows of {list}", lines.n_lines));
    let file = lines.progress.during(&message, patiently(|| kept(client, &path, folder))).await?;
    let mut rows = BufReader::new(file).lines().peekable();
    while rows.peek().is_some() {
        let some: io::Result<Vec<String>> = rows.by_ref().take(ROWS_PER_LINE).collect();
        let some = some.with_context(|| format!("The rows of the list {list} cannot be read"))?;
        lines.add(&json!({"list_rows": {"list": list, "rows": some}}))?;
    }
    Ok(())
}

/// The whole answer to a request for rows, in a file that has no name and is gone with the command.
async fn kept(client: &Client, path: &str, folder: Option<&Path>) -> Result<File> {
    let mut body = client.stream(path).await?;
    let file = folder.map_or_else(tempfile::tempfile, tempfile::tempfile_in).context(UNKEPT)?;
    let mut out = BufWriter::new(file);
    let mut last = b'\n';
    while let Some(piece) = client.piece(&mut body).await? {
        out.write_all(&piece).context(UNKEPT)?;
        last = piece.last().copied().unwrap_or(last);
    }
    ensure!(last == b'\n', "The answer to GET {path} ends in the middle of a row");
    let mut file = out.into_inner().map_err(io::IntoInnerError::into_error).context(UNKEPT)?;
    file.rewind().context(UNKEPT)?;
    Ok(file)
}

/// Before the pipelines, which are not to send without them. An app that has none leaves those alone that the other one has.
async fn rates(client: &Client, lines: &mut Lines) -> Result<()> {
    let rates = pipeline_rates(client).await?;
    if rates == json!([]) { Ok(()) } else { lines.add(&json!({ "pipeline_constraints": rates })) }
}

async fn documents(client: &Client, kind: &DocumentKind, lines: &mut Lines) -> Result<()> {
    each(client, kind.listing, kind.items, async |shown| {
        let mut content = kind.content(shown);
        // A listing of segments has no criteria.
        if kind.key == SEGMENTS.key {
            let id = content.get(kind.id).map(|id| kind.id_in(id)).unwrap_or_default();
            let path = format!("{}/{id}", kind.path);
            let mut segment: Value = patiently(|| client.get(&path)).await?.read()?;
            let criteria = segment.get_mut("criteria").map(Value::take);
            content.insert("criteria".to_owned(), criteria.context("The answer about a segment has no 'criteria'")?);
        }
        lines.add(&json!({ kind.key: content }))
    })
    .await
}
