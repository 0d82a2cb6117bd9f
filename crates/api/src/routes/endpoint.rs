//! How an entry of the table of routes is made, one function for each method.

use axum::handler::Handler;
use axum::routing::{MethodFilter, on};
use http::Method;

use super::{Endpoint, Route};
use crate::audit;
use crate::auth::Access;
use crate::edge::Edge;
use crate::router::{Answering, Served};

pub(super) fn get<H: Handler<T, Edge, Future = Answering>, T: 'static>(
    path: &'static str,
    access: Access,
    handler: H,
) -> Endpoint {
    endpoint(Method::GET, MethodFilter::GET, path, access, handler)
}

pub(super) fn post<H: Handler<T, Edge, Future = Answering>, T: 'static>(
    path: &'static str,
    access: Access,
    handler: H,
) -> Endpoint {
    endpoint(Method::POST, MethodFilter::POST, path, access, handler)
}

pub(super) fn put<H: Handler<T, Edge, Future = Answering>, T: 'static>(
    path: &'static str,
    access: Access,
    handler: H,
) -> Endpoint {
    endpoint(Method::PUT, MethodFilter::PUT, path, access, handler)
}

pub(super) fn patch<H: Handler<T, Edge, Future = Answering>, T: 'static>(
    path: &'static str,
    access: Access,
    handler: H,
) -> Endpoint {
    endpoint(Method::PATCH, MethodFilter::PATCH, path, access, handler)
}

pub(super) fn delete<H: Handler<T, Edge, Future = Answering>, T: 'static>(
    path: &'static str,
    access: Access,
    handler: H,
) -> Endpoint {
    endpoint(Method::DELETE, MethodFilter::DELETE, path, access, handler)
}

fn endpoint<H: Handler<T, Edge, Future = Answering>, T: 'static>(
    method: Method,
    filter: MethodFilter,
    path: &'static str,
    access: Access,
    handler: H,
) -> Endpoint {
    let audited = audit::rule(&method, path, access);
    let served = Served::new(method.clone(), path, access, audited, handler);
    Endpoint {
        route: Route { method, path, access, audited, takes_idempotency_key: false },
        handler: on(filter, served),
    }
}
