//! The answers of servers to an import: of the bulk call, of servers that have too much to do, and refusals of single things.

use std::future::Future;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use http::StatusCode;
use serde::Deserialize;

use crate::client::{Refused, Reply};

/// A server that has too much to do is asked so often again.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_secs(2);

/// The answer of the bulk call.
pub(super) struct Answer {
    pub(super) refused: Vec<RefusedLine>,
    pub(super) total: PartTotal,
}

#[derive(Deserialize)]
pub(super) struct RefusedLine {
    pub(super) line: usize,
    pub(super) path: String,
    pub(super) error: String,
}

#[derive(Deserialize)]
pub(super) struct PartTotal {
    pub(super) created: u64,
    pub(super) updated: u64,
    pub(super) refused: u64,
}

impl Answer {
    pub(super) fn read(reply: &Reply) -> Result<Self> {
        let mut lines: Vec<&str> = reply.text()?.lines().collect();
        let last = lines.pop().ok_or_else(|| anyhow!("The server's answer is empty (do the versions match?)"))?;
        let form = "The server's answer has an unexpected form (do the versions match?)";
        let refused = lines.into_iter().map(|line| serde_json::from_str(line).context(form));
        Ok(Self { refused: refused.collect::<Result<_>>()?, total: serde_json::from_str(last).context(form)? })
    }
}

/// Asks a server again that has too much to do.
pub(super) async fn patiently<T, Asking: Future<Output = Result<T>>>(mut ask: impl FnMut() -> Asking) -> Result<T> {
    let mut n_tries = 1;
    loop {
        let error = match ask().await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let refused = error.downcast_ref::<Refused>();
        let busy = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];
        let Some(refused) = refused.filter(|refused| busy.contains(&refused.status) && n_tries < TRIES) else {
            return Err(error);
        };
        tokio::time::sleep(refused.retry_after.unwrap_or(PAUSE)).await;
        n_tries += 1;
    }
}

/// The sentence of a refusal, which concerns one row. Any other error ends the import.
pub(super) fn problem(done: Result<()>) -> Result<Option<String>> {
    match done {
        Ok(()) => Ok(None),
        Err(error) => match error.downcast::<Refused>() {
            Ok(refused) if refused.status.is_client_error() && refused.status != StatusCode::UNAUTHORIZED => {
                Ok(Some(refused.text))
            }
            Ok(refused) => Err(refused.into()),
            Err(error) => Err(error),
        },
    }
}
