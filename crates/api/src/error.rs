//! Every error that a caller can get, in one table: status, public code and sentence. No other file makes errors.

mod texts;

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use engine::Trouble;
use http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use model::change_list::FileFault;
use model::ids::OperationId;
use model::legacy_tag::RowRefusal;
use model::problem::{ProblemKind, Problems};
use model::static_list::RowError;
use schemars::JsonSchema;
use serde::Serialize;
use tenancy::GrantRefusal;

use crate::answer::json_response;
use texts::{all_of, loggable};
pub(crate) use texts::{beginning, cut};

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug)]
pub(crate) enum Error {
    Invalid(Problems),
    /// Lists keep their names.
    ListRenamed,
    /// Rows of an uploaded list for which all of it is refused; the first decides the code.
    UnusableRows {
        first: RowError,
        problems: Problems,
    },
    /// The file of a tag list or an attribute list cannot be read.
    UnusableFile(FileFault),
    /// Rows of a batch of tags, for which that endpoint has a form of its own.
    BatchRows(Vec<RowRefusal>),
    /// The caller is not who they would have to be.
    Unauthorized {
        why: &'static str,
        challenge: &'static str,
        /// Whether the credentials were wrong, and not just missing, too old or of another kind.
        is_guess: bool,
    },
    /// An OAuth client gets no access token. The form of the error is the one that such clients know.
    Grant {
        refusal: GrantRefusal,
        status: StatusCode,
    },
    Forbidden(String),
    /// There is nothing under this path.
    NoSuchPath,
    /// A documented path of Airship that the service does not have, and what to use instead.
    NotOffered(&'static str),
    /// There is no such thing, though there could be.
    NotFound(String),
    /// The app was deleted while the request was in work. For callers of the app the guard answers as it would to a new request.
    AppGone,
    /// The router adds the methods there are.
    MethodNotAllowed,
    /// GET does something here, which HEAD must not.
    HeadNotAllowed,
    /// An experiment of which something has been sent can no longer be deleted.
    ExperimentStarted,
    NotAcceptable,
    BodyTooSlow,
    Conflict(String),
    BodyTooLarge {
        limit_bytes: u64,
    },
    /// The whole server is overloaded.
    Busy,
    /// This caller has too much under way.
    TooMany {
        text: &'static str,
        retry_after: Duration,
    },
    Internal(Box<dyn StdError + Send + Sync>),
    Unavailable(Box<dyn StdError + Send + Sync>),
    /// This process is about to end; another one may be there already.
    Stopping,
    /// The database fails, which the store has logged.
    NotReady(Trouble),
    /// The node does not serve what was asked for.
    OnlySends,
}

/// The table. An official code is the status followed by two digits.
fn row(error: &Error) -> (StatusCode, u32, String) {
    match error {
        Error::Invalid(problems) => match problems.first().kind {
            ProblemKind::Invalid => (StatusCode::BAD_REQUEST, 40000, all_of(problems)),
            ProblemKind::Missing => (StatusCode::BAD_REQUEST, 40202, all_of(problems)),
        },
        Error::ListRenamed => {
            let text = "A list cannot be renamed; leave 'name' out, or create another list.";
            (StatusCode::BAD_REQUEST, 40001, text.to_owned())
        }
        Error::UnusableRows { first, problems } => (StatusCode::BAD_REQUEST, row_code(first), all_of(problems)),
        Error::UnusableFile(fault) => (StatusCode::BAD_REQUEST, file_code(fault), fault.to_string()),
        Error::BatchRows(rows) => {
            let text = match rows.len() {
                1 => "A row cannot be used, and none was applied.".to_owned(),
                n_rows => format!("{n_rows} rows cannot be used, and none was applied."),
            };
            (StatusCode::BAD_REQUEST, 40000, text)
        }
        Error::Unauthorized { why, .. } => (StatusCode::UNAUTHORIZED, 40100, (*why).to_owned()),
        Error::Grant { refusal, status } => {
            (*status, u32::from(status.as_u16()) * 100, refusal.error.word().to_owned())
        }
        Error::Forbidden(why) => (StatusCode::FORBIDDEN, 40300, why.clone()),
        Error::NoSuchPath => {
            let text = "There is nothing under this path; see the API reference for the paths there are.";
            (StatusCode::NOT_FOUND, 40400, text.to_owned())
        }
        Error::NotOffered(why) => (StatusCode::NOT_FOUND, 40402, (*why).to_owned()),
        Error::NotFound(what) => (StatusCode::NOT_FOUND, 40401, what.clone()),
        Error::AppGone => (StatusCode::NOT_FOUND, 40401, "There is no such app.".to_owned()),
        Error::MethodNotAllowed => {
            let text = "This path does not have this method; the Allow header names those it has.";
            (StatusCode::METHOD_NOT_ALLOWED, 40500, text.to_owned())
        }
        Error::HeadNotAllowed => {
            let text = "HEAD is not available here, because GET changes something; the Allow header names the methods.";
            (StatusCode::METHOD_NOT_ALLOWED, 40500, text.to_owned())
        }
        Error::ExperimentStarted => {
            let text = "The experiment has started and can no longer be deleted; what it sends are pushes, which can be \
                        canceled.";
            (StatusCode::METHOD_NOT_ALLOWED, 40501, text.to_owned())
        }
        Error::NotAcceptable => {
            let text = "Only version 3 of the API is available; ask for it with 'version=3' in the Accept header.";
            (StatusCode::NOT_ACCEPTABLE, 40600, text.to_owned())
        }
        Error::BodyTooSlow => {
            (StatusCode::REQUEST_TIMEOUT, 40800, "The request body did not arrive in time.".to_owned())
        }
        Error::Conflict(why) => (StatusCode::CONFLICT, 40900, why.clone()),
        Error::BodyTooLarge { limit_bytes } => {
            let text = format!("The request body is larger than {limit_bytes} bytes; split it into several requests.");
            (StatusCode::PAYLOAD_TOO_LARGE, 41300, text)
        }
        Error::Busy => {
            let text = "Too many requests are in work; try again in a moment.";
            (StatusCode::TOO_MANY_REQUESTS, 42900, text.to_owned())
        }
        Error::TooMany { text, .. } => (StatusCode::TOO_MANY_REQUESTS, 42901, (*text).to_owned()),
        Error::Internal(_) => {
            let text = "Something went wrong inside the service; its log has the cause under this operation_id.";
            (StatusCode::INTERNAL_SERVER_ERROR, 50000, text.to_owned())
        }
        Error::Unavailable(_) => {
            let text = "The service cannot use its database at the moment; try again soon.";
            (StatusCode::SERVICE_UNAVAILABLE, 50300, text.to_owned())
        }
        Error::Stopping => (StatusCode::SERVICE_UNAVAILABLE, 50301, "The server is stopping.".to_owned()),
        Error::NotReady(trouble) => (StatusCode::SERVICE_UNAVAILABLE, 50302, trouble_text(trouble).to_owned()),
        Error::OnlySends => {
            let text = "This node only sends (roles = worker); ask one that has the role api.";
            (StatusCode::SERVICE_UNAVAILABLE, 50303, text.to_owned())
        }
    }
}

/// What is wrong with the database.
pub(crate) const fn trouble_text(trouble: &Trouble) -> &'static str {
    match trouble {
        Trouble::Misplaced => {
            "The database file was deleted, moved, replaced or cut off while the service runs, so nothing more is stored; the \
             log says what to do."
        }
        Trouble::Damaged => {
            "Pages of the database file are damaged; restore a backup. The log and `aerogram doctor` say which."
        }
        Trouble::Reading => "The database cannot be read; the log says why.",
        Trouble::Writing => "The database takes no changes, maybe because its disk is full; the log says why.",
    }
}

