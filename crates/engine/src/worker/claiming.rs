//! Finding jobs that are due and that there is a place for, and claiming them. Looking is a read, beside whatever is being
//! written; only what was chosen is then claimed.

use std::time::Duration;

use model::time::UtcMillis;
use store::Tx;
use store::jobs::{self, ClaimedJob};

use super::places::{Place, Places};
use super::running::Run;
use super::{LEASE, POLL, Worker};
use crate::Result;
use crate::apps::OPERATOR;

/// What came of looking for jobs.
pub(super) struct Claimed {
    pub(super) jobs: Vec<Begun>,
    /// Until there may be more for which there is a place as things are.
    pub(super) look_again_in: Duration,
    /// Whether one of them would be due again that has not ended yet: it may have been given back a moment ago.
    pub(super) is_one_running: bool,
}

/// A job that nobody else in this process runs, with the place it has.
pub(super) struct Begun {
    pub(super) job: ClaimedJob,
    pub(super) place: Place,
    pub(super) run: Run,
}

impl Worker {
    /// Claims up to `at_most` jobs, of each lane only as many as there are places for.
    pub(super) async fn claim(&self, at_most: usize, places: &mut Places) -> Result<Claimed> {
        let (engine, now) = (&self.engine.0, self.engine.0.clock.now());
        // Those that run, here or in another worker of this process, may be due as well.
        let limit = at_most + engine.running.len();
        let full = places.full();
        let read = move |tx: &mut Tx<'_>| {
            let due = jobs::due(tx, now, u32::try_from(limit).unwrap_or(u32::MAX), &full)?;
            Ok::<_, store::Error>((due, jobs::next_due_after(tx, now)?))
        };
        let (due, next) = engine.store.read(read).await?;
        let look_again_in = if due.len() < limit { wait_until(next, now) } else { Duration::ZERO };
        let (mut chosen, mut is_one_running) = (Vec::new(), false);
        for job in due {
            if chosen.len() == at_most {
                break;
            }
            let Some(run) = engine.running.begin(job.app, job.id) else {
                is_one_running = true;
                continue;
            };
            let Some(place) = places.take(&job) else { continue };
            chosen.push((job, place, run));
        }
        let mut begun = Vec::with_capacity(chosen.len());
        let claimed = self.claim_these(chosen.iter().map(|(job, ..)| (job.app, job.id)).collect(), now).await;
        let (mut claimed, failed) = match claimed {
            Ok(claimed) => (claimed, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        for (wanted, place, run) in chosen {
            match claimed.iter().position(|job| (job.app, job.id) == (wanted.app, wanted.id)) {
                Some(index) => begun.push(Begun { job: claimed.swap_remove(index), place, run }),
                // Somebody else was quicker.
                None => places.leave(&place),
            }
        }
        failed.map_or(Ok(Claimed { jobs: begun, look_again_in, is_one_running }), Err)
    }

    async fn claim_these(&self, wanted: Vec<jobs::JobKey>, now: UtcMillis) -> Result<Vec<ClaimedJob>> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let clock = self.engine.0.clock.clone();
        // The lease begins when the claim is made, however long it has waited for its turn.
        let claim = move |tx: &mut Tx<'_>| jobs::claim(tx, &wanted, now, clock.now().plus(LEASE));
        Ok(self.engine.0.store.write(OPERATOR, claim).await?)
    }
}

/// Signals tell of what comes before that, unless they are lost.
fn wait_until(next: Option<UtcMillis>, now: UtcMillis) -> Duration {
    let wait =
        next.map_or(POLL, |next| Duration::from_millis(u64::try_from(next.0.saturating_sub(now.0)).unwrap_or(0)));
    wait.min(POLL)
}
