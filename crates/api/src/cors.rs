//! Browsers: which routes pages of other origins may call, and what they may send and read.
//!
//! Only the routes of devices. Credentials are in a header that a page must have been given, never in cookies, so every
//! origin is as good as another.

use std::sync::Arc;

use axum::response::Response;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
};
use http::{HeaderMap, HeaderValue, Method};

use crate::answer::Answer;
use crate::routes::Route;

const ANY_ORIGIN: HeaderValue = HeaderValue::from_static("*");
const ALLOWED_HEADERS: &str = "Authorization, Content-Type, Content-Encoding, If-Modified-Since, Idempotency-Key";
const EXPOSED_HEADERS: &str = "Location, Last-Modified, Retry-After, X-Request-Id";
/// All headers of this family may be sent and read.
const DEVICE_PREFIX: &str = "x-ua-";
const A_DAY_IN_SECONDS: &str = "86400";

/// The routes browsers may call. A copy is one count.
#[derive(Clone)]
pub(crate) struct DeviceRoutes(Arc<[Route]>);

impl DeviceRoutes {
    pub(crate) fn among(routes: &[Route]) -> Self {
        Self(routes.iter().filter(|route| route.access.is_for_browsers()).cloned().collect())
    }

    fn methods<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a Method> {
        self.0.iter().filter(move |route| route.path == path).map(|route| &route.method)
    }

    /// The answer to a browser that asks before it calls.
    pub(crate) fn preflight(&self, path: &str, request: &HeaderMap) -> Option<Answer> {
        let methods: Vec<&str> = self.methods(path).map(Method::as_str).collect();
        if methods.is_empty() {
            return None;
        }
        let wanted = request.get(ACCESS_CONTROL_REQUEST_HEADERS).and_then(|wanted| wanted.to_str().ok());
        let family = wanted.unwrap_or_default().split(',').map(str::trim).filter(|name| is_of_devices(name));
        let allowed = family.fold(ALLOWED_HEADERS.to_owned(), |list, name| format!("{list}, {name}"));
        Some(
            Answer::nothing()
                .header(ACCESS_CONTROL_ALLOW_ORIGIN, "*")
                .header(ACCESS_CONTROL_ALLOW_METHODS, &methods.join(", "))
                .header(ACCESS_CONTROL_ALLOW_HEADERS, &allowed)
                .header(ACCESS_CONTROL_MAX_AGE, A_DAY_IN_SECONDS),
        )
    }
}

/// Lets a page read the answer.
pub(crate) fn expose(response: &mut Response) {
    let mut family = response.headers().keys().map(|name| name.as_str()).filter(|name| is_of_devices(name));
    let exposed = match family.next() {
        None => HeaderValue::from_static(EXPOSED_HEADERS),
        Some(first) => {
            let list = family.fold(format!("{EXPOSED_HEADERS}, {first}"), |list, name| format!("{list}, {name}"));
            HeaderValue::from_str(&list).expect("names of headers are ASCII")
        }
    };
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, ANY_ORIGIN);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
}

fn is_of_devices(name: &str) -> bool {
    let prefix = name.get(..DEVICE_PREFIX.len());
    prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case(DEVICE_PREFIX))
}
