//! Whether the process lives and can do its work, for anybody, and its metrics, for the operator.

use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use engine::{MetricsForm, Trouble};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::stopping::Stopping;

/// A database that takes longer than this cannot serve requests either.
const DATABASE_PATIENCE: Duration = Duration::from_secs(5);
const OPEN_METRICS: &str = "application/openmetrics-text";

#[derive(Serialize, JsonSchema)]
pub(super) struct Health {
    version: &'static str,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Ready {
    /// By how many milliseconds the clock of the node is ahead of the database's, if it runs no jobs beside others for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_ahead_milliseconds: Option<i64>,
}

/// The process lives and answers; nothing else is asked.
pub(super) async fn health() -> Result<Answer> {
    Answer::ok(Health { version: env!("CARGO_PKG_VERSION") })
}

/// The database answers and took the last change, and the server is not about to stop. Whether it takes changes again is found
/// out by others. A node whose clock is wrong runs no jobs beside others, and serves requests all the same.
pub(super) async fn ready(State(edge): State<Edge>, stopping: Stopping) -> Result<Answer> {
    if stopping.is_near() {
        return Err(Error::Stopping);
    }
    match tokio::time::timeout(DATABASE_PATIENCE, edge.engine.ask_database()).await {
        Ok(Ok(None)) => Answer::ok(Ready { clock_ahead_milliseconds: edge.engine.clock_wrong_by() }),
        Ok(Ok(Some(trouble))) => Err(Error::NotReady(trouble)),
        Ok(Err(error)) => Err(error.into()),
        Err(_) => Err(Error::NotReady(Trouble::Reading)),
    }
}

/// Counts and gauges for Prometheus, which asks for OpenMetrics; other readers get the older text form. Apps and webhooks are
/// named, channels and people are not.
pub(super) async fn metrics(State(edge): State<Edge>, headers: HeaderMap) -> Result<Response> {
    let is_asked_for = |accepted: &HeaderValue| accepted.to_str().is_ok_and(|types| types.contains(OPEN_METRICS));
    let (form, kind) = match headers.get_all(ACCEPT).iter().any(is_asked_for) {
        true => (MetricsForm::OpenMetrics, "application/openmetrics-text; version=1.0.0; charset=utf-8"),
        false => (MetricsForm::Classic, "text/plain; version=0.0.4; charset=utf-8"),
    };
    let mut response = Response::new(edge.engine.metrics_text(form).await?.into());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    Ok(response)
}
