//! Keeps what this process has in memory in step with the store, whichever node changed it.

use std::collections::HashSet;
use std::time::Duration;

use base::Result;
use boxed::boxed;
use jobs::Stop;
use model::ids::AppId;
use store::Signal;
use tokio::sync::watch;
use tokio::time;

use crate::Engine;
use crate::nodes::NOTE_EVERY;

/// How long a signal lost between nodes can leave cached apps out of date.
const FORGET_APPS_EVERY: Duration = Duration::from_secs(5);
/// How soon a database file that is gone, or a clock that was set, is noticed by a node that has nothing to do.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A log that grows many times in a moment is read once: an unused index may lag behind its log by this much.
const PAUSE: Duration = Duration::from_millis(20);
/// After a crash at most this much of the log is replayed.
const SAVE_INDEXES_EVERY: Duration = Duration::from_secs(600);

#[boxed]
impl Engine {
    /// Runs until `shutdown` turns true. Every process needs one, also one that runs no jobs.
    pub async fn follow(&self, mut shutdown: watch::Receiver<bool>) {
        let stop = Stop::new(shutdown.clone());
        let mut signals = self.rooms.store.signals();
        let mut often = time::interval(LOOK_EVERY);
        often.set_missed_tick_behavior(time::MissedTickBehavior::Delay);
        let mut regularly = time::interval(FORGET_APPS_EVERY);
        let mut now_and_then = time::interval_at(time::Instant::now() + SAVE_INDEXES_EVERY, SAVE_INDEXES_EVERY);
        let mut noting = time::interval(NOTE_EVERY);
        noting.set_missed_tick_behavior(time::MissedTickBehavior::Delay);
        let checking = tokio::spawn(self.clone().keep_checking_pages());
        while !stop.is_requested() {
            tokio::select! {
                _ = shutdown.changed() => {}
                _ = often.tick() => {
                    self.look_at_clock().await;
                    self.look_after_file().await;
                }
                _ = regularly.tick() => {
                    self.rooms.shared_clock.compare(&self.rooms.store).await;
                    self.rooms.events.forget_unused_webhooks();
                    self.check_database().await;
                    self.write_token_uses().await;
                    self.look_at_apps().await;
                }
                _ = noting.tick() => self.note_node().await,
                _ = now_and_then.tick() => self.rooms.index.save_indexes().await,
                changed = signals.all() => {
                    for signal in changed {
                        self.on_signal(signal).await;
                    }
                    time::sleep(PAUSE).await;
                }
            }
        }
        checking.abort();
        self.rooms.index.save_indexes().await;
        self.write_token_uses().await;
        self.leave().await;
    }

    async fn write_token_uses(&self) {
        if let Err(error) = self.rooms.tenancy.write_token_uses().await
            && !error.is_of_database()
        {
            tracing::warn!(error = &error as &dyn std::error::Error, "when tokens were used cannot be written");
        }
    }

    async fn on_signal(&self, signal: Signal) {
        match signal {
            Signal::Apps => self.look_at_apps().await,
            Signal::Log(app) => {
                // A caller that needs the index at an offset catches up by itself; this only keeps that short.
                if let Err(error) = self.rooms.index.follow_log(app).await
                    && !error.is_of_database()
                {
                    tracing::warn!(error = &error as &dyn std::error::Error, "an audience index fell behind");
                }
            }
            Signal::Jobs => {}
        }
    }

    /// Apps may have been changed or deleted, here or on another node: cached data is read again when needed, and what is kept of
    /// deleted apps is given up.
    pub async fn look_at_apps(&self) {
        self.rooms.tenancy.forget_known_apps();
        self.rooms.accounts.forget_visitors();
        if let Err(error) = self.forget_deleted_apps().await
            && !error.is_of_database()
        {
            tracing::warn!(error = &error as &dyn std::error::Error, "deleted apps cannot be looked for");
        }
    }

    /// Gives up the indexes of deleted apps, with their snapshots, and their credentials and connections: the job that erases an
    /// app runs on one node only.
    async fn forget_deleted_apps(&self) -> Result<()> {
        // In this order: an app that has anything here before the apps are read is among them, unless it was deleted.
        let mut here: HashSet<AppId> = self.rooms.index.apps().into_iter().collect();
        here.extend(self.rooms.sending.apps());
        here.extend(self.rooms.events.apps());
        here.extend(self.rooms.remote_data.apps());
        here.extend(self.rooms.store.apps_with_recent_log());
        let saved = self.rooms.index.saved_apps().await;
        if here.is_empty() && saved.as_ref().is_ok_and(HashSet::is_empty) {
            return Ok(());
        }
        let apps: HashSet<AppId> = self.rooms.tenancy.apps().await?.into_iter().map(|app| app.id).collect();
        self.rooms.sending.retain_recent(|app| apps.contains(&app));
        self.rooms.store.retain_recent_logs(|app| apps.contains(&app));
        for deleted in here.into_iter().filter(|app| !apps.contains(app)) {
            self.rooms.index.forget(deleted);
            self.rooms.campaigns.forget_app(deleted);
            self.rooms.sending.forget_app(deleted);
            self.rooms.events.forget_app(deleted);
            self.rooms.remote_data.forget_app(deleted);
        }
        for deleted in saved?.into_iter().filter(|app| !apps.contains(app)) {
            self.rooms.index.remove_snapshot(deleted).await?;
        }
        Ok(())
    }
}
