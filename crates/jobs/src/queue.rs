//! Adding jobs to the queue, in the transaction that causes them.

use base::{Error, Result};
use model::ids::AppId;
use model::time::UtcMillis;
use store::jobs::{ClaimedJob, JobId, Lane, NewJob};
use store::{Store, Tx};

use crate::Job;

const FIRST_TURN: u32 = 0;
/// From here on turns are those of pushes to many.
const FIRST_TURN_OF_MANY: u32 = 64;

/// A push to fewer devices than this goes before those to more, and takes next to no time.
const MANY: u64 = 1000;

/// A job that delivers a part of a push to `n_devices` of a platform, after `n_before` other parts.
pub struct BlockJob<'j, J> {
    pub job: &'j J,
    pub n_devices: u64,
    pub n_before: u32,
}

pub fn enqueue<J: Job>(tx: &mut Tx<'_>, app: AppId, due: UtcMillis, job: &J) -> Result<()> {
    enqueue_as(tx, app, JobId::at(due), due, job)
}

/// With an id of the caller's choice. A second job with the same id is not added.
pub fn enqueue_as<J: Job>(tx: &mut Tx<'_>, app: AppId, id: JobId, due: UtcMillis, job: &J) -> Result<()> {
    Ok(store::jobs::enqueue(tx, app, new_job(id, due, FIRST_TURN, job)?)?)
}

pub fn enqueue_block<J: Job>(tx: &mut Tx<'_>, app: AppId, due: UtcMillis, block: &BlockJob<'_, J>) -> Result<()> {
    let new = new_job(JobId::at(due), due, turn_of(block.n_devices, block.n_before), block.job)?;
    Ok(store::jobs::enqueue(tx, app, new)?)
}

/// The lane in which a job of an app waits.
pub fn lane<J: Job>(app: AppId, job: &J) -> Lane {
    Lane { app, name: job.lane() }
}

/// Settles a job whose work is not a transaction of its own.
pub async fn settle_alone(store: &Store, claimed: &ClaimedJob) -> Result<()> {
    let claimed = claimed.clone();
    store.write(claimed.app, move |tx| store::jobs::settle(tx, &claimed)).await?;
    Ok(())
}

fn new_job<J: Job>(id: JobId, due: UtcMillis, turn: u32, job: &J) -> Result<NewJob> {
    let payload = postcard::to_stdvec(job).map_err(Error::internal)?;
    Ok(NewJob { id, kind: J::NAME, lane: job.lane(), due, turn, push: job.push(), payload })
}

/// Whether a job of this turn is a part of a push to many.
pub(crate) const fn is_of_many(turn: u32) -> bool {
    turn >= FIRST_TURN_OF_MANY
}

/// Goes up each time that the number of parts before it doubles: a push to millions of devices has few turns, so that the first
/// job of each turn is found quickly.
pub(crate) const fn turn_of(n_devices: u64, n_before: u32) -> u32 {
    let first = if n_devices < MANY { FIRST_TURN } else { FIRST_TURN_OF_MANY };
    first + u32::BITS - n_before.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_go_first_and_the_last_of_many_parts_has_one_turn_of_few() {
        let parts = [0, 1, 2, 3, 4, 7, 8, 153, 65_535];
        assert_eq!(parts.map(|n_before| turn_of(999, n_before)), [0, 1, 2, 2, 3, 3, 4, 8, 16]);
        assert_eq!(parts.map(|n_before| turn_of(1000, n_before)), [64, 65, 66, 66, 67, 67, 68, 72, 80]);
        assert!(!is_of_many(turn_of(999, u32::MAX)) && is_of_many(turn_of(1000, 0)));
    }
}
