//! Wakes jobs that a wrong clock has put off. A job that backs off while the clock is a day ahead is due in a day and some seconds;
//! when the clock is put right, it must not wait for that day.

use std::collections::BTreeMap;

use base::Result;
use boxed::boxed;
use model::time::LONGEST_WAIT;
use store::jobs::{self, JobKey};
use store::{Part, Tx, followers};

use crate::Jobs;

/// Jobs that are woken in one transaction.
const PORTION: u32 = 1000;

#[boxed]
impl Jobs {
    /// Looks for such jobs at the start, because the clock may have been put right before it, and when the clock was set back. A
    /// job that waits for something else than a back-off, as one of a paused push for its expiry, looks at it and waits again.
    ///
    /// Every process does so, because jobs are enqueued by the clock of the one that takes the request, which may run none.
    pub async fn end_stranded_waits(&self) {
        // A worker that looks for due jobs while another task wakes them would find none.
        let _turn = self.0.ending_waits.lock().await;
        if !self.0.clock_watch.take_setback() {
            return;
        }
        match self.wake_stranded().await {
            Ok(0) => {}
            Ok(n_jobs) => tracing::info!(jobs = n_jobs, "jobs that a wrong clock may have put off are tried now"),
            Err(error) => {
                self.0.clock_watch.give_setback_back();
                if !error.is_of_database() {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "jobs that a wrong clock has put off cannot be looked for");
                }
            }
        }
    }

    async fn wake_stranded(&self) -> Result<usize> {
        let (store, now) = (&self.0.store, self.0.clock.now());
        let mut n_woken = 0;
        for (longest_wait, kinds) in self.0.kinds.longest_waits() {
            loop {
                let (latest, kinds) = (now.plus(longest_wait), kinds.clone());
                let read = move |tx: &mut Tx<'_>, part: &Part| jobs::due_after(tx, part, &kinds, latest, PORTION);
                let found = store.read_all(read).await?;
                n_woken += found.len();
                let is_all = found.len() < PORTION as usize;
                let mut by_part = BTreeMap::<Part, Vec<JobKey>>::new();
                for key in found {
                    by_part.entry(store.part_of(key.0)).or_default().push(key);
                }
                for (part, found) in by_part {
                    store.write_part(&part, move |tx| jobs::wake(tx, &found, now)).await?;
                }
                if is_all {
                    break;
                }
            }
        }
        if n_woken > 0 {
            // A follower rests no longer than its job.
            let latest = now.plus(LONGEST_WAIT);
            store.write_all(move |tx, part| followers::end_rests_beyond(tx, part, latest)).await?;
        }
        Ok(n_woken)
    }
}
