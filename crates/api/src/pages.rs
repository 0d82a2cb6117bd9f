//! Where the pages of the console are hung into the server: as one service below `/console`, with the log line, the request id and
//! the fair share of every other request.

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{any, get};
use tower::ServiceExt;

use crate::edge::Edge;
use crate::holder::Holder;
use crate::inside::Inside;
use crate::request_log::{Matched, observe, request_id};

/// Makes the pages, which show what calls answer.
pub type Pages = Box<dyn FnOnce(Inside) -> Router + Send>;

/// The id of a request, for the calls that answering it takes.
#[derive(Clone, Debug)]
pub struct RequestId(pub String);

/// The API with the pages beside it.
pub(crate) fn beside(api: Router, edge: Edge, pages: Pages) -> Router {
    let pages = pages(Inside::new(api.clone()));
    let page = async move |State(edge): State<Edge>, mut request: Request| {
        let id = request_id(request.headers());
        request.extensions_mut().insert(RequestId(id.clone()));
        let matched = Matched { route: "/console/{*page}", for_browsers: false, app: None };
        observe(&edge, &id, matched, request, async |request| {
            let _permit = edge.admit(Holder::Console)?;
            match pages.oneshot(request).await {
                Ok(response) => Ok(response),
                Err(never) => match never {},
            }
        })
        .await
    };
    let console = Router::new()
        .route("/", get(to_console))
        .route("/console", any(page.clone()))
        .route("/console/{*page}", any(page))
        .with_state(edge);
    api.merge(console)
}

async fn to_console() -> Response {
    Redirect::to("/console").into_response()
}
