//! Exporting and erasing a person: requests, their jobs, and what callers are told of them.

mod erase;
mod export;
mod log;
mod person;
mod portion;
mod progress;

use std::sync::Arc;
use std::time::Duration;

use base::{Error, Result};
use boxed::boxed;
use jobs::Kind;
use model::ids::{AppId, Id, OperationId, PrivacyId};
use model::privacy::Subject;
use model::time::UtcMillis;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use store::privacy::{self, Request, RequestKind};
use store::{Store, Tx};
use tenancy::IdempotencyKey;

use crate::sweep::Left;
use crate::{Engine, Rooms};
use erase::ErasePerson;
use export::ExportPerson;
pub use progress::TableReceipt;
use progress::{Progress, Receipt};

/// An export is fetched soon, and is as sensitive as all it was made of.
const EXPORTS_KEPT: Duration = Duration::from_secs(3 * 24 * 60 * 60);
/// A receipt names nobody.
const RECEIPTS_KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);
const FORGOTTEN_AT_ONCE: u32 = 100;

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedPrivacy {
    pub operation_id: OperationId,
    pub id: PrivacyId,
}

/// A request as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivacyView {
    pub id: PrivacyId,
    pub kind: RequestKind,
    pub created: UtcMillis,
    pub ended: Option<UtcMillis>,
    /// When the request and its result are deleted.
    pub expires: Option<UtcMillis>,
    /// What was found in each table, and what was done with it.
    pub tables: Vec<TableReceipt>,
    /// How the database's file was cleaned, in a word.
    pub clean_up: Option<String>,
}

#[boxed]
impl Engine {
    /// Asks for an export or an erasure, which a job carries out.
    pub async fn request_privacy(
        &self,
        app: AppId,
        kind: RequestKind,
        subject: Subject,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<AskedPrivacy> {
        let now = self.rooms.clock.now();
        let subject = json(&subject)?;
        let (progress, receipt) = (json(&Progress::default())?, json(&Receipt::default())?);
        let asked = AskedPrivacy { operation_id: OperationId::at(now), id: PrivacyId::at(now) };
        let write = move |tx: &mut Tx<'_>| {
            let id = asked.id;
            let request = Request {
                id,
                kind,
                created: now,
                ended: None,
                subject: Some(subject.clone()),
                person: None,
                progress: progress.clone(),
                receipt: receipt.clone(),
            };
            privacy::insert(tx, app, &request)?;
            let job = Id::from_uuid(id.uuid());
            match kind {
                RequestKind::Export => jobs::enqueue_as(tx, app, job, now, &ExportPerson { request: id })?,
                RequestKind::Erase => jobs::enqueue_as(tx, app, job, now, &ErasePerson { request: id })?,
            }
            Ok(asked)
        };
        self.rooms.tenancy.write_once(app, idempotency_key, write).await
    }

    pub async fn privacy_request(&self, app: AppId, id: PrivacyId) -> Result<PrivacyView> {
        let found = self.rooms.store.read(move |tx| privacy::get(tx, app, id)).await?;
        let request = found.ok_or(Error::NotFound("privacy request"))?;
        let receipt: Receipt = read(&request.receipt)?;
        let Request { kind, created, ended, .. } = request;
        let (tables, clean_up) = receipt.shown(kind);
        Ok(PrivacyView { id, kind, created, ended, expires: ended.map(|ended| expires(kind, ended)), tables, clean_up })
    }

    /// A piece of what an export has found, counted from 0; `None` after the last.
    pub async fn privacy_result(&self, app: AppId, id: PrivacyId, n: u32) -> Result<Option<Vec<u8>>> {
        let stored = self.rooms.store.read(move |tx| privacy::result(tx, app, id, n)).await?;
        stored.map(|stored| self.rooms.tenancy.open_export(id, n, stored)).transpose()
    }
}

impl Rooms {
    pub(crate) fn privacy_jobs(self: &Arc<Self>) -> [Kind; 2] {
        [Kind::of::<ErasePerson>(self), Kind::of::<ExportPerson>(self)]
    }

    /// Deletes results and receipts that have served their time.
    pub(crate) async fn forget_old_requests(&self, app: AppId) -> Result<Left> {
        let now = self.clock.now();
        let forget = move |tx: &mut Tx<'_>| -> Result<Left> {
            let mut is_more = false;
            for (kind, kept) in [(RequestKind::Export, EXPORTS_KEPT), (RequestKind::Erase, RECEIPTS_KEPT)] {
                let ended = privacy::ended_before(tx, app, kind, now.minus(kept), FORGOTTEN_AT_ONCE)?;
                is_more |= ended.len() == FORGOTTEN_AT_ONCE as usize;
                for request in ended {
                    privacy::overwrite_deleted(tx)?;
                    privacy::delete(tx, app, request.id)?;
                }
            }
            Ok(if is_more { Left::More } else { Left::Nothing })
        };
        self.store.write(app, forget).await
    }
}

fn expires(kind: RequestKind, ended: UtcMillis) -> UtcMillis {
    ended.plus(match kind {
        RequestKind::Export => EXPORTS_KEPT,
        RequestKind::Erase => RECEIPTS_KEPT,
    })
}

/// Whom a request is about; `None` when it is gone.
async fn subject(store: &Store, app: AppId, id: PrivacyId) -> Result<Option<Subject>> {
    let request = store.read(move |tx| privacy::get(tx, app, id)).await?;
    request.and_then(|request| request.subject).map(|subject| read(&subject)).transpose()
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(Error::internal)
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(Error::internal)
}
