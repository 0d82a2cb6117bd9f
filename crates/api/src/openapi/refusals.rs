//! The errors that routes answer with: which of them, by what a route reads, and what they mean.

use serde_json::{Map, Value, json};

use super::operation::Operation;
use super::security;
use crate::auth::Access;
use crate::routes::Route;

/// One component per status: its name, and what it means with which codes.
const REFUSALS: [(u16, &str, &str); 12] = [
    (
        400,
        "BadRequest",
        "Something in the request is malformed or invalid (40000), or missing (40202). `details.path` says where; the \
         header `Aerogram-Problems` says how many problems there are, and `error` lists them all.",
    ),
    (401, "Unauthorized", "Credentials are missing, wrong, or not enough for this (40100)."),
    (403, "Forbidden", "The credentials are valid and do not allow this (40300)."),
    (
        404,
        "NotFound",
        "There is no such path (40400), nothing with this id (40401), or a call of Airship that is not served here (40402).",
    ),
    (405, "MethodNotAllowed", "The path does not have this method (40500); the `Allow` header names those it has."),
    (406, "NotAcceptable", "The `Accept` header asks for another version than 3 (40600)."),
    (408, "RequestTimeout", "The body did not arrive within a minute (40800)."),
    (409, "Conflict", "The request contradicts something that is there (40900)."),
    (
        413,
        "PayloadTooLarge",
        "The body is larger than 5 MiB, or than 1 MiB from a caller with only the app key (41300).",
    ),
    (
        429,
        "TooManyRequests",
        "Too many requests are in work (42900), or too much of this app or channel (42901). `Retry-After` says when to try \
         again.",
    ),
    (500, "InternalError", "A mistake of the service (50000); its log has the cause under the `operation_id`."),
    (
        503,
        "Unavailable",
        "The database cannot be used at the moment (50300), the server is stopping (50301), the database cannot be read or \
         written (50302), or this node only sends (50303). `Retry-After` says when to try again.",
    ),
];

/// The shared answers, for the components of the document.
pub(super) fn components() -> Value {
    let response = |(status, name, text): &(u16, &str, &str)| ((*name).to_owned(), refusal(*status, text));
    REFUSALS.iter().map(response).collect::<Map<_, _>>().into()
}

/// All refusals of a route by their status.
pub(super) fn of(route: &Route, operation: &Operation) -> Map<String, Value> {
    let mut all = Map::new();
    for status in statuses(route, operation) {
        all.insert(status.to_string(), json!({"$ref": format!("#/components/responses/{}", name(status))}));
    }
    for (status, text) in &operation.refusals {
        all.insert(status.to_string(), refusal(*status, text));
    }
    all
}

fn statuses(route: &Route, operation: &Operation) -> Vec<u16> {
    let has_query = operation.parameters.iter().any(|parameter| parameter.place == "query");
    let has_body = operation.body.is_some();
    let is_probe = route.access == Access::Probe;
    let causes = [
        (400, has_body || has_query || route.takes_idempotency_key),
        (401, security::is_checked(route.access)),
        (403, security::may_be_forbidden(route.access)),
        (404, route.path.contains('{')),
        (406, true),
        (408, has_body),
        (409, route.takes_idempotency_key),
        (413, has_body),
        (429, !is_probe),
        (500, true),
        (503, !is_probe),
    ];
    causes.into_iter().filter(|(_, occurs)| *occurs).map(|(status, _)| status).collect()
}

fn name(status: u16) -> &'static str {
    REFUSALS.iter().find(|(known, ..)| *known == status).map_or("InternalError", |(_, name, _)| name)
}

/// The type of the answer follows from the path and from what the caller asks for.
fn refusal(status: u16, text: &str) -> Value {
    let schema = json!({"schema": {"$ref": "#/components/schemas/Error"}});
    let mut response = json!({
        "description": text,
        "content": {super::document::VENDOR_JSON: schema, super::document::PLAIN_JSON: schema},
    });
    let header = match status {
        400 => Some(("Aerogram-Problems", "How many problems there are.", "integer")),
        401 => Some(("WWW-Authenticate", "The kind of credentials that are needed.", "string")),
        429 | 503 => Some(("Retry-After", "When to try again, in seconds.", "integer")),
        _ => None,
    };
    if let Some((name, text, kind)) = header {
        response["headers"] = json!({name: {"description": text, "schema": {"type": kind}}});
    }
    response
}
