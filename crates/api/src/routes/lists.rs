//! Uploaded lists and their rows, and the read-only lifecycle lists.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use model::csv_cell::CsvFile;
use model::ids::OperationId;
use model::limits;
use model::problem::{Problem, ProblemKind, Problems};
use model::static_list::{CsvRows, ListName, ListRow, ListUpdate, NewList, RowError};
use schemars::JsonSchema;
use serde::Serialize;
use targeting::{ListContent, ListUpload, ListView};

use crate::answer::{Answer, Done};
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::links::Links;
use crate::path_vars::PathVars;
use crate::query::Params;
use crate::upload::Upload;

const CSV: HeaderValue = HeaderValue::from_static("text/csv; charset=utf-8");
/// Rows are parsed from so many bytes at a time, which bounds how many wait to be stored.
pub(super) const PIECE: usize = 64 * 1024;
/// A longer list of problems would be of no more help.
const MOST_PROBLEMS: usize = 100;

#[derive(Clone, Copy)]
enum Type {
    All,
    Lifecycle,
    User,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct All {
    lists: Vec<ListRecord>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ListRecord {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<BTreeMap<String, String>>,
    created: String,
    last_updated: String,
    /// How many installed channels are on the list now.
    channel_count: u64,
    /// `ready`, `processing` or `failure`.
    status: &'static str,
    /// Rows of the last upload that were left out, and where to read about them.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_path: Option<String>,
}

/// Strict clients know no other key for something like this.
#[derive(Serialize, JsonSchema)]
pub(super) struct Uploaded {
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

pub(super) async fn create(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let list = input.parse(NewList::parse).await?;
    let location = links.to(&format!("/api/lists/{}", list.name));
    let operation_id = edge.engine.targeting().create_list(app.id, list, input.idempotency_key).await?;
    Ok(Answer::changed(operation_id, Done {})?.status(StatusCode::CREATED).location(&location))
}

pub(super) async fn update(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(name): PathVars<String>,
    input: Input,
) -> Result<Answer> {
    let name = list_name(&name)?;
    let update = input.parse(ListUpdate::parse).await?;
    if update.renames(&name) {
        return Err(Error::ListRenamed);
    }
    edge.engine.targeting().update_list(app.id, name, update).await?;
    Answer::done()
}

pub(super) async fn delete(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(name): PathVars<String>,
) -> Result<Answer> {
    edge.engine.targeting().delete_list(app.id, list_name(&name)?).await?;
    Ok(Answer::nothing())
}

pub(super) async fn look_up(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(name): PathVars<String>,
) -> Result<Answer> {
    let list = edge.engine.targeting().list(app.id, list_name(&name)?).await?;
    Ok(Answer::ok(ListRecord::from(list))?.data_attribute("static_list"))
}

pub(super) async fn list(State(edge): State<Edge>, CallingApp(app): CallingApp, mut params: Params) -> Result<Answer> {
    let choices = [("all", Type::All), ("lifecycle", Type::Lifecycle), ("user", Type::User)];
    let wanted = params.choice("type", &choices).unwrap_or(Type::User);
    params.finish()?;
    let mut views = Vec::new();
    if let Type::All | Type::User = wanted {
        views.extend(edge.engine.targeting().lists(app.id).await?);
    }
    if let Type::All | Type::Lifecycle = wanted {
        views.extend(edge.engine.targeting().lifecycle_lists(app.id).await?);
    }
    let lists = views.into_iter().map(ListRecord::from).collect();
    Ok(Answer::ok(All { lists })?.data_attribute("lists"))
}

pub(super) async fn upload(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(name): PathVars<String>,
    mut body: Upload,
) -> Result<Answer> {
    let _permit = edge.admit_transfer(app.id)?;
    let begun = match list_name(&name) {
        Ok(name) => edge.engine.targeting().begin_list_upload(app.id, name).await.map_err(Error::from),
        Err(error) => Err(error),
    };
    let mut upload = match begun {
        Ok(upload) => upload,
        Err(error) => {
            body.discard().await;
            return Err(error);
        }
    };
    if let Err(error) = receive(&mut upload, &mut body).await {
        body.discard().await;
        // The caller can do something about the refusal only. An upload that is not given up now is when it has taken too long.
        if let Err(error) = upload.give_up().await {
            tracing::debug!(error = &error as &dyn std::error::Error, "an upload could not be given up");
        }
        return Err(error);
    }
    let n_left_out = upload.finish().await?;
    let warning = (n_left_out > 0)
        .then(|| format!("Rows that could not be used were left out: {n_left_out}. See /api/lists/{name}/errors."));
    Ok(Answer::changed(OperationId::random(), Uploaded { warning })?.status(StatusCode::ACCEPTED))
}

pub(super) async fn download(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(name): PathVars<String>,
) -> Result<Response> {
    let permit = edge.admit_transfer(app.id)?;
    let content = edge.engine.targeting().list_content(app.id, list_name(&name)?).await?;
    let pages = stream::unfold(Some((content, permit)), |open| async {
        let (mut content, permit) = open?;
        let page = page(&mut content).await.transpose()?;
        let open = page.is_ok().then_some((content, permit));
        Some((page, open))
    });
    Ok(csv(Body::from_stream(pages)))
}

/// Rows that the last upload left out.
pub(super) async fn errors(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(name): PathVars<String>,
) -> Result<Response> {
    let rows = edge.engine.targeting().list_errors(app.id, list_name(&name)?).await?;
    let lines = rows.iter().map(|row| format!("{},{}\r\n", row.line, CsvFile::ForPeople.quoted(&row.problem)));
    Ok(csv(Body::from(format!("line,error\r\n{}", lines.collect::<String>()))))
}

/// The next rows as text. An error breaks the answer off, so that half a list cannot be taken for a whole one.
async fn page(content: &mut ListContent) -> Result<Option<String>, std::io::Error> {
    match content.next().await {
        Ok(rows) if rows.is_empty() => Ok(None),
        Ok(rows) => Ok(Some(rows.iter().map(|member| member.to_csv()).collect())),
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "a download of a list broke off");
            Err(std::io::Error::other(error))
        }
    }
}

async fn receive(upload: &mut ListUpload, body: &mut Upload) -> Result<()> {
    let mut csv = CsvRows::new(limits::ROWS_PER_LIST);
    let mut refusals = Refusals::default();
    while let Some(chunk) = body.chunk().await? {
        for piece in chunk.chunks(PIECE) {
            for row in csv.feed(piece) {
                take(upload, &mut refusals, row).await?;
            }
        }
        if refusals.is_enough {
            break;
        }
    }
    if let Some(row) = csv.finish() {
        take(upload, &mut refusals, row).await?;
    }
    refusals.into_result()
}

async fn take(upload: &mut ListUpload, refusals: &mut Refusals, row: ListRow) -> Result<()> {
    match row.member {
        Ok(_) if refusals.first.is_some() => {}
        Ok(member) => upload.add(member).await?,
        Err(error) => match error {
            RowError::TooManyRows(_)
            | RowError::Columns(_)
            | RowError::OpenQuote
            | RowError::IdentifierType(_)
            | RowError::ChannelId => refusals.note(row.line, error),
            RowError::EmptyIdentifier
            | RowError::NamedUser(_)
            | RowError::Alias
            | RowError::CellTooLong
            | RowError::NotText => upload.leave_out(row.line, error.to_string()),
        },
    }
    Ok(())
}

/// Rows for which the whole upload is refused. The first of them decides the code.
#[derive(Default)]
struct Refusals {
    first: Option<RowError>,
    problems: Vec<Problem>,
    /// Reading on would bring nothing new.
    is_enough: bool,
}

impl Refusals {
    fn note(&mut self, line: u64, error: RowError) {
        if self.problems.len() < MOST_PROBLEMS {
            let (path, message) = (format!("line {line}"), error.to_string());
            self.problems.push(Problem { path, message, kind: ProblemKind::Invalid });
        }
        self.is_enough = self.problems.len() == MOST_PROBLEMS || matches!(error, RowError::TooManyRows(_));
        self.first.get_or_insert(error);
    }

    fn into_result(self) -> Result<()> {
        match self.first.zip(Problems::from_vec(self.problems)) {
            Some((first, problems)) => Err(Error::UnusableRows { first, problems }),
            None => Ok(()),
        }
    }
}

pub(super) fn csv(body: Body) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, CSV);
    response
}

/// A name that no list can have is the name of no list.
pub(super) fn list_name(name: &str) -> Result<ListName> {
    ListName::new(name).map_err(|_| Error::NotFound("There is no such list.".to_owned()))
}

impl From<ListView> for ListRecord {
    fn from(view: ListView) -> Self {
        let has_errors = view.n_bad_rows > 0;
        Self {
            error_count: has_errors.then_some(view.n_bad_rows),
            error_path: has_errors.then(|| format!("/api/lists/{}/errors", view.name)),
            name: view.name,
            description: view.details.description,
            extra: view.details.extra,
            created: view.created.to_api(),
            last_updated: view.updated.to_api(),
            channel_count: view.channel_count,
            status: view.status.name(),
        }
    }
}
