//! Import of channels: a stream of JSON lines, each the channel object of a registration with what else is known of the channel, or
//! what a named user holds itself. Some hundred lines are one transaction. The answer has a line for every one that was left out,
//! and one for all of them. Airship's own import is one array of channels.

mod array;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use devices::{ImportReport, ImportRow, ImportUserRow, RefusedRow};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use model::channel::{ImportedChannel, ImportedLine};
use model::ids::OperationId;
use model::json::{self, UnknownKeys};
use model::problem::Problems;
use model::server_token::Scope;
use serde::Serialize;
use tenancy::App;

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result, beginning, cut};
use crate::query::Params;
use crate::roles::OwnScopes;
use crate::upload::Upload;

const NDJSON: HeaderValue = HeaderValue::from_static("application/x-ndjson");
/// Lines of one transaction, or of two if they are about channels and users. Nothing else of the app is written meanwhile. More of
/// them take more memory, and save little: requests that are under way together are committed together.
const LINES_AT_ONCE: usize = 500;
/// Lines are taken together up to so many bytes, which bounds the memory of an import.
const BYTES_AT_ONCE: usize = 4 * 1024 * 1024;
/// A longer line tells of no channel.
const MOST_LINE_BYTES: usize = 1024 * 1024;
/// More lines that were left out are counted, and not told.
const MOST_TOLD: usize = 10_000;
/// When the lines that were told take so much room, little more is said of others than their numbers, by which they are found: a
/// packed body of some megabytes may be gigabytes of bad lines.
const MOST_TOLD_BYTES: usize = 4 * 1024 * 1024;
/// Of the path and of the problems of such a line.
const MOST_SHORT_CHARS: usize = 100;
/// Of a line that has many problems, those beyond so many bytes are counted.
const MOST_ERROR_BYTES: usize = 8 * 1024;

/// The answer about one line that was left out.
#[derive(Serialize)]
struct RefusedLine<'a> {
    line: u64,
    /// The place in the line; empty for all of it.
    path: &'a str,
    error: &'a str,
}

/// The last line of the answer.
#[derive(Serialize)]
struct Total {
    ok: bool,
    operation_id: OperationId,
    created: u64,
    updated: u64,
    /// Users whose lines were taken.
    named_users: u64,
    refused: u64,
}

pub(super) async fn channels(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    scopes: OwnScopes,
    mut params: Params,
    mut body: Upload,
) -> Result<Response> {
    let is_dry_run = params.choice("dry_run", &[("true", true), ("false", false)]).unwrap_or(false);
    let begun = params.finish().and_then(|()| edge.admit_transfer(app.id));
    let _permit = match begun {
        Ok(permit) => permit,
        Err(error) => {
            body.discard().await;
            return Err(error);
        }
    };
    let mut import = Import {
        edge: &edge,
        app: &app,
        no_users: scopes.refusal(Scope::NamedUsers),
        is_dry_run,
        told: Vec::new(),
        total: ImportReport::default(),
        n_users: 0,
        n_refused: 0,
    };
    match import.receive(&mut body).await {
        Ok(Form::Lines) => import.answer(),
        Ok(Form::Array(answer)) => Ok(answer.into_response()),
        Err(error) => {
            body.discard().await;
            Err(error)
        }
    }
}

/// How the channels of an import came.
enum Form {
    Lines,
    /// They are imported, and this is said of them.
    Array(Answer),
}

/// An import that is being received.
struct Import<'a> {
    edge: &'a Edge,
    app: &'a App,
    /// Why lines about named users are left out, if the caller may change only channels.
    no_users: Option<String>,
    /// Lines are read and checked, and nothing is written.
    is_dry_run: bool,
    /// Lines of the answer.
    told: Vec<u8>,
    total: ImportReport,
    n_users: u64,
    n_refused: u64,
}

/// Lines that wait to be imported.
#[derive(Default)]
struct Lines {
    whole: Vec<(u64, Vec<u8>)>,
    n_bytes: usize,
    /// The line that has not ended yet.
    open: Vec<u8>,
    n_lines: u64,
}

