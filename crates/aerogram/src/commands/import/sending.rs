//! Sends the rows of an import: channels and users in parts of some thousand to the bulk call, a few of them at once, and
//! everything else by calls of its own. Rows that are left out are told with their places.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::future::Future;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use bytes::Bytes;
use tokio::task::JoinSet;

use super::Options;
use super::answers::{Answer, RefusedLine, about_one_row, patiently};
use super::app::OfApp;
use super::consent;
use super::documents::{Object, Taken};
use super::items::{Item, Items};
use super::origin::Origin;
use super::own_files::{check_refused, check_state};
use super::progress::Progress;
use super::source::{BytesRead, Content, Row, Rows};
use super::state::{Found, State, StateFile, beside};
use super::total::Total;
use crate::client::Client;
use crate::config::{AppLogin, Remote, Unusable};

const ROWS_PER_PART: usize = 2000;
const BYTES_PER_PART: usize = 4 * 1024 * 1024;

/// An import that is about to begin.
pub(super) struct Run {
    client: Arc<Client>,
    server: String,
    app: String,
    /// What sends by itself does so here, too.
    active: bool,
    /// For lines about the app itself.
    operator: Option<OfApp>,
}

/// Rows of one request.
#[derive(Default)]
struct Part {
    places: Vec<String>,
    lines: Vec<u8>,
}

/// Rows that have been sent.
struct Done {
    places: Vec<String>,
    answer: Answer,
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
    /// How many rows come before pages that have not all been done yet, and the pages.
    pages: VecDeque<(u64, Option<String>)>,
    items: Items,
    total: Total,
}

impl Run {
    pub(super) fn new(client: Client, remote: &Remote, login: &AppLogin) -> Result<Self> {
        let (key, _) = login.required()?;
        let (server, app) = (remote.url()?.to_string(), key.to_string());
        Ok(Self { client: Arc::new(client), server, app, active: false, operator: None })
    }

    pub(super) fn letting_active(self, active: bool) -> Self {
        Self { active, ..self }
    }

    /// Sets the app itself as its line says.
    pub(super) fn setting_app(self, operator: Client) -> Self {
        let path = format!("/operator/apps/{}", self.app);
        Self { operator: Some(OfApp { client: operator, path }), ..self }
    }

    /// Imports the rows of files.
    pub(super) async fn files(
        self,
        options: &Options,
        how: String,
        files: &[PathBuf],
        n_bytes: BytesRead,
        rows: Rows,
    ) -> Result<Total> {
        let origin = Origin::of_files(how, files);
        let progress = Progress::of_files(n_bytes, origin.as_ref().map(Origin::n_bytes))?;
        if options.state.is_some() && origin.is_none() {
            let text =
                "--state: How far an import has got is kept for files only; --skip leaves out rows of anything else.";
            return Err(Unusable::new(text).into());
        }
        let default = files.first().filter(|_| origin.is_some()).map(|file| beside(file, ".aerogram-import"));
        let state = options.state.clone().or(default);
        if let Some(report) = &options.refused {
            check_refused(report, files.iter().map(PathBuf::as_path))?;
        }
        let mut sender = self.sender(options, origin.unwrap_or_default(), state, progress)?;
        for row in rows {
            sender.add(row?).await?;
        }
        sender.finish().await
    }

    /// `state` is the file that keeps how far the import has got.
    pub(super) fn sender(
        self,
        options: &Options,
        origin: Origin,
        state: Option<PathBuf>,
        progress: Progress,
    ) -> Result<Sender<'_>> {
        if let Some(named) = &options.state {
            check_state(named)?;
        }
        if let (Some(report), Some(state)) = (&options.refused, &state) {
            check_refused(report, [state.as_path()])?;
        }
        let Run { client, server, app, active, operator } = self;
        let new = State { server, app, origin, ..State::default() };
        let (kept, goes_on) = match state.filter(|_| !options.dry_run) {
            None => (StateFile::nowhere(), false),
            Some(path) => {
                let shown = path.display().to_string();
                let (kept, found) = StateFile::open(path, new, options.start_over)?;
                if found == Found::Other {
                    progress.note(&format!(
                        "{shown} is of an import from another source, to another app or with other options; this one begins anew."
                    ));
                }
                let goes_on = found == Found::Same && (kept.state.n_rows > 0 || kept.state.next_page.is_some());
                (kept, goes_on)
            }
        };
        // An import that goes on adds to what it has told.
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
            items: Items::new(client.clone(), active, operator),
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
            pages: VecDeque::new(),
            total: Total::begin(options.dry_run),
        })
    }
}

