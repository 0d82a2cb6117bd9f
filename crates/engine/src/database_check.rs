//! Checks again whether a failed database works: an idle node would not notice that it has recovered.

use store::documents::{self, DocumentKind};
use store::{Trouble, Tx};

use crate::Engine;
use crate::apps::OPERATOR;

const ID: &str = "trial";
/// A disk with room for this much counts as not full.
const TRIAL_BYTES: usize = 256 * 1024;

impl Engine {
    /// Tries the operation that failed the last time. The store remembers the result and logs a change.
    pub async fn check_database(&self) {
        match self.0.store.trouble() {
            None => {}
            Some(Trouble::Reading) => drop(self.0.store.read(store::jobs::next_due).await),
            Some(Trouble::Writing) => drop(self.try_to_write().await),
        }
    }

    /// Leaves nothing behind.
    async fn try_to_write(&self) -> store::Result<bool> {
        let now = self.clock().now();
        let (kind, body) = (DocumentKind::WritingTrial, "x".repeat(TRIAL_BYTES));
        let write = move |tx: &mut Tx<'_>| documents::put(tx, OPERATOR, kind, ID, &body, now);
        self.0.store.write(OPERATOR, write).await?;
        self.0.store.write(OPERATOR, move |tx| documents::delete(tx, OPERATOR, kind, ID)).await
    }
}
