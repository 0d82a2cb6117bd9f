//! Keeps what this process has in memory in step with the store, whichever node changed it.

use std::time::Duration;

use store::Signal;
use tokio::sync::watch;
use tokio::time;

use crate::Engine;

/// How long a signal lost between nodes can leave an app's credentials out of date.
const FORGET_APPS_EVERY: Duration = Duration::from_secs(5);

impl Engine {
    /// Runs until `shutdown` turns true. Every process needs one, also one that runs no jobs.
    pub async fn follow(&self, mut shutdown: watch::Receiver<bool>) {
        let mut signals = self.0.store.signals();
        while !*shutdown.borrow() {
            tokio::select! {
                _ = shutdown.changed() => {}
                () = time::sleep(FORGET_APPS_EVERY) => self.0.apps.clear(),
                signal = signals.next() => match signal {
                    Signal::Apps => self.0.apps.clear(),
                    Signal::Log(app) => {
                        // Whoever needs the index at an offset catches up by itself; this only keeps that short.
                        if let Err(error) = self.follow_log(app).await {
                            tracing::warn!(error = &error as &dyn std::error::Error, "an audience index fell behind");
                        }
                    }
                    Signal::Jobs => {}
                },
            }
        }
    }
}
