//! Import of an array of channels, as large as any other body. What is wrong with one of them refuses all; what cannot be done
//! with one is told in a warning.

use bytes::Bytes;
use devices::ImportRow;
use http::StatusCode;
use model::channel::ImportedChannel;
use model::json::{self, UnknownKeys};
use model::problem::Problem;

use super::{Import, LINES_AT_ONCE, below_channel};
use crate::answer::Answer;
use crate::body::MOST_BODY_BYTES;
use crate::error::{Error, Result};
use crate::upload::Upload;

impl Import<'_> {
    /// `beginning` has been read of the body.
    pub(super) async fn take_array(&mut self, beginning: Bytes, body: &mut Upload) -> Result<Answer> {
        let mut text = beginning.to_vec();
        while let Some(chunk) = body.chunk().await? {
            if text.len() + chunk.len() > MOST_BODY_BYTES {
                return Err(Error::BodyTooLarge { limit_bytes: MOST_BODY_BYTES as u64 });
            }
            text.extend_from_slice(&chunk);
        }
        let read = move || {
            let all =
                json::parse_with(&text, UnknownKeys::Refused, |at| at.array(0..=usize::MAX, ImportedChannel::parse));
            all.map_err(engine::Error::Invalid)
        };
        let (mut rows, mut problems) = (Vec::new(), Vec::new());
        for (line, channel) in (0..).zip(self.edge.apart(read).await??) {
            for problem in self.address_problem(&channel).await?.iter().flat_map(|problems| problems.iter()) {
                problems
                    .push(Problem { path: format!("[{line}].{}", below_channel(&problem.path)), ..problem.clone() });
            }
            rows.push(ImportRow { line, channel });
        }
        engine::Error::refuse(problems)?;
        let mut warnings = Vec::new();
        while !self.is_dry_run && !rows.is_empty() {
            let rest = rows.split_off(rows.len().min(LINES_AT_ONCE));
            let report = self.edge.engine.devices().import_channels(self.app.id, rows).await?;
            warnings.extend(report.refused.into_iter().map(|row| format!("[{}]: {}", row.line, row.message)));
            rows = rest;
        }
        Ok(Answer::done_except(warnings)?.status(StatusCode::ACCEPTED))
    }
}
