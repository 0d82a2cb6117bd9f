//! What a visitor gets: a page, a part of it, a redirection, or a page that says what is wrong.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION, RETRY_AFTER, SET_COOKIE};
use http::{HeaderValue, Method, StatusCode};
use maud::{DOCTYPE, Markup, html};
use ring::digest::{SHA256, digest};

use crate::error::{Error, Result};
use crate::form::query;
use crate::pages::{login, too_long};
use crate::protection::protect;
use crate::shell;
use crate::visit::Visit;

pub(crate) enum Answer {
    Page(Page),
    /// Elsewhere, as after a change.
    To {
        path: String,
        cookie: Option<HeaderValue>,
    },
    /// Something else than a page, such as a table for a spreadsheet.
    Raw(Response),
}

pub(crate) struct Page {
    pub(crate) title: String,
    pub(crate) body: Markup,
    pub(crate) frame: Frame,
    pub(crate) status: StatusCode,
    /// After how many seconds what was refused for now is worth another try.
    pub(crate) retry_after: Option<u64>,
    pub(crate) cookie: Option<HeaderValue>,
}

/// What is around a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Navigation and the name of the visitor.
    Shell,
    /// Nothing but the name of the product, where people get in.
    Door,
}

impl Answer {
    pub(crate) fn page(title: impl Into<String>, body: Markup) -> Result<Self> {
        Ok(Self::Page(Page::new(title, body, Frame::Shell)))
    }

    pub(crate) fn door(title: impl Into<String>, body: Markup) -> Result<Self> {
        Ok(Self::Page(Page::new(title, body, Frame::Door)))
    }

    pub(crate) fn to(path: impl Into<String>) -> Result<Self> {
        Ok(Self::To { path: path.into(), cookie: None })
    }

    /// As [`Answer::door`], for something that was refused.
    pub(crate) fn door_refused(title: impl Into<String>, body: Markup, error: &Error) -> Self {
        Self::Page(Page::new(title, body, Frame::Door).refused(error))
    }

    /// As [`Answer::door`], with a cookie.
    pub(crate) fn door_with(title: impl Into<String>, body: Markup, cookie: HeaderValue) -> Self {
        Self::Page(Page { cookie: Some(cookie), ..Page::new(title, body, Frame::Door) })
    }

    /// The page of a form that was refused. It tells browsers and tests that nothing was changed.
    pub(crate) fn refused(self, error: &Error) -> Self {
        match self {
            Self::Page(page) => Self::Page(page.refused(error)),
            other => other,
        }
    }
}

impl Page {
    fn new(title: impl Into<String>, body: Markup, frame: Frame) -> Self {
        Self { title: title.into(), body, frame, status: StatusCode::OK, retry_after: None, cookie: None }
    }

    fn refused(self, error: &Error) -> Self {
        Self { status: error.status(), retry_after: error.retry_after(), ..self }
    }
}

/// Makes the response, also of an error.
pub(crate) async fn finish(visit: &Arc<Visit>, answer: Result<Answer>) -> Response {
    let answer = match answer {
        Ok(answer) => answer,
        // After logging in, the visitor gets what was asked for.
        Err(Error::NotSignedIn) if visit.method == Method::GET && !visit.is_fragment => {
            let next = format!("{}{}", visit.path, visit.query.with(&[]));
            Answer::To { path: format!("/console/login{}", query([("next", next.as_str())])), cookie: None }
        }
        Err(Error::NotSignedIn) if login::is_worth_keeping(&visit.form) => login::again(visit),
        Err(error) if is_too_long(visit, &error) => {
            too_long::again(visit, &error).unwrap_or_else(|error| of_error(visit, &error))
        }
        Err(error) => of_error(visit, &error),
    };
    let response = match answer {
        Answer::Page(page) => render(visit, page).await,
        Answer::To { path, cookie } => redirect(&path, cookie),
        Answer::Raw(response) => Ok(response),
    };
    protected(response.unwrap_or_else(|error| bare(&error)))
}

/// Whether what was typed came through and can be shown again.
fn is_too_long(visit: &Visit, error: &Error) -> bool {
    error.status() == StatusCode::PAYLOAD_TOO_LARGE && visit.is_signed_in() && login::is_worth_keeping(&visit.form)
}

fn of_error(visit: &Visit, error: &Error) -> Answer {
    let title = match error.status() {
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::FORBIDDEN => "Not allowed",
        StatusCode::UNAUTHORIZED => "Not logged in",
        status if status.is_server_error() => "Something went wrong",
        _ => "That did not work",
    };
    let body = html! {
        div.notice.bad role="alert" {
            @for sentence in error.sentences() { p { (sentence) } }
        }
        p.quiet { "Request " code { (visit.request_id) } }
        @if visit.is_signed_in() { p { a href="/console" { "Back to the start" } } }
    };
    let frame = if visit.is_signed_in() { Frame::Shell } else { Frame::Door };
    Answer::Page(Page::new(title, body, frame).refused(error))
}

async fn render(visit: &Visit, page: Page) -> Result<Response> {
    let (status, retry_after, cookie) = (page.status, page.retry_after, page.cookie.clone());
    let markup = match (visit.is_fragment, page.frame) {
        (true, _) => shell::content(&page),
        (false, Frame::Shell) => shell::around(visit, &page).await?,
        (false, Frame::Door) => shell::door(&page),
    };
    let text = markup.into_string();
    let tag = tag_of(&text);
    if visit.is_fragment && visit.headers.get(IF_NONE_MATCH) == Some(&tag) {
        return response(StatusCode::NOT_MODIFIED, Body::empty());
    }
    let mut response = response(status, Body::from(text))?;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if visit.is_fragment {
        response.headers_mut().insert(ETAG, tag);
    }
    response.headers_mut().extend(retry_after.map(|seconds| (RETRY_AFTER, HeaderValue::from(seconds))));
    response.headers_mut().extend(cookie.map(|cookie| (SET_COOKIE, cookie)));
    Ok(response)
}

fn tag_of(text: &str) -> HeaderValue {
    let hash = digest(&SHA256, text.as_bytes());
    let hex: String = hash.as_ref()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    HeaderValue::from_str(&format!("\"{hex}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

fn redirect(path: &str, cookie: Option<HeaderValue>) -> Result<Response> {
    let mut response = response(StatusCode::SEE_OTHER, Body::empty())?;
    response.headers_mut().insert(LOCATION, HeaderValue::from_str(path).map_err(Error::internal)?);
    if let Some(cookie) = cookie {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}

fn response(status: StatusCode, body: Body) -> Result<Response> {
    Response::builder().status(status).body(body).map_err(Error::internal)
}

/// An error where there is no page to show it in.
pub(crate) fn bare(error: &Error) -> Response {
    let text = html! { (DOCTYPE) title { "Aerogram" } @for sentence in error.sentences() { p { (sentence) } } };
    let mut response = Response::new(Body::from(text.into_string()));
    *response.status_mut() = error.status();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response.headers_mut().extend(error.retry_after().map(|seconds| (RETRY_AFTER, HeaderValue::from(seconds))));
    protected(response)
}

pub(crate) fn protected(mut response: Response) -> Response {
    protect(response.headers_mut());
    response
}
