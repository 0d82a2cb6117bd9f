//! Tells a page that something has happened in its app, a few times a second at most. The page then asks for itself again:
//! there is one way to draw a thing.

use std::convert::Infallible;
use std::time::Duration;

use api::Stopping;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue};
use model::account::Role;
use tokio::sync::OwnedSemaphorePermit;

use crate::Console;
use crate::answer::{bare, protected};
use crate::error::{Error, Result};
use crate::routes::Needs;
use crate::visit::Visit;

/// The pause between two messages.
const PAUSE: Duration = Duration::from_millis(500);
/// A stream on which nothing happens shows that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

struct Following {
    visit: Visit,
    news: tenancy::News,
    head: i64,
    stopping: Option<Stopping>,
    quiet_since: tokio::time::Instant,
    _permit: OwnedSemaphorePermit,
}

pub(crate) async fn follow(State(console): State<Console>, request: Request) -> Response {
    match begin(&console, request).await {
        Ok(response) => protected(response),
        Err(error) => bare(&error),
    }
}

async fn begin(console: &Console, request: Request) -> Result<Response> {
    let stopping = request.extensions().get::<Stopping>().cloned();
    let app = request.uri().path().split('/').nth(2).unwrap_or_default().to_owned();
    let vars = [("app".to_owned(), app)].into();
    let visit = Visit::of(console, Needs::Role(Role::Viewer), vars, request).await.map_err(|refused| refused.error)?;
    let busy = |_| Error::Refused {
        status: http::StatusCode::TOO_MANY_REQUESTS,
        sentence: "Too many pages are followed at once.".to_owned(),
    };
    let permit = console.live.clone().try_acquire_owned().map_err(busy)?;
    let news = console.engine.tenancy().news(visit.app()?.id);
    let quiet_since = tokio::time::Instant::now();
    // Whatever comes after this is told; what came before, the page asks for when it hears of the stream.
    let head = console.engine.tenancy().log_head(visit.app()?.id).await?.0;
    let following = Following { visit, news, head, stopping, quiet_since, _permit: permit };
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
            let Self { visit, news, stopping, .. } = self;
            let tenancy = visit.console.engine.tenancy();
            let stops = async {
                match stopping {
                    Some(stopping) => stopping.wait().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = stops => return None,
                () = tenancy.something_new(news) => {}
            }
            if !self.is_allowed().await {
                return None;
            }
            let app = self.visit.app.as_ref()?.id;
            let head = self.visit.console.engine.tenancy().log_head(app).await.ok()?.0;
            if head != self.head {
                self.head = head;
                self.quiet_since = tokio::time::Instant::now();
                tokio::time::sleep(PAUSE).await;
                return Some(Bytes::from(format!("event: changed\nid: {head}\ndata: {{}}\n\n")));
            }
            if self.quiet_since.elapsed() >= KEEP_ALIVE {
                self.quiet_since = tokio::time::Instant::now();
                return Some(Bytes::from_static(b": still here\n\n"));
            }
        }
    }

    /// The person may have been logged out or lost the role meanwhile.
    async fn is_allowed(&self) -> bool {
        let Some(secret) = self.visit.connection.secret(&self.visit.headers) else { return false };
        let visitor = self.visit.console.engine.accounts().watcher(secret).await.ok().flatten();
        let app = self.visit.app.as_ref().map(|app| app.id);
        visitor.zip(app).is_some_and(|(visitor, app)| visitor.may(app, Role::Viewer))
    }
}
