//! Tells the audit log on whose behalf a request is carried out, if it is one of a server or of the operator.

mod actions;

use std::sync::Arc;

use axum::RequestExt;
use axum::extract::{RawPathParams, Request};
use http::Method;
use tenancy::{AuditRows, AuditedChange, AuditedRequest, Rights};

pub use actions::Audited;

use crate::auth::token_limits::calling_address;
use crate::auth::{Access, Calling};
use crate::edge::Edge;
use crate::inside::Actor;

/// The longest variable of a path that is kept, in characters.
const MOST_CHARS: usize = 200;

/// What the audit log gets of an admitted request; `None` if it is a device's, or changes nothing.
pub(crate) async fn request(
    edge: &Edge,
    (audited, path): (Audited, &str),
    access: Access,
    request: &mut Request,
    request_id: &str,
) -> Option<AuditedRequest> {
    let (action, rows) = match audited {
        Audited::Never => return None,
        Audited::Each(action) => (action, AuditRows::Each),
        Audited::PerMinute(action) => (action, AuditRows::PerMinute),
    };
    let actor = request.extensions().get().map(|actor: &Actor| Arc::clone(actor.credential()));
    let credential = match (actor, access, request.extensions().get()) {
        (Some(actor), ..) => actor,
        (None, Access::Operator, _) => Arc::clone(&edge.operator_credential),
        (None, _, Some(Calling(caller))) if caller.rights == Rights::Master => Arc::clone(caller.server_credential()),
        _ => return None,
    };
    let address = calling_address(edge, request);
    let object = match rows {
        AuditRows::Each if path.contains('{') => named_objects(request).await,
        AuditRows::Each | AuditRows::PerMinute => Vec::new(),
    };
    let request_id = Some(request_id.to_owned());
    let change = AuditedChange { credential, address, action, rows, object, request_id };
    Some(AuditedRequest::new(edge.engine.clock().now(), change))
}

/// The variables of the path.
async fn named_objects(request: &mut Request) -> Vec<(String, String)> {
    let Ok(variables) = request.extract_parts::<RawPathParams>().await else { return Vec::new() };
    let named = variables.iter().map(|(name, value)| {
        // The key of an app is called so only where nothing else can be meant.
        let name = if name == "key" { "app" } else { name };
        (name.to_owned(), value.chars().take(MOST_CHARS).collect())
    });
    named.collect()
}

/// What becomes of a route in the audit log.
pub(crate) fn rule(method: &Method, path: &str, access: Access) -> Audited {
    let changes = ![Method::GET, Method::HEAD].contains(method);
    let by_servers = match access {
        Access::Device
        | Access::Channel
        | Access::OwnChannel
        | Access::Page
        | Access::Signed
        | Access::Contact
        | Access::Events
        | Access::Master
        | Access::Operator => true,
        Access::Probe | Access::Public | Access::Open | Access::Inbox | Access::Scrape => false,
    };
    if changes && by_servers {
        actions::of(method, path).unwrap_or(Audited::Each(actions::UNNAMED))
    } else {
        Audited::Never
    }
}