/// The code of a missing message inside an answer about a batch of them.
pub(crate) const MESSAGE_NOT_FOUND: u32 = 40404;

const fn row_code(error: &RowError) -> u32 {
    match error {
        RowError::TooManyRows(_) => 40002,
        RowError::Columns(_) => 40003,
        RowError::IdentifierType(_) => 40004,
        RowError::ChannelId => 40005,
        RowError::OpenQuote
        | RowError::EmptyIdentifier
        | RowError::NamedUser(_)
        | RowError::Alias
        | RowError::CellTooLong
        | RowError::NotText => 40000,
    }
}

const fn file_code(fault: &FileFault) -> u32 {
    match fault {
        FileFault::TooManyRows(_) => 40002,
        FileFault::TooManyColumns => 40003,
        FileFault::Empty | FileFault::NoTarget(_) | FileFault::OtherTarget(_) | FileFault::NoRecipient => 40013,
        FileFault::Duplicate(_) => 40017,
        FileFault::Attribute(..) | FileFault::RowTooLong | FileFault::Column(..) | FileFault::Row { .. } => 40000,
    }
}

/// The error body. Strict client libraries know these keys and no others, and of `details` only these two.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ErrorBody {
    ok: bool,
    operation_id: OperationId,
    error: String,
    error_code: u32,
    /// Only for OAuth clients, whose `error` is a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_description: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<(serde_json::Value, String)>>")]
    errors: Option<Vec<RowRefusal>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ErrorDetails")]
pub(crate) struct Details {
    error: String,
    path: String,
}

/// How many problems the body has.
const PROBLEMS: HeaderName = HeaderName::from_static("aerogram-problems");
const RETRY_SECONDS: HeaderValue = HeaderValue::from_static("1");

impl Error {
    pub(crate) fn internal(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Error::Internal(cause.into())
    }

    pub(crate) fn invalid(path: &str, message: impl Into<String>) -> Self {
        Error::Invalid(Problems::one(path, message))
    }

