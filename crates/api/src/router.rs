//! Puts the routes of the table together with everything that happens before and after a handler.

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use engine::Engine;
use http::Method;

use crate::Settings;
use crate::answer::Answer;
use crate::auth;
use crate::cors::DeviceRoutes;
use crate::edge::Edge;
use crate::error::Error;
use crate::request_log;
use crate::routes::{self, Endpoint, Route};

/// The whole API as one service. It expects paths in their normal form, which [`crate::serve`] gives them.
pub fn router(engine: Engine, settings: Settings) -> Router {
    let serves_api = settings.serves_api;
    let edge = Edge::new(engine, settings);
    let devices = DeviceRoutes::among(&routes::routes());
    let mut router = Router::new();
    let served = |route: &Route| serves_api || route.access.is_on_every_node();
    for Endpoint { route, handler } in routes::endpoints().into_iter().filter(|endpoint| served(&endpoint.route)) {
        let guard = from_fn_with_state((edge.clone(), route.access), auth::guard);
        router = router.route(route.path, handler.route_layer(guard));
    }
    let other_method = {
        let devices = devices.clone();
        move |matched: MatchedPath, request: Request| {
            std::future::ready(other_method(&devices, matched.as_str(), &request))
        }
    };
    router
        .method_not_allowed_fallback(other_method)
        .fallback(move || async move { if serves_api { Error::NoSuchPath } else { Error::OnlySends } })
        .layer(from_fn_with_state((edge.clone(), devices), request_log::observe))
        .with_state(edge)
}

/// A method that the path does not have. The router adds the `Allow` header.
fn other_method(devices: &DeviceRoutes, path: &str, request: &Request) -> Response {
    if request.method() != Method::OPTIONS {
        return Error::MethodNotAllowed.into_response();
    }
    devices.preflight(path, request.headers()).unwrap_or_else(Answer::nothing).into_response()
}
