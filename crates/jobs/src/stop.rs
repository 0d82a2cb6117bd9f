//! How a long job learns that the process is about to end.

use boxed::boxed;
use tokio::sync::watch;

/// Tells a long job that the process is about to end, so that it can stop at its next checkpoint.
#[derive(Clone)]
pub struct Stop(watch::Receiver<bool>);

#[boxed]
impl Stop {
    /// Requested when the value turns true.
    pub const fn new(requested: watch::Receiver<bool>) -> Self {
        Self(requested)
    }

    /// Also when no sender is left: then there is nobody to work for.
    pub fn is_requested(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Completes when the stop is requested.
    pub async fn requested(&self) {
        // An error says that nobody is left who could request it.
        let _ = self.0.clone().wait_for(|is_requested| *is_requested).await;
    }
}
