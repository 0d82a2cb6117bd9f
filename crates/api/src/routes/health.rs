//! Whether the process lives and can do its work, for anybody, and its metrics, for the operator.

use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use engine::Trouble;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{Answer, Done};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::stopping::Stopping;

/// A database that takes longer than this cannot serve requests either.
const DATABASE_PATIENCE: Duration = Duration::from_secs(5);
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

#[derive(Serialize, JsonSchema)]
pub(super) struct Health {
    version: &'static str,
}

/// The process lives and answers; nothing else is asked.
pub(super) async fn health() -> Result<Answer> {
    Answer::ok(Health { version: env!("CARGO_PKG_VERSION") })
}

/// The database answers and took the last change, and the server is not about to stop. Whether it takes changes again is found
/// out by others.
pub(super) async fn ready(State(edge): State<Edge>, stopping: Stopping) -> Result<Answer> {
    if stopping.is_near() {
        return Err(Error::Stopping);
    }
    match tokio::time::timeout(DATABASE_PATIENCE, edge.engine.ask_database()).await {
        Ok(Ok(None)) => Answer::ok(Done {}),
        Ok(Ok(Some(trouble))) => Err(Error::NotReady(trouble)),
        Ok(Err(error)) => Err(error.into()),
        Err(_) => Err(Error::NotReady(Trouble::Reading)),
    }
}

/// Counts and gauges in the text form of Prometheus. Apps and webhooks are named, channels and people are not.
pub(super) async fn metrics(State(edge): State<Edge>) -> Result<Response> {
    let mut response = Response::new(edge.engine.metrics_text().await?.into());
    response.headers_mut().insert(CONTENT_TYPE, OPEN_METRICS);
    Ok(response)
}
