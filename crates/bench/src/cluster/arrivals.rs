//! When the pushes to single devices arrive at the simulator.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use sim::{Protocol, Simulator};
use tokio::sync::oneshot::Receiver;
use tokio::time::sleep;

/// How many of the newest messages the simulator has to keep.
pub(super) const KEPT: usize = 20_000;
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(50);

#[derive(Default)]
pub(super) struct Arrivals {
    /// By the text of the push: when it came first.
    pub(super) times: HashMap<String, Instant>,
    n_seen: u64,
}

impl Arrivals {
    /// Notices new messages until the text of every push that `expected` names has come, or the time is over.
    pub(super) async fn watch_for(&mut self, sim: &Simulator, expected: &[String], patience: Duration) {
        let began = Instant::now();
        self.look(sim);
        while expected.iter().any(|text| !self.times.contains_key(text)) && began.elapsed() < patience {
            sleep(LOOK_EVERY).await;
            self.look(sim);
        }
    }

    /// Notices new messages until it is told that all clients have ended.
    pub(super) async fn watch(mut self, sim: Arc<Simulator>, mut until: Receiver<()>) -> Self {
        loop {
            self.look(&sim);
            tokio::select! {
                _ = &mut until => return self,
                () = sleep(LOOK_EVERY) => {}
            }
        }
    }

    fn look(&mut self, sim: &Simulator) {
        let n_messages = sim.stats().of(Protocol::Apns).messages;
        let n_new = usize::try_from(n_messages - self.n_seen).unwrap_or(KEPT);
        self.n_seen = n_messages;
        let now = Instant::now();
        for delivery in sim.deliveries(n_new) {
            let body: Value = serde_json::from_str(&delivery.body).unwrap_or_default();
            let alert = &body["aps"]["alert"];
            if let Some(text) = alert.as_str().or_else(|| alert["body"].as_str()) {
                self.times.entry(text.to_owned()).or_insert(now);
            }
        }
    }
}
