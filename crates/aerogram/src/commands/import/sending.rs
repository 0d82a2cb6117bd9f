//! Sends the rows of an import: channels in parts of some thousand to the bulk call, a few of them at once, and everything else by
//! calls of its own. Rows that are left out are told with their places.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::future::Future;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use bytes::Bytes;
use serde::Serialize;
use tokio::task::JoinSet;

use super::Options;
use super::answers::{Answer, RefusedLine, patiently, problem};
use super::items::{Item, Items, set_named_user};
use super::progress::Progress;
use super::source::{BytesRead, Content, Row, Rows};
use super::state::{State, StateFile, beside};
use crate::client::Client;
use crate::config::{AppLogin, Remote};
use crate::output;

const ROWS_PER_PART: usize = 2000;
const BYTES_PER_PART: usize = 4 * 1024 * 1024;

/// An import that is about to begin.
pub(super) struct Run {
    client: Arc<Client>,
    server: String,
    app: String,
}

/// What became of all rows.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Total {
    /// Rows that were read, without those that an earlier run has done.
    rows: u64,
    created: u64,
    updated: u64,
    /// Named users, lists, segments and the like.
    items: u64,
    pub(super) refused: u64,
}

/// Channels of one request.
#[derive(Default)]
struct Part {
    places: Vec<String>,
    lines: Vec<u8>,
}

/// Rows that have been sent.
enum Done {
    Part { places: Vec<String>, answer: Answer },
    Item { place: String, problem: Option<String> },
}

/// An import under way.
pub(super) struct Sender<'a> {
    client: Arc<Client>,
    options: &'a Options,
    pub(super) kept: StateFile,
    progress: Progress,
    report: Option<BufWriter<File>>,
    /// Rows at the beginning that are not sent.
    n_skipped: u64,
    n_rows: u64,
    part: Part,
    under_way: JoinSet<(u64, Result<Done>)>,
    /// The first row after each request under way, by the number of the request.
    ends: BTreeMap<u64, u64>,
    n_requests: u64,
    items: Items,
    total: Total,
}

impl Run {
    pub(super) fn new(client: Client, remote: &Remote, login: &AppLogin) -> Result<Self> {
        let (key, _) = login.required()?;
        Ok(Self { client: Arc::new(client), server: remote.url()?.to_string(), app: key.to_string() })
    }

    /// Imports the rows of files.
    pub(super) async fn files(
        self,
        options: &Options,
        files: &[PathBuf],
        n_bytes: BytesRead,
        size: Option<u64>,
        rows: Rows,
    ) -> Result<Total> {
        let progress = Progress::of_files(n_bytes, size)?;
        let state = files.first().filter(|_| size.is_some()).map(|file| beside(file, ".aerogram-import"));
        let mut sender = self.sender(options, progress, state.as_deref(), size)?;
        for row in rows {
            sender.add(row?).await?;
        }
        sender.finish().await
    }

    /// `state` is the file that keeps how far the import has got.
    pub(super) fn sender<'a>(
        self,
        options: &'a Options,
        progress: Progress,
        state: Option<&Path>,
        size: Option<u64>,
    ) -> Result<Sender<'a>> {
        let Run { client, server, app } = self;
        let new = State { server, app, size, ..State::default() };
        let kept = match state.filter(|_| !options.dry_run) {
            Some(path) => StateFile::open(path.to_owned(), new, options.start_over)?,
            None => StateFile::nowhere(),
        };
        // An import that goes on adds to what it has told.
        let goes_on = kept.state.n_rows > 0;
        let report = options.refused.as_ref().map(|path| {
            let opened = OpenOptions::new().create(true).write(true).append(goes_on).truncate(!goes_on).open(path);
            opened.map(BufWriter::new).with_context(|| format!("{} cannot be written", path.display()))
        });
        if goes_on {
            progress.note(&format!(
                "An interrupted import goes on after row {}; --start-over begins anew.",
                kept.state.n_rows
            ));
        }
        Ok(Sender {
            items: Items::new(client.clone()),
            client,
            options,
            n_skipped: options.skip.max(kept.state.n_rows),
            kept,
            progress,
            report: report.transpose()?,
            n_rows: 0,
            part: Part::default(),
            under_way: JoinSet::new(),
            ends: BTreeMap::new(),
            n_requests: 0,
            total: Total::default(),
        })
    }
}

