//! The answers of servers to an import: of the bulk call, and refusals of single things.

use anyhow::{Context, Result, anyhow};
use http::StatusCode;
use serde::Deserialize;

pub(super) use crate::client::patiently;
use crate::client::{Refused, Reply};

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

impl Answer {
    pub(super) fn read(reply: &Reply) -> Result<Self> {
        let mut lines: Vec<&str> = reply.text()?.lines().collect();
        let last = lines.pop().ok_or_else(|| anyhow!("The server's answer is empty (do the versions match?)"))?;
        let form = "The server's answer has an unexpected form (do the versions match?)";
        let refused = lines.into_iter().map(|line| serde_json::from_str(line).context(form));
        Ok(Self { refused: refused.collect::<Result<_>>()?, total: serde_json::from_str(last).context(form)? })
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
