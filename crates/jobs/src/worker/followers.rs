//! Wakes the jobs of followers when their log has grown.

use std::convert::Infallible;
use std::time::Duration;

use base::Result;
use store::apps::OPERATOR;
use store::{Signal, followers};
use tokio::time;

use super::POLL;
use crate::Jobs;

/// A log that grows many times in a moment is looked at once.
const PAUSE: Duration = Duration::from_millis(20);

impl Jobs {
    /// Signals of other nodes may be lost, so it also looks now and then. One worker of the process does it for all; another one
    /// goes on when that one ends.
    pub(super) async fn keep_waking_followers(self) -> Infallible {
        let _turn = self.0.waking.lock().await;
        let mut signals = self.0.store.signals();
        loop {
            self.wake_followers().await;
            let growth = async { while !matches!(signals.next().await, Signal::Log(_)) {} };
            let _ = time::timeout(POLL, growth).await;
            time::sleep(PAUSE).await;
        }
    }

    /// Makes the jobs of followers due whose log has grown.
    pub(super) async fn wake_followers(&self) {
        let (store, now) = (&self.0.store, self.0.clock.now());
        let woken = async {
            let behind = store.read(move |tx| followers::behind(tx, now)).await?;
            if behind.is_empty() {
                return Ok(());
            }
            Ok(store.write(OPERATOR, move |tx| followers::wake(tx, &behind, now)).await?)
        };
        let woken: Result<()> = woken.await;
        if let Err(error) = woken
            && !error.is_of_database()
        {
            tracing::warn!(error = &error as &dyn std::error::Error, "followers of the log cannot be woken");
        }
    }
}