impl Import<'_> {
    async fn receive(&mut self, body: &mut Upload) -> Result<Form> {
        let (mut lines, mut is_blank) = (Lines::default(), true);
        while let Some(chunk) = body.chunk().await? {
            let mut rest = chunk;
            // No line begins like an array: each is an object.
            if is_blank && rest.trim_ascii_start().starts_with(b"[") {
                return self.take_array(rest, body).await.map(Form::Array);
            }
            is_blank &= rest.trim_ascii().is_empty();
            while lines.add(&mut rest) {
                self.take(&mut lines).await?;
            }
        }
        lines.end_line();
        self.take(&mut lines).await.map(|()| Form::Lines)
    }

    /// Imports the lines that wait.
    async fn take(&mut self, lines: &mut Lines) -> Result<()> {
        let whole = lines.take();
        let (mut rows, mut users, mut refused) = (Vec::with_capacity(whole.len()), Vec::new(), Vec::new());
        for (line, read) in self.edge.apart(move || parse_all(whole)).await? {
            match read {
                Ok(ImportedLine::Channel(channel)) => match self.address_problem(&channel).await? {
                    None => rows.push(ImportRow { line, channel: *channel }),
                    Some(problems) => refused.push(refusal(line, &problems)),
                },
                Ok(ImportedLine::NamedUser(user)) => match self.no_users.clone() {
                    None => users.push(ImportUserRow { line, user: *user }),
                    Some(message) => refused.push(RefusedRow { line, path: "named_user".to_owned(), message }),
                },
                Err(row) => refused.push(row),
            }
        }
        if !self.is_dry_run && !rows.is_empty() {
            let done = self.edge.engine.devices().import_channels(self.app.id, rows).await?;
            self.total.n_created += done.n_created;
            self.total.n_updated += done.n_updated;
            refused.extend(done.refused);
        }
        // What users hold counts for all of their channels, whichever comes first.
        if !self.is_dry_run && !users.is_empty() {
            let done = self.edge.engine.devices().import_users(self.app.id, users).await?;
            self.n_users += done.n_users;
            refused.extend(done.refused);
        }
        refused.sort_by_key(|row| row.line);
        refused.iter().try_for_each(|row| self.tell(row))
    }

    /// What is wrong with the address of a device, in an app in production.
    async fn address_problem(&self, channel: &ImportedChannel) -> Result<Option<Problems>> {
        let Some(registration) = channel.device() else { return Ok(None) };
        match self.edge.engine.sending().check_address(self.app.id, self.app.mode, registration).await {
            Ok(()) => Ok(None),
            Err(engine::Error::Invalid(problems)) => Ok(Some(problems)),
            Err(error) => Err(error.into()),
        }
    }

    fn tell(&mut self, row: &RefusedRow) -> Result<()> {
        self.n_refused += 1;
        if self.n_refused > MOST_TOLD as u64 {
            return Ok(());
        }
        let path = below_channel(&row.path);
        if self.told.len() < MOST_TOLD_BYTES {
            return self.tell_line(&RefusedLine { line: row.line, path, error: &row.message });
        }
        let (path, error) = (beginning(path, MOST_SHORT_CHARS), beginning(&row.message, MOST_SHORT_CHARS));
        self.tell_line(&RefusedLine { line: row.line, path: &path, error: &error })
    }

    fn tell_line(&mut self, line: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.told, line).map_err(Error::internal)?;
        self.told.push(b'\n');
        Ok(())
    }

    fn answer(mut self) -> Result<Response> {
        let ImportReport { n_created: created, n_updated: updated, .. } = self.total;
        let operation_id = OperationId::at(self.edge.engine.clock().now());
        let (named_users, refused) = (self.n_users, self.n_refused);
        self.tell_line(&Total { ok: true, operation_id, created, updated, named_users, refused })?;
        let mut response = Response::new(Body::from(self.told));
        response.headers_mut().insert(CONTENT_TYPE, NDJSON);
        Ok(response)
    }
}