impl Sender<'_> {
    pub(super) async fn add(&mut self, Row { place, content }: Row) -> Result<()> {
        // The rows before it are a request of their own, which ends before this row: what is done when it is answered.
        if let Content::Item(_) = content {
            self.send_part().await?;
        }
        self.n_rows += 1;
        let is_new = self.n_rows > self.n_skipped;
        self.total.rows += u64::from(is_new);
        match content {
            Content::Line(line) if is_new => {
                self.part.places.push(place);
                self.part.lines.extend_from_slice(&line);
                self.part.lines.push(b'\n');
                if self.part.places.len() >= ROWS_PER_PART || self.part.lines.len() >= BYTES_PER_PART {
                    self.send_part().await?;
                }
            }
            Content::LeftOut(why) if is_new => self.leave_out(&place, "", &why)?,
            Content::Item(Item::App(app)) if self.options.dry_run && is_new => self.preview(&place, &app).await?,
            Content::Item(_) if self.options.dry_run => self.total.unchecked += u64::from(is_new),
            // Ids that others name are learned from them, also when an earlier run has made them.
            Content::Item(item) => {
                self.flush().await?;
                self.upload_list(Some(&item)).await?;
                match self.take(item).await {
                    Ok(taken) => self.total.count_item(&taken),
                    Err(error) => self.leave_out(&place, "", &about_one_row(error)?)?,
                }
            }
            Content::Line(_) | Content::LeftOut(_) => {}
        }
        Ok(())
    }

    async fn take(&mut self, item: Item) -> Result<Taken> {
        if let Item::App(app) = &item
            && let Some(changes) = self.items.changes_of_app(app).await?
        {
            self.progress.aside(|| consent::to_changes(&changes, self.options))?;
        }
        self.items.take(item).await
    }

    /// Shows what a line about the app would change.
    async fn preview(&mut self, place: &str, app: &Object) -> Result<()> {
        match self.items.changes_of_app(app).await {
            Ok(Some(changes)) => {
                self.total.count_checked(1);
                self.progress.aside(|| consent::to_changes(&changes, self.options))
            }
            Ok(None) => {
                self.total.count_item(&Taken::PassedOver);
                Ok(())
            }
            Err(error) => self.leave_out(place, "", &about_one_row(error)?),
        }
    }

    /// The page with which an interrupted import goes on. Rows are counted from there.
    pub(super) fn go_on_with_page(&mut self) -> Option<String> {
        self.n_rows = self.kept.state.n_rows;
        self.kept.state.next_page.clone()
    }

    /// All rows so far come before this page, with which the import goes on if it is interrupted after they are done.
    pub(super) fn begin_page(&mut self, page: Option<&str>) {
        self.pages.push_back((self.n_rows, page.map(str::to_owned)));
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
        self.progress.show_upload(&list);
        match self.items.upload_list().await {
            Ok(()) => Ok(()),
            Err(error) => self.leave_out(&format!("the rows of the list {list}"), "", &about_one_row(error)?),
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
            Ok(Done { places, answer: Answer::read(&reply)? })
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
        let Done { places, answer } = done?;
        self.total.created += answer.total.created;
        self.total.updated += answer.total.updated;
        self.total.items += answer.total.named_users;
        self.total.count_checked((places.len() as u64).saturating_sub(answer.total.refused));
        for RefusedLine { line, path, error } in &answer.refused {
            let place = places.get(line.saturating_sub(1)).map_or("a row", String::as_str);
            self.leave_out(place, path, error)?;
        }
        // All of so few rows are named, or there is a version that names fewer.
        let n_unnamed = answer.total.refused.saturating_sub(answer.refused.len() as u64);
        if let (Some(first), Some(last), 1..) = (places.first(), places.last(), n_unnamed) {
            self.total.refused += n_unnamed;
            self.tell(&format!(
                "{n_unnamed} more between {first} and {last}: The server has not said which, nor why."
            ))?;
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
            self.note_rows(end)?;
        }
        Ok(())
    }

    /// So many rows from the beginning on are done.
    fn note_rows(&mut self, n_rows: u64) -> Result<()> {
        let state = &mut self.kept.state;
        state.n_rows = n_rows.max(state.n_rows);
        while let Some((_, page)) = self.pages.pop_front_if(|(n_before, _)| *n_before <= state.n_rows) {
            state.next_page = page;
        }
        self.flush_report()?;
        self.kept.save()
    }

    fn flush_report(&mut self) -> Result<()> {
        self.report.as_mut().map_or(Ok(()), Write::flush).context("The file of refused rows cannot be written")
    }

    fn leave_out(&mut self, place: &str, path: &str, why: &str) -> Result<()> {
        self.total.refused += 1;
        let at = if path.is_empty() { String::new() } else { format!("{path}: ") };
        self.tell(&format!("{place}: {at}{why}"))
    }

    /// Writes a line about rows that are left out.
    fn tell(&mut self, text: &str) -> Result<()> {
        match &mut self.report {
            Some(report) => writeln!(report, "{text}").context("The file of refused rows cannot be written"),
            None => {
                self.progress.note(text);
                Ok(())
            }
        }
    }
}
