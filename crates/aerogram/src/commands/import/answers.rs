//! The answers of servers to an import: of the bulk call, of servers that have too much to do, and refusals of single things.

use std::future::Future;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use http::StatusCode;
use serde::Deserialize;

use crate::client::{NoAnswer, Refused, Reply};

/// A server that has too much to do is asked so often.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_secs(2);
/// A server that is not reached is asked so often, with pauses that grow from a quarter of a second to 16 seconds.
const TRIES_TO_REACH: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(250);

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
    /// Earlier versions take no users, and say so line by line.
    #[serde(default)]
    pub(super) named_users: u64,
    pub(super) refused: u64,
}

/// Why there is no good answer.
enum Trouble {
    Busy { pause: Duration },
    Unreached,
    Lasting,
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

/// Asks again when the server has too much to do, or is not reached for a while: for calls that change nothing more when they are
/// made twice.
pub(super) async fn patiently<T, Asking: Future<Output = Result<T>>>(mut ask: impl FnMut() -> Asking) -> Result<T> {
    let (mut n_busy, mut n_unreached) = (0, 0);
    loop {
        let error = match ask().await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let pause = match Trouble::of(&error) {
            Trouble::Busy { pause } if n_busy + 1 < TRIES => {
                n_busy += 1;
                pause
            }
            Trouble::Unreached if n_unreached + 1 < TRIES_TO_REACH => {
                n_unreached += 1;
                FIRST_PAUSE * 2_u32.pow(n_unreached - 1)
            }
            Trouble::Busy { .. } | Trouble::Unreached | Trouble::Lasting => return Err(error),
        };
        tokio::time::sleep(pause).await;
    }
}

impl Trouble {
    fn of(error: &anyhow::Error) -> Self {
        if let Some(Refused { status, retry_after, .. }) = error.downcast_ref() {
            return match *status {
                StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                    Trouble::Busy { pause: retry_after.unwrap_or(PAUSE) }
                }
                // What a proxy says while the server behind it is started again.
                StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT => Trouble::Unreached,
                _ => Trouble::Lasting,
            };
        }
        match error.downcast_ref() {
            Some(NoAnswer { may_recover: true, .. }) => Trouble::Unreached,
            _ => Trouble::Lasting,
        }
    }
}

/// The sentence of a refusal that concerns one row. Any other error ends the import.
pub(super) fn about_one_row(error: anyhow::Error) -> Result<String> {
    let refused = error.downcast::<Refused>()?;
    let concerns_all = match refused.status {
        StatusCode::UNAUTHORIZED | StatusCode::TOO_MANY_REQUESTS => true,
        // The API's own, which has a code, is about a group of tags that cannot be set; what the credentials do not allow was
        // refused before the first row.
        StatusCode::FORBIDDEN => refused.code.is_none(),
        status => !status.is_client_error(),
    };
    if concerns_all { Err(refused.into()) } else { Ok(refused.text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, code: Option<u32>) -> anyhow::Error {
        let status = StatusCode::from_u16(status).unwrap();
        Refused { status, code, text: "why".to_owned(), retry_after: None }.into()
    }

    #[test]
    fn a_refusal_that_every_row_would_get_ends_the_import() {
        for (status, code) in [(400, Some(40000)), (404, Some(40400)), (409, Some(40900)), (403, Some(40300))] {
            assert_eq!(about_one_row(refused(status, code)).unwrap(), "why", "{status}");
        }
        for (status, code) in [(401, Some(40101)), (403, None), (429, Some(42900)), (500, Some(50000)), (503, None)] {
            assert!(about_one_row(refused(status, code)).unwrap_err().is::<Refused>(), "{status}");
        }
        assert!(about_one_row(anyhow!("no answer")).is_err());
    }
}
