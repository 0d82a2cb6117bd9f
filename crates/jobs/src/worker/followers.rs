//! Wakes the jobs of followers when their log has grown.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use base::Result;
use futures_util::future;
use store::jobs::{self, JobKey};
use store::{Part, Signal, followers};
use tokio::time::{self, Instant};

use super::POLL;
use crate::Jobs;

/// A log that grows many times in a moment is looked at once in that; one that has not grown for a while, at once.
const PAUSE: Duration = Duration::from_millis(20);

impl Jobs {
    /// Signals of other nodes may be lost, so it also looks now and then. One worker of the process does it for all; another one
    /// goes on when that one ends.
    pub(super) async fn keep_waking_followers(self) -> Infallible {
        let _turn = self.0.waking.lock().await;
        let mut signals = self.0.store.signals();
        loop {
            let began = Instant::now();
            self.wake_followers().await;
            time::sleep(self.rest_after(began.elapsed())).await;
            let growth = async { while !matches!(signals.next().await, Signal::Log(_)) {} };
            let _ = time::timeout(POLL, growth).await;
            time::sleep_until(began + PAUSE).await;
        }
    }

    /// Makes the jobs of followers due whose log has grown.
    pub(super) async fn wake_followers(&self) {
        let (store, now) = (&self.0.store, self.0.clock.now());
        let woken = async {
            let behind = store.read_all(move |tx, part| followers::behind(tx, part, now)).await?;
            let mut by_part = BTreeMap::<Part, Vec<JobKey>>::new();
            for key in behind {
                by_part.entry(store.part_of(key.0)).or_default().push(key);
            }
            let wakings = by_part
                .into_iter()
                .map(|(part, behind)| store.write_part(&part, move |tx| jobs::wake(tx, &behind, now)));
            let woken: store::Result<Vec<()>> = future::join_all(wakings).await.into_iter().collect();
            Ok(woken.map(drop)?)
        };
        let woken: Result<()> = woken.await;
        if let Err(error) = woken
            && !error.is_of_database()
        {
            tracing::warn!(error = &error as &dyn std::error::Error, "followers of the log cannot be woken");
        }
    }
}
