//! Drafts: messages that are being written, perhaps approved by a second person, and sent. A draft is approved in one version:
//! whoever changes it makes another, which nobody has approved.

mod approval;
mod send;
mod stored;

use base::{Error, Result};
use boxed::boxed;
use model::draft::{DraftBody, DraftChange, DraftState, DraftType};
use model::ids::{AppId, DraftId, ExperimentId, OperationId, PushId, ScheduleId};
use model::limits;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use store::Tx;
use store::documents::{self, DocumentKind, Order};
use tenancy::IdempotencyKey;

use crate::Campaigns;
use stored::Stored;

/// Drafts that are read at once while those of a state are looked for.
const READ_AT_ONCE: u32 = 100;

const NOT_FOUND: Error = Error::NotFound("draft");

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DraftView {
    pub id: DraftId,
    pub name: Option<String>,
    pub kind: DraftType,
    pub document: Box<RawValue>,
    pub editor: Option<String>,
    pub version: u32,
    pub state: DraftState,
    /// By whose credential this version was written.
    pub written_by: Option<String>,
    pub submitted_by: Option<String>,
    pub approved_by: Option<String>,
    pub sent_by: Option<String>,
    pub sent: Option<SentDraft>,
    pub created: UtcMillis,
    pub modified: UtcMillis,
}

/// The answer to the creation of a draft.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreatedDraft {
    pub operation_id: OperationId,
    pub draft: DraftView,
}

/// What a draft has become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SentDraft {
    PushId(PushId),
    ScheduleId(ScheduleId),
    ExperimentId(ExperimentId),
}

/// A page of a listing of drafts.
#[derive(Clone, Debug)]
pub struct DraftPage {
    pub shown: Vec<DraftView>,
    /// The first draft of the next page.
    pub next: Option<DraftId>,
}

#[boxed]
impl Campaigns {
    /// Keeps a draft. An app that has as many as it may gives up the oldest that was sent.
    pub async fn create_draft(
        &self,
        app: AppId,
        body: DraftBody,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<CreatedDraft> {
        let now = self.0.clock.now();
        let (operation_id, id, new) = (OperationId::at(now), DraftId::at(now), Stored::new(&body, 1)?);
        self.0
            .tenancy
            .write_once(app, idempotency_key, move |tx| {
                make_room(tx, app)?;
                let new = Stored { written_by: asked_by(tx), ..new.clone() };
                new.put(tx, app, id, now)?;
                Ok(CreatedDraft { operation_id, draft: new.view_of(id, now, now) })
            })
            .await
    }

    pub async fn draft(&self, app: AppId, id: DraftId) -> Result<DraftView> {
        let read = move |tx: &mut Tx<'_>| documents::get(tx, app, DocumentKind::Draft, &id.to_string());
        let document = self.0.store.read(read).await?.ok_or(NOT_FOUND)?;
        Stored::view(&document)
    }

    /// Drafts, the newest first, beginning with `start`, and only those of a state if one is given.
    pub async fn drafts(
        &self,
        app: AppId,
        state: Option<DraftState>,
        start: Option<DraftId>,
        limit: u32,
    ) -> Result<DraftPage> {
        let read = move |tx: &mut Tx<'_>| {
            let mut found: Vec<DraftView> = Vec::new();
            let mut from = start.map(|id| id.to_string());
            loop {
                let (kind, order) = (DocumentKind::Draft, Order::Descending);
                let page = documents::page(tx, app, kind, from.as_deref(), order, READ_AT_ONCE)?;
                let views = page.iter().filter_map(Stored::readable_view);
                // The first of a later page was the last of the one before.
                let is_new = |view: &DraftView| found.last().is_none_or(|last| view.id < last.id);
                let fits = |view: &DraftView| state.is_none_or(|state| view.state == state);
                let more: Vec<_> = views.filter(|view| is_new(view) && fits(view)).collect();
                found.extend(more);
                let is_last = page.len() < READ_AT_ONCE as usize;
                if found.len() > limit as usize || is_last {
                    break;
                }
                from = page.last().map(|document| document.id.clone());
            }
            let next = found.get(limit as usize).map(|view| view.id);
            found.truncate(limit as usize);
            Ok(DraftPage { shown: found, next })
        };
        self.0.store.read(read).await
    }

    /// Replaces a draft by another version, which nobody has approved.
    pub async fn change_draft(&self, app: AppId, id: DraftId, change: DraftChange) -> Result<DraftView> {
        let now = self.0.clock.now();
        let new = Stored::new(&change.draft, change.version.saturating_add(1))?;
        self.0
            .store
            .write(app, move |tx| {
                Stored::unsent(tx, app, id, change.version)?;
                Stored { written_by: asked_by(tx), ..new.clone() }.put(tx, app, id, now)
            })
            .await?;
        self.draft(app, id).await
    }

    pub async fn delete_draft(&self, app: AppId, id: DraftId) -> Result<()> {
        let delete = move |tx: &mut Tx<'_>| documents::delete(tx, app, DocumentKind::Draft, &id.to_string());
        if self.0.store.write(app, delete).await? { Ok(()) } else { Err(NOT_FOUND) }
    }
}

fn make_room(tx: &mut Tx<'_>, app: AppId) -> Result<()> {
    if documents::count(tx, app, DocumentKind::Draft)? < limits::DRAFTS_PER_APP {
        return Ok(());
    }
    let mut oldest = None;
    documents::visit(tx, app, DocumentKind::Draft, Order::Ascending, |document| {
        if oldest.is_none() && Stored::readable_view(&document).is_some_and(|view| view.state == DraftState::Sent) {
            oldest = Some(document.id);
        }
        Ok(())
    })?;
    let most = limits::DRAFTS_PER_APP;
    let full = || Error::Conflict(format!("The app has {most} drafts; delete some that are no longer needed."));
    documents::delete(tx, app, DocumentKind::Draft, &oldest.ok_or_else(full)?)?;
    Ok(())
}

/// By whose credential the running command is asked for.
fn asked_by(tx: &Tx<'_>) -> Option<String> {
    tx.requested_by().map(str::to_owned)
}
