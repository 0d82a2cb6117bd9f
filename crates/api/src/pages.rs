//! Where the pages of the console are hung into the server: as one service below `/console`, with the log line, the request id and
//! the fair share of every other request.

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{any, get};
use http::HeaderValue;
use http::header::{CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use tower::ServiceExt;

use crate::edge::Edge;
use crate::error::{Error, Refused};
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
        observe(&edge, &id, Matched { route: "/console/{*page}", ..OF_PERSON }, request, async |request| {
            let _permit = edge.admit(Holder::Console)?;
            match pages.oneshot(request).await {
                Ok(response) => Ok(response),
                Err(never) => match never {},
            }
        })
        .await
    };
    let console = Router::new()
        .route("/", get(to_console).fallback(other_method))
        .route("/console", any(page.clone()))
        .route("/console/{*page}", any(page))
        .with_state(edge);
    api.merge(console)
}

/// A request of somebody with a browser.
const OF_PERSON: Matched<'static> = Matched { route: "/", for_browsers: false, app: None, is_page: true };

async fn to_console(State(edge): State<Edge>, request: Request) -> Response {
    let id = request_id(request.headers());
    observe(&edge, &id, OF_PERSON, request, async |_| Ok(Redirect::to("/console").into_response())).await
}

/// The router adds the methods that there are.
async fn other_method(State(edge): State<Edge>, request: Request) -> Response {
    let id = request_id(request.headers());
    observe(&edge, &id, OF_PERSON, request, async |_| Err(Error::MethodNotAllowed)).await
}

/// Writes what is wrong with a request as a page. Only what the server refuses by itself comes here; pages tell their own.
pub(crate) fn tell_in_page(response: &mut Response) {
    let Some(refused) = response.extensions().get::<Refused>() else { return };
    let text = refused.told.error.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let page = format!(
        "<!DOCTYPE html><html lang=\"en\"><title>Aerogram</title><h1>That did not work</h1><p>{text}</p></html>"
    );
    *response.body_mut() = Body::from(page);
    let headers = response.headers_mut();
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
}
