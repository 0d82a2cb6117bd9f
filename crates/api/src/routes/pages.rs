//! Landing pages that came inside a push, for the browsers of devices.

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use http::{HeaderName, HeaderValue};
use model::ids::PushId;

use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::path_vars::PathVars;

/// A page or message is a customer's own HTML. It may do what pages do, but in an origin of its own, without access to anything
/// else that this host serves.
pub(super) const SANDBOXED: HeaderValue = HeaderValue::from_static("sandbox allow-scripts allow-forms allow-popups");
/// A page never changes, but it can be deleted.
const FOR_AN_HOUR: HeaderValue = HeaderValue::from_static("private, max-age=3600");

pub(super) async fn show(
    State(edge): State<Edge>,
    PathVars((app, push_id, number)): PathVars<(String, String, String)>,
) -> Result<Response> {
    let no_page = || Error::NotFound("There is no such page.".to_owned());
    let push_id: PushId = push_id.parse().map_err(|_| no_page())?;
    let number: usize = number.parse().map_err(|_| no_page())?;
    let page = edge.engine.sending().page(&app, push_id, number).await?;
    let mut response = Response::new(Body::from(page.bytes()));
    let headers: [(HeaderName, HeaderValue); 4] = [
        (CACHE_CONTROL, FOR_AN_HOUR),
        (CONTENT_TYPE, HeaderValue::from_str(&page.mime_type()).map_err(|_| no_page())?),
        (CONTENT_SECURITY_POLICY, SANDBOXED),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    response.headers_mut().extend(headers);
    Ok(response)
}
