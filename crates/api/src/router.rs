//! Puts the routes of the table together with everything that happens before and after a handler.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::handler::Handler;
use axum::response::{IntoResponse, Response};
use engine::Engine;
use http::Method;
use parking_lot::Mutex;

use crate::Settings;
use crate::answer::Answer;
use crate::audit::{self, Audited};
use crate::auth::{self, Access, Admission};
use crate::cors::DeviceRoutes;
use crate::edge::Edge;
use crate::error::{AppGone, Error, Result};
use crate::not_offered;
use crate::pages;
use crate::recent_requests::Noting;
use crate::request_log::{LoggedApp, Matched, observe, request_id};
use crate::routes::{self, Endpoint, Route};

/// The whole API as one service. It expects paths in their normal form, which [`crate::serve()`] gives them.
pub(crate) fn router(engine: Engine, mut settings: Settings) -> Router {
    let serves_api = settings.serves_api;
    let devices = DeviceRoutes::among(&routes::routes());
    let mut router = Router::new();
    let served = |route: &Route| serves_api || route.access.is_on_every_node();
    for Endpoint { route, handler } in routes::endpoints().into_iter().filter(|endpoint| served(&endpoint.route)) {
        router = router.route(route.path, handler);
    }
    if serves_api {
        router = not_offered::beside(router);
    }
    let other_method = async move |State(edge): State<Edge>, path: MatchedPath, request: Request| {
        let id = request_id(request.headers());
        let matched = Matched { route: path.as_str(), for_browsers: false, app: None, is_page: false };
        observe(&edge, &id, matched, request, async |request| other_method(&devices, path.as_str(), &request)).await
    };
    let no_path = async move |State(edge): State<Edge>, request: Request| {
        let id = request_id(request.headers());
        let refusal = if serves_api { Error::NoSuchPath } else { Error::OnlySends };
        observe(&edge, &id, Matched::NOTHING, request, async |_| Err(refusal)).await
    };
    let pages = settings.pages.take().filter(|_| serves_api);
    let edge = Edge::new(engine, settings);
    let api = router.method_not_allowed_fallback(other_method).fallback(no_path).with_state(edge.clone());
    match pages {
        Some(pages) => pages::beside(api, edge, pages),
        None => api,
    }
}

/// The future of every handler, as axum makes it.
pub(crate) type Answering = Pin<Box<dyn Future<Output = Response> + Send>>;

/// A handler with everything that happens before and after it. One handler around another, because layers around it would copy
/// and box the request several times. It does not know the type of the handler, of which there are hundreds: all that happens
/// around them would be compiled for each.
#[derive(Clone)]
pub(crate) struct Served {
    method: Method,
    path: &'static str,
    access: Access,
    audited: Audited,
    handler: Arc<dyn Fn(Request, Edge) -> Answering + Send + Sync>,
}

impl Served {
    pub(crate) fn new<H, T>(method: Method, path: &'static str, access: Access, audited: Audited, handler: H) -> Self
    where
        H: Handler<T, Edge, Future = Answering>,
        T: 'static,
    {
        let handler = Arc::new(move |request, edge| handler.clone().call(request, edge));
        Self { method, path, access, audited, handler }
    }
}

impl Handler<(), Edge> for Served {
    type Future = Answering;

    fn call(self, request: Request, edge: Edge) -> Answering {
        let Self { method, path, access, audited, handler } = self;
        // A HEAD is answered by the handler of GET, but web pages may not send it.
        let for_browsers = access.is_for_browsers() && *request.method() == method;
        Box::pin(async move {
            let app = OnceLock::new();
            let matched = Matched { route: path, for_browsers, app: Some(&app), is_page: false };
            let id = request_id(request.headers());
            observe(&edge, &id, matched, request, async |mut request| {
                let _held = match auth::admit(&edge, access, &mut request).await {
                    Ok(admission) => Held::of(admission, access, &mut request),
                    Err(refusal) => {
                        if let Some(key) = auth::presented_key(&edge, request.headers()) {
                            app.get_or_init(|| LoggedApp::Presented(key));
                        }
                        if matches!(refusal, Error::Unauthorized { is_guess: true, .. }) {
                            edge.wrong_credentials.slow_down(request.extensions().get().copied()).await?;
                        }
                        return Err(refusal);
                    }
                };
                if let Some(key) = auth::calling_key(request.extensions()).cloned() {
                    let noting = Noting::of(&mut request, path);
                    app.get_or_init(|| LoggedApp::Calling(key, noting));
                }
                let asked = audit::request(&edge, (audited, path), access, &mut request, &id).await;
                let answering = handler(request, edge.clone());
                let response = match asked {
                    Some(asked) => tenancy::on_behalf_of(asked, answering).await,
                    None => answering.await,
                };
                if response.extensions().get::<AppGone>().is_some() {
                    auth::refuse_late(access)?;
                }
                Ok(response)
            })
            .await
        })
    }
}

/// The permit of a request, until it is answered or given back.
struct Held {
    _own: Option<Admission>,
    _lent: Option<Lent>,
}

/// A permit that the handler can give back before it waits: long polls would keep the permits of all other requests.
#[derive(Clone)]
pub(crate) struct Lent(Arc<Mutex<Option<Admission>>>);

impl Held {
    fn of(admission: Admission, access: Access, request: &mut Request) -> Self {
        // Those that wait are among the requests of devices that change nothing.
        if access != Access::OwnChannel || *request.method() == Method::POST {
            return Self { _own: Some(admission), _lent: None };
        }
        let lent = Lent(Arc::new(Mutex::new(Some(admission))));
        request.extensions_mut().insert(lent.clone());
        Self { _own: None, _lent: Some(lent) }
    }
}

impl Lent {
    pub(crate) fn give_back(&self) {
        drop(self.0.lock().take());
    }
}

/// A method that the path does not have. The router adds the `Allow` header.
fn other_method(devices: &DeviceRoutes, path: &str, request: &Request) -> Result<Response> {
    if request.method() != Method::OPTIONS {
        return Err(Error::MethodNotAllowed);
    }
    Ok(devices.preflight(path, request.headers()).unwrap_or_else(Answer::nothing).into_response())
}
