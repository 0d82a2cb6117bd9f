//! Reading the sandbox: what was delivered there, and what is being delivered.

use std::time::Duration;

use model::ids::AppId;
use store::sandbox::{self, Filter, SandboxDelivery};
use store::{Signal, Signals};
use tokio::time;

use crate::{Engine, Result};

const PER_READ: u32 = 100;
/// How long a signal lost between nodes can delay a delivery in the feed.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

impl Engine {
    /// The newest deliveries, oldest first.
    pub async fn sandbox(&self, app: AppId, filter: Filter, limit: u32) -> Result<Vec<(i64, SandboxDelivery)>> {
        Ok(self.0.store.read(move |tx| sandbox::newest(tx, app, filter, limit)).await?)
    }

    /// Deliveries as they happen: after a position, or from now on.
    pub async fn sandbox_feed(&self, app: AppId, filter: Filter, after: Option<i64>) -> Result<SandboxFeed> {
        let signals = self.0.store.signals_of(Signal::Log(app));
        let position = match after {
            Some(position) => position,
            None => self.0.store.read(move |tx| sandbox::head(tx, app)).await?,
        };
        Ok(SandboxFeed { engine: self.clone(), app, filter, position, signals })
    }
}

pub struct SandboxFeed {
    engine: Engine,
    app: AppId,
    filter: Filter,
    position: i64,
    signals: Signals,
}

impl SandboxFeed {
    /// The next deliveries with their positions; waits until there are some.
    pub async fn next(&mut self) -> Result<Vec<(i64, SandboxDelivery)>> {
        loop {
            let (app, position, filter) = (self.app, self.position, self.filter);
            let read = move |tx: &mut store::Tx<'_>| sandbox::after(tx, app, position, filter, PER_READ);
            let found = self.engine.0.store.read(read).await?;
            if let Some((last, _)) = found.last() {
                self.position = *last;
                return Ok(found);
            }
            // A delivery also appends to the log, so the log's signal is the sandbox's signal.
            // Heard or not, it is time to look again.
            let _ = time::timeout(LOOK_AGAIN, self.signals.next()).await;
        }
    }
}
