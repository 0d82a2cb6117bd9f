//! Looks after the database: whether a failed one works again, which an idle node would not notice, whether one that is a file is
//! still there and whole, and how far its logs have come.

use std::time::Duration;

use base::Result;
use boxed::boxed;
use store::documents::{self, DocumentKind};
use store::{Pages, Trouble, Tx};
use tenancy::OPERATOR;
use tokio::time;

use crate::Engine;

const ID: &str = "trial";
/// A disk with room for this much counts as not full.
const TRIAL_BYTES: usize = 256 * 1024;
/// A check that did not come to its end is tried again after this, or sooner if checks are more frequent.
const CHECK_AGAIN: Duration = Duration::from_secs(60 * 60);

/// When the pages of a database that is a file are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCheckTimes {
    /// `None`: never, except when somebody asks for it.
    pub every: Option<Duration>,
    /// How long after the start, which has enough to read by itself.
    pub first_after: Duration,
}

impl PageCheckTimes {
    pub const HOURS: u64 = 24;
    pub const DELAY_SECONDS: u64 = 300;
}

impl Default for PageCheckTimes {
    fn default() -> Self {
        let every = Some(Duration::from_secs(Self::HOURS * 60 * 60));
        Self { every, first_after: Duration::from_secs(Self::DELAY_SECONDS) }
    }
}

#[boxed]
impl Engine {
    /// Tries the operation that failed the last time. The store remembers the result and logs a change.
    pub async fn check_database(&self) {
        self.rooms.store.check_file().await;
        match self.rooms.store.trouble() {
            // Nothing was tried that failed.
            None | Some(Trouble::Misplaced | Trouble::Damaged) => {}
            Some(Trouble::Reading) => drop(self.rooms.store.read(store::apps::n_made).await),
            Some(Trouble::Writing) => drop(self.try_to_write().await),
        }
    }

    /// Asks the database something small. Returns what is wrong with it, if anything.
    pub async fn ask_database(&self) -> Result<Option<Trouble>> {
        self.rooms.store.check_file().await;
        match self.rooms.store.read(store::apps::n_made).await {
            Ok(_) => Ok(self.rooms.store.trouble()),
            Err(store::Error::Unavailable(_)) => Ok(Some(Trouble::Reading)),
            Err(error) => Err(error.into()),
        }
    }

    /// Tries to write, so that a node that starts on a full disk does not call itself ready. The store remembers the result.
    pub(crate) async fn try_disk(&self) -> Result<()> {
        match self.try_to_write().await {
            Ok(_) | Err(store::Error::Unavailable(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// What has to be done about every second: a file that is gone is noticed, and how far the logs have come is noted beside it.
    pub async fn look_after_file(&self) {
        self.rooms.store.check_file().await;
        self.rooms.store.save_positions().await;
    }

    /// Reads every page of a database that is a file. The store remembers damage and logs it.
    pub async fn check_pages(&self) -> Result<Option<Pages>> {
        Ok(self.rooms.store.check_pages().await?)
    }

    /// Checks the pages some time after the start and then regularly. A server of PostgreSQL does that by itself.
    pub(crate) async fn keep_checking_pages(self) {
        let PageCheckTimes { every: Some(every), first_after } = self.rooms.page_checks else { return };
        time::sleep(first_after).await;
        loop {
            let began = time::Instant::now();
            let pause = match self.check_pages().await {
                Ok(None) => return,
                Ok(Some(Pages::Whole)) => {
                    tracing::info!(took_ms = began.elapsed().as_millis(), "the pages of the database are whole");
                    every
                }
                Ok(Some(Pages::Damaged(_))) => every,
                Ok(Some(Pages::Unknown)) => {
                    let again = every.min(CHECK_AGAIN);
                    tracing::warn!(
                        took_ms = began.elapsed().as_millis(),
                        again_in_s = again.as_secs(),
                        "not all pages of the database were read, because the write-ahead log got long or the file is gone; it is \
                         tried again"
                    );
                    again
                }
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "the pages of the database cannot be checked; it is tried again");
                    every.min(CHECK_AGAIN)
                }
            };
            time::sleep(pause).await;
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
