//! Reading the sandbox: past deliveries, and deliveries as they happen; clearing it.

mod faults;
mod pushes;

use base::Result;
use boxed::boxed;
use model::ids::AppId;
use model::time::UtcMillis;
use store::Tx;
use store::sandbox::{self, Filter, SandboxDelivery};
use tenancy::{Caller, News};

pub(crate) use faults::{outcome, take_faults};
pub use pushes::SandboxPush;

use crate::Sending;

const PER_READ: u32 = 100;
/// Deliveries that are read at once to be looked through.
const PORTION: u32 = 500;

/// Which deliveries are looked for.
#[derive(Clone, Debug, Default)]
pub struct SandboxQuery {
    pub filter: Filter,
    pub device_type: Option<String>,
    pub transport: Option<String>,
    /// Not before this.
    pub since: Option<UtcMillis>,
    /// A part of the request, in letters of either case.
    pub text: Option<String>,
}

impl From<Filter> for SandboxQuery {
    fn from(filter: Filter) -> Self {
        Self { filter, ..Self::default() }
    }
}

impl SandboxQuery {
    /// Whether the database finds everything that is looked for by itself.
    fn is_simple(&self) -> bool {
        let Self { filter: _, device_type, transport, since, text } = self;
        device_type.is_none() && transport.is_none() && since.is_none() && text.is_none()
    }

    fn takes(&self, delivery: &SandboxDelivery) -> bool {
        let is = |wanted: &Option<String>, value: &str| wanted.as_deref().is_none_or(|wanted| wanted == value);
        let has_text = |text: &String| delivery.request.to_lowercase().contains(&text.to_lowercase());
        is(&self.device_type, &delivery.device_type)
            && is(&self.transport, &delivery.transport)
            && self.since.is_none_or(|since| delivery.at >= since)
            && self.text.as_ref().is_none_or(has_text)
    }
}

#[boxed]
impl Sending {
    /// The newest deliveries before a position, oldest first.
    pub async fn sandbox(
        &self,
        app: AppId,
        query: SandboxQuery,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<(i64, SandboxDelivery)>> {
        self.0.store.read(move |tx| newest(tx, app, &query, before.unwrap_or(i64::MAX), limit)).await
    }

    /// The pushes with deliveries, those with the newest ones first, from a position of these on.
    pub async fn sandbox_pushes(
        &self,
        app: AppId,
        query: SandboxQuery,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<SandboxPush>> {
        let mut pushes = self.0.store.read(move |tx| pushes::all(tx, app, &query)).await?;
        pushes.retain(|push| before.is_none_or(|before| push.position < before));
        pushes.truncate(limit as usize);
        Ok(pushes)
    }

    /// Deliveries as they happen: after a position, or from now on.
    pub async fn sandbox_feed(&self, caller: Caller, query: SandboxQuery, after: Option<i64>) -> Result<SandboxFeed> {
        let app = caller.app().id;
        let news = self.0.tenancy.news(app);
        let position = match after {
            Some(position) => position,
            None => self.0.store.read(move |tx| sandbox::head(tx, app)).await?,
        };
        Ok(SandboxFeed { sending: self.clone(), caller, query, position, news })
    }

    /// Deletes all deliveries. Positions go on, so that streams miss nothing.
    pub async fn clear_sandbox(&self, app: AppId) -> Result<()> {
        Ok(self.0.store.write(app, move |tx| sandbox::clear(tx, app)).await?)
    }
}

/// The database keeps a limited number, so that all of them can be looked through.
fn newest(
    tx: &mut Tx<'_>,
    app: AppId,
    query: &SandboxQuery,
    mut before: i64,
    limit: u32,
) -> Result<Vec<(i64, SandboxDelivery)>> {
    if query.is_simple() {
        return Ok(sandbox::newest(tx, app, before, query.filter, limit)?);
    }
    let mut found = Vec::new();
    loop {
        let portion = sandbox::before(tx, app, before, query.filter, PORTION)?;
        let is_last = portion.len() < PORTION as usize;
        for (position, delivery) in portion {
            before = position;
            if query.takes(&delivery) {
                found.push((position, delivery));
            }
            if found.len() >= limit as usize {
                found.reverse();
                return Ok(found);
            }
        }
        if is_last {
            found.reverse();
            return Ok(found);
        }
    }
}

pub struct SandboxFeed {
    sending: Sending,
    caller: Caller,
    query: SandboxQuery,
    position: i64,
    news: News,
}

#[boxed]
impl SandboxFeed {
    /// The next deliveries with their positions; waits until there are some. `None` once the caller has lost the right to them.
    pub async fn next(&mut self) -> Result<Option<Vec<(i64, SandboxDelivery)>>> {
        while self.sending.0.tenancy.is_current(&self.caller).await? {
            let (app, position, filter) = (self.caller.app().id, self.position, self.query.filter);
            let read = move |tx: &mut Tx<'_>| sandbox::after(tx, app, position, filter, PER_READ);
            let mut found = self.sending.0.store.read(read).await?;
            let Some((last, _)) = found.last() else {
                // A delivery also appends to the log, so the log's signal is the sandbox's signal.
                self.sending.0.tenancy.something_new(&mut self.news).await;
                continue;
            };
            self.position = *last;
            found.retain(|(_, delivery)| self.query.takes(delivery));
            if !found.is_empty() {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}
