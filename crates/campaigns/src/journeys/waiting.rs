//! Requests about journeys of many channels, which wait for their turn: a document each, in order, and one job for all of an app.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{Error, Result, readable};
use jobs::{ClaimedJob, Job, JobId, LEASE, Left, Stop};
use model::ids::{AppId, Id, OperationId, Ordinal};
use model::journey::{Entrance, JourneyTrigger};
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::Tx;
use store::documents::{self, Document, DocumentKind, Order};
use tenancy::IdempotencyKey;
use uuid::Uuid;

use super::{PORTION, audience};
use crate::Campaigns;

const KIND: DocumentKind = DocumentKind::JourneyRequest;
/// An app has one such job at most.
const JOB: Uuid = Uuid::from_u128(0x6a6f_7572_6e65_7973);
/// The events of a portion take about so many bytes at most, half of what one transaction may record.
const PORTION_BYTES: usize = 8 * 1024 * 1024;
/// An event takes so many bytes besides its properties.
const EVENT_BYTES: usize = 512;

/// Who enters which journeys, and with which values.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Entering {
    pub(super) entrances: Vec<Entrance>,
    pub(super) values: BTreeMap<String, Value>,
}

/// A request that waits, and how far it has got. The channels of its audience are kept with it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Waiting {
    Enter {
        entering: Entering,
        /// All channels of the audience up to this one have entered.
        after: Option<Ordinal>,
    },
    Leave {
        /// The entrances that are not done yet.
        entrances: Vec<Entrance>,
    },
}

