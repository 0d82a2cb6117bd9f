//! What feeds wait for: new records of their app.

use std::time::Duration;

use base::Result;
use boxed::boxed;
use model::ids::{AppId, Offset};
use store::{Signal, Signals, Tx};
use tokio::time;

use crate::Tenancy;

/// How long a signal lost between nodes can delay a feed.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

pub struct News {
    log: Signals,
    apps: Signals,
}

#[boxed]
impl Tenancy {
    pub fn news(&self, app: AppId) -> News {
        News { log: self.0.store.signals_of(Signal::Log(app)), apps: self.0.store.signals_of(Signal::Apps) }
    }

    /// The position of the newest record of an app's log.
    pub async fn log_head(&self, app: AppId) -> Result<Offset> {
        Ok(self.0.store.read(move |tx: &mut Tx<'_>| store::log::head(tx, app)).await?)
    }

    /// Waits until it is time to look again: something was appended to the log of the app, apps have changed, or a while has
    /// passed.
    pub async fn something_new(&self, news: &mut News) {
        let heard = async {
            tokio::select! {
                _ = news.log.next() => {}
                // Checks the caller's rights against the database, not the cache.
                _ = news.apps.next() => self.0.apps.clear(),
            }
        };
        // With or without a signal, it is time to look again.
        let _ = time::timeout(LOOK_AGAIN, heard).await;
    }
}
