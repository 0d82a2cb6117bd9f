//! What a running node can tell of its installation's health: the half of `aerogram doctor` that needs no files.

use base::Result;
use boxed::boxed;
use events::WebhookLag;
use sending::PlatformNotice;
use store::Trouble;

use crate::metrics::Backlog;
use crate::{Engine, NodeView};

/// A job of a dead node is taken over by another within 15 seconds. A job that waits for longer than this has no worker.
const MOST_OVERDUE_SECONDS: i64 = 60;

/// Everything that is looked at.
#[derive(Clone, Debug)]
pub struct Health {
    /// What is wrong with the database, if anything.
    pub database: Option<Trouble>,
    /// Log records that were missing when the database file was opened.
    pub n_missing_records: i64,
    /// Whether timed work waits because the clock has jumped.
    pub is_clock_in_doubt: bool,
    /// How many jobs wait for a worker, and for how many seconds the first of them, if that is too long.
    pub overdue: Option<(i64, i64)>,
    pub platforms: Vec<PlatformNotice>,
    pub webhooks: Vec<WebhookLag>,
    /// Nodes that ended without saying so.
    pub dead_nodes: Vec<NodeView>,
}

#[boxed]
impl Engine {
    /// Looks at everything. While the database cannot be asked, only that is told.
    pub async fn health(&self) -> Result<Health> {
        let database = self.ask_database().await?;
        let mut health = Health {
            database,
            n_missing_records: self.rooms.store.n_missing_records(),
            is_clock_in_doubt: !self.rooms.clock_watch.is_settled(),
            overdue: None,
            platforms: Vec::new(),
            webhooks: Vec::new(),
            dead_nodes: Vec::new(),
        };
        if matches!(health.database, Some(Trouble::Reading | Trouble::Misplaced)) {
            return Ok(health);
        }
        let Backlog { n_overdue, overdue_seconds, .. } = self.backlog().await?;
        health.overdue = (overdue_seconds > MOST_OVERDUE_SECONDS).then_some((n_overdue, overdue_seconds));
        health.platforms = self.rooms.sending.platform_notices().await?;
        health.webhooks = self.rooms.events.webhook_lags().await?;
        health.dead_nodes = self.nodes().await?.into_iter().filter(|node| !node.is_alive).collect();
        Ok(health)
    }
}
