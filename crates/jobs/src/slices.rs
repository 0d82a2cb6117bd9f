//! Long work of a job in slices: a transaction each, so that others of the app get their turn between two.

use base::{Result, SharedClock};
use store::Store;

use crate::{ClaimedJob, Stop, postpone};

/// After this many slices a job queues up again, so that other jobs get their turn.
const SLICES_PER_RUN: usize = 20;

/// What a slice has left of the work.
pub enum Left {
    More,
    /// Nothing, and the slice has settled the job.
    Nothing,
}

/// Runs slices until nothing is left, many were run or the process stops; what is left then is the job's next run.
pub async fn in_slices<S: Future<Output = Result<Left>> + Send>(
    (store, clock): (&Store, &SharedClock),
    claimed: &ClaimedJob,
    stop: &Stop,
    slice: impl Fn() -> S + Send,
) -> Result<()> {
    for _ in 0..SLICES_PER_RUN {
        if stop.is_requested() {
            break;
        }
        match slice().await? {
            Left::More => {}
            Left::Nothing => return Ok(()),
        }
    }
    let (claimed, now) = (claimed.clone(), clock.now());
    Ok(store.write(claimed.app, move |tx| postpone(tx, &claimed, now)).await?)
}