impl Sender<'_> {
    pub(super) async fn add(&mut self, Row { place, content }: Row) -> Result<()> {
        self.n_rows += 1;
        let is_new = self.n_rows > self.n_skipped;
        self.total.rows += u64::from(is_new);
        match content {
            Content::Channel(line) if is_new => {
                self.part.places.push(place);
                self.part.lines.extend_from_slice(&line);
                self.part.lines.push(b'\n');
                if self.part.places.len() >= ROWS_PER_PART || self.part.lines.len() >= BYTES_PER_PART {
                    self.send_part().await?;
                }
            }
            Content::LeftOut(why) if is_new => self.leave_out(&place, "", &why)?,
            Content::NamedUser(user) if is_new && !self.options.dry_run => {
                self.send_part().await?;
                let client = self.client.clone();
                self.start(async move {
                    let problem = problem(set_named_user(&client, &user).await)?;
                    Ok(Done::Item { place, problem })
                })
                .await?;
            }
            // Ids that others name are learned from them, also when an earlier run has made them.
            Content::Item(item) if !self.options.dry_run => {
                self.flush().await?;
                self.upload_list(Some(&item)).await?;
                let problem = problem(self.items.take(item).await)?;
                self.end_item(&place, problem)?;
            }
            Content::Channel(_) | Content::LeftOut(_) | Content::NamedUser(_) | Content::Item(_) => {}
        }
        Ok(())
    }

    /// The page with which an interrupted import goes on. Rows are counted from there.
    pub(super) fn go_on_with_page(&mut self) -> Option<String> {
        self.n_rows = self.kept.state.n_rows;
        self.kept.state.next_page.clone()
    }

    /// Notes that everything before a page is done.
    pub(super) fn note_page(&mut self, next: Option<&str>) -> Result<()> {
        self.kept.state.next_page = next.map(str::to_owned);
        self.kept.save()
    }

    /// Waits for everything that is under way.
    pub(super) async fn flush(&mut self) -> Result<()> {
        self.send_part().await?;
        while !self.under_way.is_empty() {
            self.end_one().await?;
        }
        Ok(())
    }

    pub(super) async fn finish(mut self) -> Result<Total> {
        self.flush().await?;
        self.upload_list(None).await?;
        self.kept.end()?;
        self.progress.end();
        self.flush_report()?;
        Ok(self.total)
    }

    /// Uploads the rows of a list, once the next row is not one of them.
    async fn upload_list(&mut self, next: Option<&Item>) -> Result<()> {
        let Some(list) = self.items.complete_list(next) else { return Ok(()) };
        match problem(self.items.upload_list().await)? {
            Some(problem) => self.leave_out(&format!("the rows of the list {list}"), "", &problem),
            None => Ok(()),
        }
    }

    async fn send_part(&mut self) -> Result<()> {
        if self.part.places.is_empty() {
            return Ok(());
        }
        let Part { places, lines } = std::mem::take(&mut self.part);
        let client = self.client.clone();
        let path = if self.options.dry_run { "/api/channels/import?dry_run=true" } else { "/api/channels/import" };
        let lines = Bytes::from(lines);
        self.start(async move {
            let reply = patiently(|| client.send_lines(path, lines.clone())).await?;
            Ok(Done::Part { places, answer: Answer::read(&reply)? })
        })
        .await
    }

    /// Begins a request, when there is room for another.
    async fn start(&mut self, request: impl Future<Output = Result<Done>> + Send + 'static) -> Result<()> {
        while self.under_way.len() >= self.options.connections {
            self.end_one().await?;
        }
        let number = self.n_requests;
        self.n_requests += 1;
        self.ends.insert(number, self.n_rows);
        self.under_way.spawn(async move { (number, request.await) });
        Ok(())
    }

    async fn end_one(&mut self) -> Result<()> {
        let Some(ended) = self.under_way.join_next().await else { return Ok(()) };
        let (number, done) = ended.context("A request broke off")?;
        match done? {
            Done::Part { places, answer } => {
                self.total.created += answer.total.created;
                self.total.updated += answer.total.updated;
                for RefusedLine { line, path, error } in &answer.refused {
                    let place = places.get(line.saturating_sub(1)).map_or("a row", String::as_str);
                    self.leave_out(place, path, error)?;
                }
                // All of so few rows are told, or there is a version that tells less.
                self.total.refused += answer.total.refused.saturating_sub(answer.refused.len() as u64);
            }
            Done::Item { place, problem } => self.end_item(&place, problem)?,
        }
        self.note_end(number)?;
        self.progress.show(self.n_rows, self.total.refused);
        Ok(())
    }

    /// Rows up to the first request that is still under way are done.
    fn note_end(&mut self, number: u64) -> Result<()> {
        let is_first = self.ends.first_key_value().is_some_and(|(first, _)| *first == number);
        let end = self.ends.remove(&number);
        if let (true, Some(end)) = (is_first, end) {
            // Those of later requests that have ended already are sent once more after an interruption.
            self.kept.state.n_rows = end.max(self.kept.state.n_rows);
            self.flush_report()?;
            self.kept.save()?;
        }
        Ok(())
    }

    fn flush_report(&mut self) -> Result<()> {
        self.report.as_mut().map_or(Ok(()), Write::flush).context("The file of refused rows cannot be written")
    }

    fn end_item(&mut self, place: &str, problem: Option<String>) -> Result<()> {
        match problem {
            Some(problem) => self.leave_out(place, "", &problem),
            None => {
                self.total.items += 1;
                Ok(())
            }
        }
    }

    fn leave_out(&mut self, place: &str, path: &str, why: &str) -> Result<()> {
        self.total.refused += 1;
        let at = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let text = format!("{place}: {at}{why}");
        match &mut self.report {
            Some(report) => writeln!(report, "{text}").context("The file of refused rows cannot be written"),
            None => {
                self.progress.note(&text);
                Ok(())
            }
        }
    }
}

impl Total {
    pub(super) fn show(&self, is_json: bool) -> Result<()> {
        if is_json {
            return output::line(format_args!(
                "{}",
                serde_json::to_string(self).context("The total cannot be written")?
            ));
        }
        let Self { rows, created, updated, items, refused } = self;
        let items = if *items > 0 { format!(", {items} other things are there") } else { String::new() };
        output::line(format_args!(
            "{rows} rows were read: {created} channels are new, {updated} were known{items}, {refused} rows were left out."
        ))
    }
}
