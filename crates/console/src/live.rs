//! Tells a page that something has happened, a few times a second at most. The page then asks for itself again: there is one way
//! to draw a thing.

mod permits;
mod source;

use std::convert::Infallible;
use std::time::Duration;

use api::Stopping;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use model::account::Role;

use crate::Console;
use crate::answer::{bare, protected};
use crate::error::{Error, Result};
use crate::form::Fields;
use crate::routes::Needs;
use crate::visit::Visit;
use permits::LivePage;
use source::{Heard, Source};

pub(crate) use permits::LivePages;

/// The pause between two messages.
const PAUSE: Duration = Duration::from_millis(500);
/// A stream on which nothing happens shows that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Pages of the installation that follow what happens.
const OF_INSTALLATION: [&str; 2] = ["/console/-/nodes", "/console/-/doctor"];

struct Following {
    visit: Visit,
    needs: Needs,
    source: Source,
    stopping: Option<Stopping>,
    quiet_since: tokio::time::Instant,
    _permit: LivePage,
}

/// Where a page hears of what happens. The answer to a form cannot be asked for again.
pub(crate) fn stream_of(visit: &Visit) -> Option<String> {
    if visit.method != Method::GET {
        return None;
    }
    let is_owner = visit.visitor().is_ok_and(|visitor| visitor.account.is_owner);
    match &visit.app {
        Some(_) if visit.path == visit.to("/requests") => Some(visit.to("/live?of=requests")),
        Some(_) => Some(visit.to("/live")),
        None => (is_owner && OF_INSTALLATION.contains(&visit.path.as_str())).then(|| "/console/-/live".to_owned()),
    }
}

/// Of an app.
pub(crate) async fn follow(State(console): State<Console>, request: Request) -> Response {
    let query = Fields::parse(request.uri().query().unwrap_or_default());
    // Requests are about people.
    let needs = if query.text("of") == Some("requests") { Role::Support } else { Role::Viewer };
    answer(begin(&console, Needs::Role(needs), request).await)
}

/// Of the installation.
pub(crate) async fn follow_installation(State(console): State<Console>, request: Request) -> Response {
    answer(begin(&console, Needs::Owner, request).await)
}

fn answer(begun: Result<Response>) -> Response {
    match begun {
        Ok(response) => protected(response),
        Err(error) => bare(&error),
    }
}

async fn begin(console: &Console, needs: Needs, request: Request) -> Result<Response> {
    let stopping = request.extensions().get::<Stopping>().cloned();
    let app = request.uri().path().split('/').nth(2).unwrap_or_default().to_owned();
    let vars = [("app".to_owned(), app)].into();
    let visit = Visit::of(console, needs, vars, request).await.map_err(|refused| refused.error)?;
    let permit = console.live.begin(visit.visitor()?.account.id).ok_or_else(|| Error::Later {
        status: StatusCode::TOO_MANY_REQUESTS,
        sentence: "Too many pages are followed at once; close some of them.".to_owned(),
        seconds: KEEP_ALIVE.as_secs(),
    })?;
    let quiet_since = tokio::time::Instant::now();
    // Whatever comes after this is told; what came before, the page asks for when it hears of the stream.
    let source = match needs {
        Needs::Role(Role::Viewer) => Source::log(&visit).await?,
        Needs::Role(_) => Source::requests(&visit).await?,
        Needs::Owner | Needs::Account | Needs::Nobody => Source::Nodes,
    };
    let following = Following { visit, needs, source, stopping, quiet_since, _permit: permit };
    let hello = stream::iter([Ok::<_, Infallible>(Bytes::from_static(b"event: hello\ndata: {}\n\n"))]);
    let messages = stream::unfold(following, |mut following| async {
        let message = following.next().await?;
        Some((Ok(message), following))
    });
    let mut response = Response::new(Body::from_stream(stream::StreamExt::chain(hello, messages)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // nginx would hold messages back until there are enough of them.
    response.headers_mut().insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}

impl Following {
    /// The next message; `None` when the server stops, or the visitor is not allowed in any more.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let Self { visit, source, stopping, .. } = self;
            let stops = async {
                match stopping {
                    Some(stopping) => stopping.wait().await,
                    None => std::future::pending().await,
                }
            };
            let heard = tokio::select! {
                () = stops => return None,
                heard = source.next(visit) => heard?,
            };
            if !is_allowed(&self.visit, self.needs).await {
                return None;
            }
            if heard == Heard::Something {
                self.quiet_since = tokio::time::Instant::now();
                tokio::time::sleep(PAUSE).await;
                return Some(Bytes::from_static(b"event: changed\ndata: {}\n\n"));
            }
            if self.quiet_since.elapsed() >= KEEP_ALIVE {
                self.quiet_since = tokio::time::Instant::now();
                return Some(Bytes::from_static(b": still here\n\n"));
            }
        }
    }
}

/// The person may have been logged out or lost the role meanwhile.
async fn is_allowed(visit: &Visit, needs: Needs) -> bool {
    let Some(secret) = visit.connection.secret(&visit.headers) else { return false };
    let Ok(Some(visitor)) = visit.console.engine.accounts().watcher(secret).await else { return false };
    let app = visit.app.as_ref().map(|app| app.id);
    match needs {
        Needs::Role(role) => app.is_some_and(|app| visitor.may(app, role)),
        Needs::Owner | Needs::Account | Needs::Nobody => visitor.account.is_owner,
    }
}
