//! Reading the sandbox: past deliveries, and deliveries as they happen.

use base::Result;
use boxed::boxed;
use model::ids::AppId;
use store::sandbox::{self, Filter, SandboxDelivery};
use tenancy::{Caller, News};

use crate::Sending;

const PER_READ: u32 = 100;

#[boxed]
impl Sending {
    /// The newest deliveries, oldest first.
    pub async fn sandbox(&self, app: AppId, filter: Filter, limit: u32) -> Result<Vec<(i64, SandboxDelivery)>> {
        Ok(self.0.store.read(move |tx| sandbox::newest(tx, app, filter, limit)).await?)
    }

    /// Deliveries as they happen: after a position, or from now on.
    pub async fn sandbox_feed(&self, caller: Caller, filter: Filter, after: Option<i64>) -> Result<SandboxFeed> {
        let app = caller.app().id;
        let news = self.0.tenancy.news(app);
        let position = match after {
            Some(position) => position,
            None => self.0.store.read(move |tx| sandbox::head(tx, app)).await?,
        };
        Ok(SandboxFeed { sending: self.clone(), caller, filter, position, news })
    }
}

pub struct SandboxFeed {
    sending: Sending,
    caller: Caller,
    filter: Filter,
    position: i64,
    news: News,
}

#[boxed]
impl SandboxFeed {
    /// The next deliveries with their positions; waits until there are some. `None` once the caller has lost the right to them.
    pub async fn next(&mut self) -> Result<Option<Vec<(i64, SandboxDelivery)>>> {
        while self.sending.0.tenancy.is_current(&self.caller).await? {
            let (app, position, filter) = (self.caller.app().id, self.position, self.filter);
            let read = move |tx: &mut store::Tx<'_>| sandbox::after(tx, app, position, filter, PER_READ);
            let found = self.sending.0.store.read(read).await?;
            if let Some((last, _)) = found.last() {
                self.position = *last;
                return Ok(Some(found));
            }
            // A delivery also appends to the log, so the log's signal is the sandbox's signal.
            self.sending.0.tenancy.something_new(&mut self.news).await;
        }
        Ok(None)
    }
}