/// Writes with a portion what is left of its request.
type EndPortion = Arc<dyn Fn(&mut Tx<'_>, Option<&Waiting>) -> Result<()> + Send + Sync>;

/// Works off the requests that wait in an app.
#[derive(Serialize, Deserialize)]
pub(crate) struct MoveThroughJourneys;

impl Job for MoveThroughJourneys {
    type Room = Campaigns;
    const NAME: &'static str = "move_through_journeys";

    /// Running it twice is harmless: a portion writes how far its request has got in the transaction of its events, which fails
    /// unless the job is still held.
    async fn run(self, campaigns: &Campaigns, claimed: &ClaimedJob, stop: &Stop) -> Result<()> {
        let (store, clock) = (&campaigns.0.store, &campaigns.0.shared_clock);
        jobs::in_slices((store, clock), claimed, stop, || campaigns.move_some(claimed)).await
    }
}

impl Campaigns {
    pub(super) async fn is_any_waiting(&self, app: AppId) -> Result<bool> {
        Ok(self.0.store.read(move |tx| documents::count(tx, app, KIND)).await? > 0)
    }

    /// Adds a request to the end of the queue.
    pub(super) async fn let_wait(
        &self,
        app: AppId,
        waiting: Waiting,
        channels: RoaringBitmap,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<OperationId> {
        let now = self.0.clock.now();
        let operation = OperationId::at(now);
        let add = move |tx: &mut Tx<'_>| -> Result<OperationId> {
            let last = documents::page(tx, app, KIND, None, Order::Descending, 1)?;
            let id = id_after(last.first(), operation)?;
            documents::put(tx, app, KIND, &id, &waiting.body()?, now)?;
            audience::keep(tx, app, &id, &channels, now)?;
            // An existing job has not finished, and sees the request before it does.
            jobs::enqueue_as(tx, app, job_id(), now, &MoveThroughJourneys)?;
            Ok(operation)
        };
        self.0.tenancy.write_once(app, idempotency_key, add).await
    }

    /// Moves a portion of the first request that waits.
    async fn move_some(&self, claimed: &ClaimedJob) -> Result<Left> {
        let (app, job) = (claimed.app, claimed.clone());
        let first = move |tx: &mut Tx<'_>| -> Result<Option<Document>> {
            let first = documents::page(tx, app, KIND, None, Order::Ascending, 1)?.pop();
            if first.is_none() {
                jobs::settle(tx, &job)?;
            }
            Ok(first)
        };
        let Some(Document { id, body, .. }) = self.0.store.write(app, first).await? else { return Ok(Left::Nothing) };
        let (now, lease) = (self.0.clock.now(), self.0.shared_clock.lease_begin().plus(LEASE));
        let (job, request) = (claimed.clone(), id.clone());
        let end = move |tx: &mut Tx<'_>, left: Option<&Waiting>| -> Result<()> {
            jobs::renew(tx, &job, lease)?;
            match left {
                Some(left) => documents::put(tx, app, KIND, &request, &left.body()?, now)?,
                None => {
                    documents::delete(tx, app, KIND, &request)?;
                    audience::forget(tx, app, &request)?;
                }
            }
            Ok(())
        };
        let end: EndPortion = Arc::new(end);
        let read = serde_json::from_str(&body).map_err(Error::internal);
        match readable(KIND, &id, read) {
            Some(Waiting::Enter { entering, after }) => self.enter_some(app, id, entering, after, end).await,
            Some(Waiting::Leave { entrances }) => self.leave_some(app, entrances, end).await,
            // It would hold up all that come after it.
            None => self.end_request(app, end).await,
        }
    }

    async fn enter_some(
        &self,
        app: AppId,
        id: String,
        entering: Entering,
        after: Option<Ordinal>,
        end: EndPortion,
    ) -> Result<Left> {
        let at_most = entering.portion();
        let next = self.0.store.read(move |tx| audience::next(tx, app, &id, after, at_most)).await?;
        let Some(mut next) = next else { return self.end_request(app, end).await };
        let channels = std::mem::take(&mut next.channels);
        let after = channels.last().copied().or(after);
        let left = Waiting::Enter { entering: entering.clone(), after };
        let with = move |tx: &mut Tx<'_>| -> Result<()> {
            next.end(tx, app)?;
            end(tx, Some(&left))
        };
        self.enter(app, &entering, channels, None, Arc::new(with)).await?;
        Ok(Left::More)
    }

    async fn end_request(&self, app: AppId, end: EndPortion) -> Result<Left> {
        self.0.store.write(app, move |tx| end(tx, None)).await?;
        Ok(Left::More)
    }

    async fn leave_some(&self, app: AppId, entrances: Vec<Entrance>, end: EndPortion) -> Result<Left> {
        let Some((entrance, others)) = entrances.split_first() else {
            return self.end_request(app, end).await;
        };
        let same = Waiting::Leave { entrances: entrances.clone() };
        let left = Waiting::Leave { entrances: others.to_vec() };
        let with = move |tx: &mut Tx<'_>, is_more: bool| end(tx, Some(if is_more { &same } else { &left }));
        self.let_some_leave(app, entrance, Arc::new(with)).await?;
        Ok(Left::More)
    }
}

impl Entering {
    pub(super) fn new(trigger: JourneyTrigger) -> Self {
        Self { entrances: trigger.entrances(), values: trigger.global_attributes }
    }

    /// How many channels enter in one transaction.
    pub(super) fn portion(&self) -> usize {
        let n_bytes = serde_json::to_vec(&self.values).map_or(0, |text| text.len());
        let of_channel = self.entrances.len().max(1) * (EVENT_BYTES + n_bytes);
        (PORTION_BYTES / of_channel).clamp(1, PORTION as usize)
    }
}

impl Waiting {
    pub(super) fn entering(entering: Entering) -> Self {
        Self::Enter { entering, after: None }
    }

    fn body(&self) -> Result<String> {
        serde_json::to_string(self).map_err(Error::internal)
    }
}

/// The id of a document that sorts after another, and that no other request has.
fn id_after(last: Option<&Document>, operation: OperationId) -> Result<String> {
    let number = match last.and_then(|last| last.id.split_once('-')) {
        Some((number, _)) => number.parse::<u64>().map_err(Error::internal)? + 1,
        None => 0,
    };
    Ok(format!("{number:020}-{operation}"))
}

fn job_id() -> JobId {
    Id::from_uuid(JOB)
}
