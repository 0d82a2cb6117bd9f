//! Pipelines as they are stored, and the data that all pipelines of an app share: a revision that changes with any of them, and
//! rates.

use base::{Error, Result, readable, stored_body};
use model::ids::{AppId, Offset, OperationId, PipelineId};
use model::json;
use model::pipeline::{Pipeline, Rate, parse_global_rates};
use model::time::UtcMillis;
use serde::{Deserialize, Deserializer, Serialize};
use store::Tx;
use store::documents::{self, Document, DocumentKind, Order};
use store::privacy::CleanedDocuments;

use super::PipelineView;
use super::timers::WaitingList;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Stored {
    #[serde(deserialize_with = "pipeline")]
    pub(super) pipeline: Pipeline,
    /// Apart from the document's own, which changes with `checked_day`.
    pub(super) modified: UtcMillis,
    /// Only log records after this trigger it.
    pub(super) since: Offset,
    /// Earlier events do not count, however late they are recorded.
    pub(super) since_time: UtcMillis,
    /// The last day for which inactive channels were looked for, in days since 1970.
    pub(super) checked_day: i32,
    /// Of its waiting list.
    pub(super) generation: u32,
}

/// The documents that pipelines share.
const REVISION: &str = "revision";
const RATES: &str = "rates";

impl Stored {
    /// For a job of the pipeline. An unreadable one is as good as none: trying again would not help.
    pub(super) fn find(tx: &mut Tx<'_>, app: AppId, id: PipelineId) -> Result<Option<Self>> {
        let document = documents::get(tx, app, DocumentKind::Pipeline, &id.to_string())?;
        Ok(document.as_ref().and_then(Self::readable))
    }

    pub(super) fn readable(document: &Document) -> Option<Self> {
        readable(DocumentKind::Pipeline, &document.id, Self::read(&document.body))
    }

    /// Visits every enabled pipeline; there may be a thousand, with long payloads. An unreadable one does not keep the others from
    /// working.
    pub(super) fn each_enabled(tx: &mut Tx<'_>, app: AppId, mut visit: impl FnMut(PipelineId, &Self)) -> Result<()> {
        documents::visit(tx, app, DocumentKind::Pipeline, Order::Ascending, |document| {
            let id = readable(DocumentKind::Pipeline, &document.id, document.id.parse().map_err(Error::internal));
            let enabled = Self::readable(&document).filter(|stored| stored.pipeline.enabled);
            if let (Some(id), Some(stored)) = (id, enabled) {
                visit(id, &stored);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// For a listing, in which an unreadable pipeline does not hide the others.
    pub(super) fn readable_view(document: &Document, now: UtcMillis) -> Option<PipelineView> {
        readable(DocumentKind::Pipeline, &document.id, Self::view(document, now))
    }

    /// It was checked when it was stored, so a problem now is our fault.
    pub(super) fn read(body: &str) -> Result<Self> {
        serde_json::from_str(body).map_err(Error::internal)
    }

    pub(super) fn view(document: &Document, now: UtcMillis) -> Result<PipelineView> {
        let Self { pipeline, modified, .. } = Self::read(&document.body)?;
        let id = document.id.parse().map_err(Error::internal)?;
        Ok(PipelineView { id, status: pipeline.status(now), pipeline, created: document.created, modified })
    }

    pub(super) fn put(&self, tx: &mut Tx<'_>, app: AppId, id: PipelineId, now: UtcMillis) -> Result<()> {
        let body = serde_json::to_string(self).map_err(Error::internal)?;
        Ok(documents::put(tx, app, DocumentKind::Pipeline, &id.to_string(), &body, now)?)
    }

    pub(super) fn list(&self, id: PipelineId) -> WaitingList {
        WaitingList { pipeline: id, generation: self.generation }
    }
}

fn pipeline<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Pipeline, D::Error> {
    stored_body(deserializer, Pipeline::parse_stored)
}

/// The waiting list of a stored pipeline, also of one that cannot be read otherwise.
pub(super) fn waiting_list(id: PipelineId, body: &str) -> WaitingList {
    #[derive(Default, Deserialize)]
    struct Part {
        generation: u32,
    }
    let Part { generation } = serde_json::from_str(body).unwrap_or_default();
    WaitingList { pipeline: id, generation }
}

/// Marks the pipelines as changed, so that caches read them again.
pub(super) fn renew_revision(tx: &mut Tx<'_>, app: AppId, now: UtcMillis) -> Result<()> {
    let revision = OperationId::random().to_string();
    Ok(documents::put(tx, app, DocumentKind::Automation, REVISION, &revision, now)?)
}

/// After names were replaced in documents: nodes that know the pipelines with them read them again.
pub fn note_cleaned(tx: &mut Tx<'_>, app: AppId, cleaned: &CleanedDocuments, now: UtcMillis) -> Result<()> {
    if cleaned.has(DocumentKind::Pipeline) {
        renew_revision(tx, app, now)?;
    }
    Ok(())
}

pub(super) fn revision(tx: &mut Tx<'_>, app: AppId) -> Result<Option<String>> {
    Ok(documents::get(tx, app, DocumentKind::Automation, REVISION)?.map(|document| document.body))
}

pub(super) fn global_rates(tx: &mut Tx<'_>, app: AppId) -> Result<Vec<Rate>> {
    match documents::get(tx, app, DocumentKind::Automation, RATES)? {
        Some(document) => json::parse(document.body.as_bytes(), parse_global_rates).map_err(Error::internal),
        None => Ok(Vec::new()),
    }
}

pub(super) fn put_global_rates(tx: &mut Tx<'_>, app: AppId, rates: &[Rate], now: UtcMillis) -> Result<()> {
    let body = serde_json::to_string(rates).map_err(Error::internal)?;
    Ok(documents::put(tx, app, DocumentKind::Automation, RATES, &body, now)?)
}
