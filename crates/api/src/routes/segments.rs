//! Segments. Their answers have the old form: some of them are not objects with `"ok": true`.

use axum::extract::State;
use http::StatusCode;
use model::ids::{SegmentId, SegmentKind};
use model::segment::SegmentBody;
use model::selector::recent_cutoffs;
use schemars::JsonSchema;
use serde::Serialize;
use targeting::{CreatedSegment, Order, SegmentView};

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::path_vars::PathId;
use crate::query::{ORDERS, Params, order_word};

#[derive(Serialize, JsonSchema)]
pub(super) struct Created {
    segment_id: SegmentId,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Page {
    segments: Vec<SegmentRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
}

/// Dates are milliseconds since 1970.
#[derive(Serialize, JsonSchema)]
pub(super) struct SegmentRecord {
    id: SegmentId,
    display_name: String,
    creation_date: i64,
    modification_date: i64,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Cutoff {
    /// The unit of a recent period.
    unit: &'static str,
    /// The first unit that the longest period includes.
    cutoff: String,
}

pub(super) async fn create(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    input: Input,
) -> Result<Answer> {
    let body = input.parse(SegmentBody::parse).await?;
    let CreatedSegment { operation_id, id } =
        edge.engine.targeting().create_segment(app.id, body, input.idempotency_key).await?;
    let answer = Answer::changed(operation_id, Created { segment_id: id })?;
    Ok(answer.status(StatusCode::CREATED).location(&links.to(&format!("/api/segments/{id}"))))
}

pub(super) async fn list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let start = params.id("start");
    let limit = params.limit(PageSize::SEGMENTS);
    // There is nothing else to sort by.
    params.choice("sort", &[("id", ())]);
    let order = params.choice("order", &ORDERS).unwrap_or(Order::Ascending);
    params.finish()?;
    let (page, next) = edge.engine.targeting().segments(app.id, start, order, limit).await?;
    let word = order_word(order);
    let next_page = next.map(|next| links.to(&format!("/api/segments?start={next}&limit={limit}&order={word}")));
    let segments = page.into_iter().map(SegmentRecord::from).collect();
    let answer = Answer::bare(Page { segments, next_page: next_page.clone() })?.data_attribute("segments");
    Ok(answer.next_page(next_page.as_deref()))
}

/// Only the fields of the request.
pub(super) async fn look_up(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<SegmentKind>,
) -> Result<Answer> {
    Answer::bare(edge.engine.targeting().segment(app.id, id).await?)
}

pub(super) async fn update(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<SegmentKind>,
    input: Input,
) -> Result<Answer> {
    let body = input.parse(SegmentBody::parse).await?;
    edge.engine.targeting().update_segment(app.id, id, body).await?;
    Answer::done()
}

pub(super) async fn delete(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<SegmentKind>,
) -> Result<Answer> {
    edge.engine.targeting().delete_segment(app.id, id).await?;
    Ok(Answer::nothing())
}

/// How far back criteria with recent periods can look.
pub(super) async fn dates(State(edge): State<Edge>, CallingApp(_): CallingApp) -> Result<Answer> {
    let cutoffs = recent_cutoffs(edge.engine.clock().now());
    let cutoffs: Vec<_> = cutoffs.into_iter().map(|(unit, cutoff)| Cutoff { unit: unit.key(), cutoff }).collect();
    Answer::bare(cutoffs)
}

impl From<SegmentView> for SegmentRecord {
    fn from(view: SegmentView) -> Self {
        Self {
            id: view.id,
            display_name: view.display_name,
            creation_date: view.created.0,
            modification_date: view.modified.0,
        }
    }
}
