//! Checks again whether a failed database works: an idle node would not notice that it has recovered.

use base::Result;
use boxed::boxed;
use store::documents::{self, DocumentKind};
use store::{Trouble, Tx};
use tenancy::OPERATOR;

use crate::Engine;

const ID: &str = "trial";
/// A disk with room for this much counts as not full.
const TRIAL_BYTES: usize = 256 * 1024;

#[boxed]
impl Engine {
    /// Tries the operation that failed the last time. The store remembers the result and logs a change.
    pub async fn check_database(&self) {
        match self.rooms.store.trouble() {
            None => {}
            Some(Trouble::Reading) => drop(self.rooms.store.read(store::apps::n_made).await),
            Some(Trouble::Writing) => drop(self.try_to_write().await),
        }
    }

    /// Asks the database something small. Returns what is wrong with it, if anything.
    pub async fn ask_database(&self) -> Result<Option<Trouble>> {
        match self.rooms.store.read(store::apps::n_made).await {
            Ok(_) => Ok(self.rooms.store.trouble()),
            Err(store::Error::Unavailable(_)) => Ok(Some(Trouble::Reading)),
            Err(error) => Err(error.into()),
        }
    }

    /// Leaves nothing behind.
    async fn try_to_write(&self) -> store::Result<bool> {
        let now = self.rooms.clock.now();
        let (kind, body) = (DocumentKind::WritingTrial, "x".repeat(TRIAL_BYTES));
        let write = move |tx: &mut Tx<'_>| documents::put(tx, OPERATOR, kind, ID, &body, now);
        self.rooms.store.write(OPERATOR, write).await?;
        self.rooms.store.write(OPERATOR, move |tx| documents::delete(tx, OPERATOR, kind, ID)).await
    }
}
