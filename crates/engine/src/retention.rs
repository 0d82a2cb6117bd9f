//! Retention of an app's log, of its pushes, and of their recipients.

mod pushes;

use std::time::Duration;

use base::Result;
use model::ids::{AppId, Offset, PushId};
use sending::{RECIPIENTS_KEPT_FOR, fold_responses};
use store::{Tx, blocks, log, push_causes};

use crate::Rooms;
use crate::sweep::Left;

/// How much is kept of each app.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Records of the log that are older are deleted.
    pub age: Duration,
    /// While the bodies of the records take more room than this, the oldest are deleted.
    pub bytes: u64,
    /// Pushes that ended longer ago are deleted.
    pub pushes: Duration,
    /// Rows of the audit log that are older are deleted.
    pub audit: Duration,
}

impl Retention {
    pub const PUSH_DAYS: u32 = 400;
    pub const AUDIT_DAYS: u32 = 400;
    /// The recipients of a push are kept for 30 days, because other pushes of the same run ask for them; the push has to stay
    /// longer than that.
    pub const FEWEST_PUSH_DAYS: u32 = 31;
}

impl Default for Retention {
    fn default() -> Self {
        Self { age: 7 * DAY, bytes: 100_000_000_000, pushes: DAY * Self::PUSH_DAYS, audit: DAY * Self::AUDIT_DAYS }
    }
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Records deleted by one transaction, during which nothing else of the app is written.
const PORTION: u32 = 2_000;
/// After this many the sweep continues with the other apps and comes back.
const PORTIONS_PER_RUN: usize = 200;

impl Rooms {
    /// Deletes records of a log that are too old or too many.
    pub(crate) async fn shorten_log(&self, app: AppId) -> Result<Left> {
        let Retention { age, bytes, .. } = self.retention;
        let oldest = self.clock.now().minus(age);
        let first_kept = self.store.read(move |tx| log::first_since(tx, app, oldest)).await?;
        for _ in 0..PORTIONS_PER_RUN {
            let shorten = move |tx: &mut Tx<'_>| -> Result<bool> {
                let n_old = log::delete_before(tx, app, first_kept, PORTION)?;
                if n_old > 0 {
                    return Ok(true);
                }
                let is_too_much = log::n_bytes(tx, app)? > bytes;
                Ok(is_too_much && log::delete_before(tx, app, Offset(i64::MAX), PORTION)? > 0)
            };
            if !self.store.write(app, shorten).await? {
                return Ok(Left::Nothing);
            }
        }
        Ok(Left::More)
    }

    /// Deletes what sending and counting needed of pushes that are long done: the progress of their blocks, and their causes. Who
    /// responded to them is put into sets, because it counts no more; their outcomes stay with them.
    pub(crate) async fn forget_old_blocks(&self, app: AppId) -> Result<Left> {
        let oldest = self.clock.now().minus(RECIPIENTS_KEPT_FOR);
        let first_kept = PushId::first_at(oldest);
        for _ in 0..PORTIONS_PER_RUN {
            let forget = move |tx: &mut Tx<'_>| -> Result<u64> {
                // Causes are kept as long as their SEND records.
                let first_recorded = log::time_after(tx, app, Offset(0))?.map_or(first_kept, PushId::first_at);
                let n_causes = push_causes::delete_before(tx, app, first_kept.min(first_recorded), PORTION)?;
                let n_blocks = blocks::delete_settled_before(tx, app, oldest, PORTION)?;
                let n_responses = fold_responses(tx, app, oldest, PORTION)?;
                Ok(n_causes.max(n_blocks).max(n_responses))
            };
            if self.store.write(app, forget).await? < u64::from(PORTION) {
                return Ok(Left::Nothing);
            }
        }
        Ok(Left::More)
    }
}