impl Lines {
    /// Takes lines from the bytes that have arrived, and returns whether there are enough of them to be imported.
    fn add(&mut self, bytes: &mut Bytes) -> bool {
        while !bytes.is_empty() {
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
                self.open_more(bytes);
                bytes.clear();
                return false;
            };
            let line = bytes.split_to(end + 1);
            self.open_more(&line[..end]);
            self.end_line();
            if self.whole.len() >= LINES_AT_ONCE || self.n_bytes >= BYTES_AT_ONCE {
                return true;
            }
        }
        false
    }

    /// Of a line that is too long so much is kept that this can be told.
    fn open_more(&mut self, bytes: &[u8]) {
        let room = (MOST_LINE_BYTES + 1).saturating_sub(self.open.len());
        self.open.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Blank lines are counted and mean nothing.
    fn end_line(&mut self) {
        self.n_lines += 1;
        let line = std::mem::take(&mut self.open);
        if !line.trim_ascii().is_empty() {
            self.n_bytes += line.len();
            self.whole.push((self.n_lines, line));
        }
    }

    fn take(&mut self) -> Vec<(u64, Vec<u8>)> {
        self.n_bytes = 0;
        std::mem::take(&mut self.whole)
    }
}

type Parsed = (u64, std::result::Result<ImportedLine, RefusedRow>);

fn parse_all(lines: Vec<(u64, Vec<u8>)>) -> Vec<Parsed> {
    // The problems of one line after the other take no room beside each other.
    let read = |(line, text): (u64, Vec<u8>)| (line, parse(&text).map_err(|problems| refusal(line, &problems)));
    lines.into_iter().map(read).collect()
}

fn parse(line: &[u8]) -> std::result::Result<ImportedLine, Problems> {
    if line.len() > MOST_LINE_BYTES {
        return Err(Problems::one("", format!("A line has at most {MOST_LINE_BYTES} bytes.")));
    }
    if std::str::from_utf8(line).is_err() {
        return Err(Problems::one("", "The line is not UTF-8."));
    }
    json::parse_with(line, UnknownKeys::Refused, ImportedLine::parse)
}

/// Addresses are checked as those of registrations are, whose channel is one level below.
fn below_channel(path: &str) -> &str {
    path.strip_prefix("channel.").unwrap_or(path)
}

/// All problems of a line, under the path of the first. Each may quote the line, so that they are told as far as there is room.
fn refusal(line: u64, problems: &Problems) -> RefusedRow {
    let first = problems.first();
    let (mut message, mut n_more) = (cut(&first.message), 0);
    for problem in problems.iter().skip(1) {
        if message.len() < MOST_ERROR_BYTES {
            message.push_str(&format!(" {}: {}", cut(&problem.path), cut(&problem.message)));
        } else {
            n_more += 1;
        }
    }
    if n_more > 0 {
        message.push_str(&format!(" And {n_more} more."));
    }
    RefusedRow { line, path: cut(&first.path), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a text that arrives in pieces, by their numbers.
    fn lines_of(text: &str, piece: usize) -> Vec<(u64, String)> {
        let (mut lines, mut found) = (Lines::default(), Vec::new());
        for piece in text.as_bytes().chunks(piece) {
            let mut rest = Bytes::copy_from_slice(piece);
            while lines.add(&mut rest) {
                found.extend(lines.take());
            }
        }
        lines.end_line();
        found.extend(lines.take());
        found.into_iter().map(|(line, text)| (line, String::from_utf8(text).unwrap())).collect()
    }

    #[test]
    fn lines_are_found_however_they_arrive() {
        let wanted = [(1, "a"), (3, " bc"), (4, "d\r"), (6, "e")].map(|(line, text)| (line, text.to_owned()));
        for piece in [1, 2, 3, 100] {
            assert_eq!(lines_of("a\n\n bc\nd\r\n \ne", piece), wanted, "in pieces of {piece}");
        }
        assert_eq!(lines_of("", 1), []);
    }

    #[test]
    fn a_line_without_an_end_does_not_fill_the_memory() {
        let long = "x".repeat(MOST_LINE_BYTES * 3);
        let found = lines_of(&format!("{long}\nb\n"), 64 * 1024);
        assert_eq!(
            found.iter().map(|(line, text)| (*line, text.len())).collect::<Vec<_>>(),
            [(1, MOST_LINE_BYTES + 1), (2, 1)]
        );
        assert!(parse(found[0].1.as_bytes()).is_err());
    }
}