    fn details(&self) -> Option<Details> {
        let (Error::Invalid(problems) | Error::UnusableRows { problems, .. }) = self else { return None };
        let first = problems.first();
        Some(Details { error: cut(&first.message), path: cut(&first.path) })
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        match self {
            Error::Invalid(problems) | Error::UnusableRows { problems, .. } => {
                headers.insert(PROBLEMS, problems.iter().count().into());
            }
            Error::Unauthorized { challenge, .. } => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
            }
            Error::Grant { status: StatusCode::UNAUTHORIZED, .. } => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"aerogram\""));
            }
            Error::Busy | Error::Unavailable(_) | Error::Stopping | Error::NotReady(_) => {
                headers.insert(RETRY_AFTER, RETRY_SECONDS);
            }
            Error::TooMany { retry_after, .. } => {
                // Rounded up: a caller who comes a moment too early would have to wait again.
                headers.insert(RETRY_AFTER, (retry_after.as_secs() + u64::from(retry_after.subsec_nanos() > 0)).into());
            }
            // Nothing else can be done to it under this path either.
            Error::ExperimentStarted => {
                headers.insert(ALLOW, HeaderValue::from_static(""));
            }
            Error::HeadNotAllowed => {
                headers.insert(ALLOW, HeaderValue::from_static("GET,POST"));
            }
            Error::ListRenamed
            | Error::MethodNotAllowed
            | Error::BatchRows(_)
            | Error::Grant { .. }
            | Error::Forbidden(_)
            | Error::NoSuchPath
            | Error::OnlySends
            | Error::NotFound(_)
            | Error::AppGone
            | Error::NotAcceptable
            | Error::BodyTooSlow
            | Error::Conflict(_)
            | Error::BodyTooLarge { .. }
            | Error::UnusableFile(_)
            | Error::NotOffered(_)
            | Error::Internal(_) => {}
        }
        headers
    }
}

/// What the log needs to know of an error that was answered, on its way there in the extensions of the answer.
#[derive(Clone)]
pub(crate) struct Refused {
    pub(crate) operation_id: OperationId,
    pub(crate) error_code: u32,
    /// Of the first problem: names of keys, see [`loggable`], and never a value.
    pub(crate) path: Option<String>,
    /// As the caller was told.
    pub(crate) told: Told,
    cause: Option<Cause>,
}

/// The texts of an error. They may quote the request, so that they do not belong in a log.
#[derive(Clone)]
pub(crate) struct Told {
    pub(crate) error: String,
    /// The path of the first problem.
    pub(crate) path: Option<String>,
}

#[derive(Clone)]
struct Cause {
    error: Arc<dyn StdError + Send + Sync>,
    /// The store says once that the database is away, and once that it is back; a busy service would say so a thousand times a
    /// second.
    is_told: bool,
}

impl Refused {
    /// Logs the cause of an internal error. Only here: nothing below the edge logs an error that it returns.
    pub(crate) fn log_cause(&self, id: &str, method: &str, route: &str, app: Option<&str>) {
        let Some(Cause { error, is_told }) = &self.cause else { return };
        let error: &(dyn StdError + 'static) = &**error;
        let operation_id = &self.operation_id;
        match is_told {
            true => tracing::debug!(id, method, route, app, %operation_id, error, "a request failed"),
            false => tracing::error!(id, method, route, app, %operation_id, error, "a request failed"),
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let operation_id = OperationId::random();
        let (status, error_code, error) = row(&self);
        let (details, headers) = (self.details(), self.headers());
        let error_description = if let Error::Grant { refusal, .. } = &self { Some(refusal.why) } else { None };
        let is_app_gone = matches!(self, Error::AppGone);
        let is_told = matches!(self, Error::Unavailable(_));
        let (mut errors, mut cause) = (None, None);
        if let Error::BatchRows(rows) = self {
            errors = Some(rows);
        } else if let Error::Internal(why) | Error::Unavailable(why) = self {
            cause = Some(Cause { error: why.into(), is_told });
        }
        let path = details.as_ref().map(|details| loggable(&details.path));
        let told = Told { error: error.clone(), path: details.as_ref().map(|details| details.path.clone()) };
        let body = ErrorBody { ok: false, operation_id, error, error_code, error_description, details, errors };
        let text = serde_json::to_vec(&body).expect("an error body is JSON by construction");
        let mut response = json_response(status, headers, text);
        if is_app_gone {
            response.extensions_mut().insert(AppGone);
        }
        response.extensions_mut().insert(Refused { operation_id, error_code, path, told, cause });
        response
    }
}

/// Marks the answer to a request whose app was deleted meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct AppGone;

impl From<engine::Error> for Error {
    fn from(error: engine::Error) -> Self {
        match error {
            engine::Error::Invalid(problems) => Error::Invalid(problems),
            engine::Error::NotFound(what) => Error::NotFound(format!("There is no such {what}.")),
            engine::Error::AppGone => Error::AppGone,
            engine::Error::Conflict(why) => Error::Conflict(why),
            engine::Error::Forbidden(why) => Error::Forbidden(why),
            engine::Error::TooMany { text, retry_after } => Error::TooMany { text, retry_after },
            engine::Error::Unavailable(_) => Error::Unavailable(Box::new(error)),
            // Requests hold no jobs.
            engine::Error::LeaseLost | engine::Error::Internal(_) => Error::Internal(Box::new(error)),
        }
    }
}

impl From<Problems> for Error {
    fn from(problems: Problems) -> Self {
        Error::Invalid(problems)
    }
}
