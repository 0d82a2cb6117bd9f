//! Segments: audiences that are stored under an id, and are evaluated whenever something is sent to them.

mod cycle;
mod expand;
mod places;
mod reached;

use base::{Error, Result, readable};
use boxed::boxed;
use model::ids::{AppId, OperationId, SegmentId};
use model::json;
use model::segment::SegmentBody;
use model::selector::{Atomic, Selector};
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::documents::{self, Document, DocumentKind, Order};
use tenancy::IdempotencyKey;

use crate::Targeting;
use crate::check::audience_problems;
use crate::past_pushes::unknown_pushes;

pub use places::segment_by_place;
pub(crate) use reached::{Reached, reached};

/// A segment as listings show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentView {
    pub id: SegmentId,
    pub display_name: String,
    pub created: UtcMillis,
    pub modified: UtcMillis,
}

/// The answer to the creation of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedSegment {
    pub operation_id: OperationId,
    pub id: SegmentId,
}

#[boxed]
impl Targeting {
    pub async fn create_segment(
        &self,
        app: AppId,
        body: SegmentBody,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Result<CreatedSegment> {
        self.ready_atlas_for(&body.criteria).await?;
        check(&body)?;
        let now = self.0.clock.now();
        let (id, text) = (SegmentId::at(now), printed(&body)?);
        let operation_id = OperationId::at(now);
        // The id is new, so nothing can refer to it and close a circle.
        self.0
            .tenancy
            .write_once(app, idempotency_key, move |tx| {
                Error::refuse(unknown_pushes(tx, app, &body.criteria, "criteria")?)?;
                documents::put(tx, app, DocumentKind::Segment, &id.to_string(), &text, now)?;
                Ok(CreatedSegment { operation_id, id })
            })
            .await
    }

    pub async fn segment(&self, app: AppId, id: SegmentId) -> Result<SegmentBody> {
        let found = self.0.store.read(move |tx| stored(tx, app, id)).await?;
        found.ok_or(Error::NotFound("segment"))
    }

    /// A page of segments beginning with `start`, and the id the next page begins with. Ids are in the order of creation.
    pub async fn segments(
        &self,
        app: AppId,
        start: Option<SegmentId>,
        order: Order,
        limit: u32,
    ) -> Result<(Vec<SegmentView>, Option<SegmentId>)> {
        self.0
            .store
            .read(move |tx| {
                let start = start.map(|id| id.to_string());
                let mut found = documents::page(tx, app, DocumentKind::Segment, start.as_deref(), order, limit + 1)?;
                let next = (found.len() > limit as usize).then(|| found.pop()).flatten();
                let next = next.map(|next| next.id.parse()).transpose().map_err(Error::internal)?;
                let view = |document: &Document| readable(DocumentKind::Segment, &document.id, view(document));
                Ok((found.iter().filter_map(view).collect(), next))
            })
            .await
    }

    /// Replaces a segment. Pushes sent to it from now on use the new criteria.
    pub async fn update_segment(&self, app: AppId, id: SegmentId, body: SegmentBody) -> Result<()> {
        self.ready_atlas_for(&body.criteria).await?;
        check(&body)?;
        let (now, text) = (self.0.clock.now(), printed(&body)?);
        self.0
            .store
            .write(app, move |tx| {
                // An unreadable segment can be replaced as well.
                if documents::get(tx, app, DocumentKind::Segment, &id.to_string())?.is_none() {
                    return Err(Error::NotFound("segment"));
                }
                Error::refuse(unknown_pushes(tx, app, &body.criteria, "criteria")?)?;
                if let Some(names) = cycle::through(tx, app, id, &body)? {
                    let message = format!("The segment would be part of itself: {}.", names.join(" → "));
                    return Err(Error::invalid("criteria", message));
                }
                Ok(documents::put(tx, app, DocumentKind::Segment, &id.to_string(), &text, now)?)
            })
            .await
    }

    /// Deletes a segment. From now on it is empty, also where other segments refer to it.
    pub async fn delete_segment(&self, app: AppId, id: SegmentId) -> Result<()> {
        let delete = move |tx: &mut Tx<'_>| documents::delete(tx, app, DocumentKind::Segment, &id.to_string());
        if self.0.store.write(app, delete).await? { Ok(()) } else { Err(Error::NotFound("segment")) }
    }
}

/// Criteria that could not be evaluated are refused as they are in a push.
fn check(body: &SegmentBody) -> Result<()> {
    Error::refuse(audience_problems(&body.criteria, "criteria"))
}

fn printed(body: &SegmentBody) -> Result<String> {
    serde_json::to_string(body).map_err(Error::internal)
}

fn stored(tx: &mut Tx<'_>, app: AppId, id: SegmentId) -> Result<Option<SegmentBody>> {
    let found = documents::get(tx, app, DocumentKind::Segment, &id.to_string())?;
    found.as_ref().map(body_of).transpose()
}

/// It was checked when it was stored, so a problem now is our fault.
fn body_of(document: &Document) -> Result<SegmentBody> {
    json::parse(document.body.as_bytes(), SegmentBody::parse).map_err(Error::internal)
}

fn view(document: &Document) -> Result<SegmentView> {
    Ok(SegmentView {
        id: document.id.parse().map_err(Error::internal)?,
        display_name: body_of(document)?.display_name,
        created: document.created,
        modified: document.modified,
    })
}

/// The segments that criteria refer to.
pub(crate) fn references(criteria: &Selector) -> impl Iterator<Item = SegmentId> {
    criteria.atoms().flat_map(Atomic::segments).copied()
}
