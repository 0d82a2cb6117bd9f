//! Takes up the jobs of nodes that have died, without waiting for their leases to run out; and tells the operator whose jobs were
//! taken up.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::time::Duration;

use base::Result;
use serde::Deserialize;
use store::apps::OPERATOR;
use store::documents::{self, DocumentKind};
use store::jobs::{self, ClaimedJob};
use store::nodes::{self, Node};
use tokio::time;

use crate::Jobs;

/// A node that is missing twice in a row has died. One that has only lost its connection makes another one in between.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What a node has noted of itself, as far as others tell of its death by it.
#[derive(Deserialize)]
struct Noted {
    /// The number under which it held its jobs. Earlier versions do not tell.
    lease: Option<Node>,
    /// Earlier versions do not tell.
    name: Option<String>,
    address: String,
}

/// What the operator knows the node by whose work was taken up. Its death is told without that if it is not known.
#[derive(Default)]
struct Former {
    id: Option<String>,
    name: Option<String>,
    address: Option<String>,
}

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
                let Former { id: node, name, address } = self.former(node).await;
                let text = "took up the work of a node that has died";
                tracing::warn!(event = "node.died", node, name, address, jobs = n_released, "{text}");
            }
        }
        Ok(still_missing)
    }

    /// Tells whose jobs these were until their leases ran out: a node that hangs or is cut off from the database may keep its lock,
    /// and is not missing.
    pub(super) async fn record_takeovers(&self, claimed: &[ClaimedJob]) {
        let mut n_taken = BTreeMap::<Node, u64>::new();
        for holder in claimed.iter().filter_map(|job| job.previous_holder) {
            *n_taken.entry(holder).or_default() += 1;
        }
        for (node, n_jobs) in n_taken {
            let Former { id: node, name, address } = self.former(node).await;
            let text = "took up the work of a node that has let its lease run out";
            tracing::warn!(event = "node.lease_expired", node, name, address, jobs = n_jobs, "{text}");
        }
    }

    async fn former(&self, node: Node) -> Former {
        let found = self.0.store.read(|tx| documents::list(tx, OPERATOR, DocumentKind::Node)).await;
        let mut all = found.unwrap_or_default().into_iter();
        let former = all.find_map(|document| {
            let noted: Noted = serde_json::from_str(&document.body).ok()?;
            let Noted { name, address, .. } = noted;
            (noted.lease == Some(node)).then_some(Former { id: Some(document.id), name, address: Some(address) })
        });
        former.unwrap_or_default()
    }
}
