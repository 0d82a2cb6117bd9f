//! Tells answers that would otherwise continue that the server is about to stop.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::request::Parts;
use tokio::sync::watch;

use crate::edge::Edge;

/// Added to every request by the server; a router that is called without a server never stops.
#[derive(Clone)]
pub struct Stopping(pub(crate) Option<watch::Receiver<bool>>);

impl Stopping {
    pub(crate) fn is_near(&self) -> bool {
        self.0.as_ref().is_some_and(|stopping| *stopping.borrow())
    }

    /// Returns when the server begins to stop.
    pub async fn wait(&mut self) {
        match &mut self.0 {
            // An error means that no sender is left that could ask us to stop, so the server is ending too.
            Some(stopping) => drop(stopping.wait_for(|stops| *stops).await),
            None => std::future::pending().await,
        }
    }
}

impl FromRequestParts<Edge> for Stopping {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Edge) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().cloned().unwrap_or(Self(None)))
    }
}
