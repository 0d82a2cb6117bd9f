//! Takes up the jobs of nodes that have died, without waiting for their leases to run out.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::time::Duration;

use base::Result;
use store::jobs;
use store::nodes::{self, Node};
use tokio::time;

use crate::Jobs;

/// A node that is missing twice in a row has died. One that has only lost its connection makes another one in between.
const LOOK_EVERY: Duration = Duration::from_secs(1);

impl Jobs {
    pub(super) async fn keep_watching_nodes(self) -> Infallible {
        if self.0.store.is_single_process() {
            return std::future::pending().await;
        }
        let mut missing = BTreeSet::new();
        loop {
            time::sleep(LOOK_EVERY).await;
            match self.take_up_from(&missing).await {
                Ok(still_missing) => missing = still_missing,
                Err(error) if error.is_of_database() => missing.clear(),
                Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "other nodes cannot be watched"),
            }
        }
    }

    /// Releases the jobs of nodes that were missing already. Returns those that are missing now. Doing it twice, here or on two
    /// nodes at once, is harmless: what was released has no node any more.
    pub(super) async fn take_up_from(&self, missing: &BTreeSet<Node>) -> Result<BTreeSet<Node>> {
        let (store, now) = (&self.0.store, self.0.clock.now());
        let still_missing: BTreeSet<Node> = store.read_all(nodes::missing).await?.into_iter().collect();
        for node in still_missing.intersection(missing).copied() {
            let released = store.write_all(move |tx, part| jobs::release_of(tx, part, node, now)).await?;
            let n_released: u64 = released.into_iter().sum();
            if n_released > 0 {
                tracing::warn!(event = "node.died", jobs = n_released, "took up the work of a node that has died");
            }
        }
        Ok(still_missing)
    }
}
