//! Requests of people to a simulator: counts, the newest messages, and other faults.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Response, StatusCode};
use model::ids::DeliveryId;
use model::json::{At, parse};
use model::problem::Problems;
use serde_json::json;

use crate::answer;
use crate::book::Book;
use crate::call::Call;
use crate::shared::Shared;

const DEFAULT_LIMIT: usize = 20;

/// The answer to a request below `/sim/`; `None` for other requests.
pub(crate) fn answer(shared: &Shared, call: &Call<'_>) -> Option<Response<Bytes>> {
    let name = call.path.strip_prefix("/sim/")?;
    let is_get = call.method == Method::GET;
    let is_post = call.method == Method::POST;
    Some(match name {
        "stats" if is_get => ok(&json!(shared.stats())),
        "faults" if is_get => ok(&json!(*shared.faults())),
        "faults" if is_post => {
            let before = shared.faults();
            match parse(call.body, |at| before.parse(at)) {
                Ok(faults) => {
                    let shown = json!(faults);
                    *shared.faults.lock() = Arc::new(faults);
                    ok(&shown)
                }
                Err(problems) => refused(&problems),
            }
        }
        "deliveries" if is_get => {
            let limit = call.parameter("limit").and_then(|limit| limit.parse().ok()).unwrap_or(DEFAULT_LIMIT);
            ok(&json!({ "deliveries": shared.book().recent(limit) }))
        }
        "reset" if is_post => {
            *shared.book() = Book::default();
            ok(&json!({ "ok": true }))
        }
        "open" if is_post => match parse(call.body, validation_code) {
            Ok(code) => {
                *shared.validation_code.lock() = Some(code.uuid());
                ok(&json!({ "ok": true }))
            }
            Err(problems) => refused(&problems),
        },
        _ => answer::json(StatusCode::NOT_FOUND, &json!({ "error": "There is nothing here." })),
    })
}

fn validation_code(at: &At<'_>) -> Option<DeliveryId> {
    let mut fields = at.object()?;
    let code = fields.required("validation_code", DeliveryId::parse);
    fields.finish();
    code
}

fn ok(body: &serde_json::Value) -> Response<Bytes> {
    answer::json(StatusCode::OK, body)
}

fn refused(problems: &Problems) -> Response<Bytes> {
    let all: Vec<String> = problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect();
    answer::json(StatusCode::BAD_REQUEST, &json!({ "error": all.join(" ") }))
}
