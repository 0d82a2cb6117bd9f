//! Reports of custom events. A client library takes no keys but these.

use axum::extract::State;
use engine::EventTotals;
use model::ids::PushId;
use model::report::Precision;
use serde::Serialize;
use store::counters::Pushes;
use store::event_counters::{EventTotal, Sum};
use uuid::Uuid;

use super::{group_id, push_id, rest_of};
use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::links::Links;
use crate::query::{Params, Segments};

/// The default as well as the limit.
const MOST_PER_PAGE: u32 = 100;
const MOST_PAGES: u32 = 1_000_000;

/// All events that are counted here came in through the API or from devices.
const LOCATION: &str = "custom";

const MILLIONTHS: f64 = 1_000_000.0;

#[derive(Serialize)]
struct Listing {
    total_count: u64,
    total_value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_page: Option<String>,
    events: Vec<EventRecord>,
}

#[derive(Serialize)]
struct OfPush {
    push_id: PushId,
    #[serde(flatten)]
    listing: Listing,
}

#[derive(Serialize)]
struct OfGroup {
    group_id: Uuid,
    #[serde(flatten)]
    listing: Listing,
}

#[derive(Serialize)]
struct EventRecord {
    name: String,
    conversion: &'static str,
    location: &'static str,
    count: u64,
    value: f64,
}

/// What is counted over a time, by name. The precision says nothing here, though clients send it.
pub(in crate::routes) async fn events(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let page = params.number("page", 1..=MOST_PAGES).unwrap_or(1);
    let page_size = params.number("page_size", 1..=MOST_PER_PAGE).unwrap_or(MOST_PER_PAGE);
    let period = super::period(params, Precision::Daily)?;
    let totals = edge.engine.event_totals(app.id, period).await?;
    let n_pages = totals.events.len().div_ceil(page_size as usize);
    let link = |page: u32| {
        (1..=n_pages)
            .contains(&(page as usize))
            .then(|| format!("{}&page={page}&page_size={page_size}", rest_of(&links, "events", &period)))
    };
    let (next_page, prev_page) = (link(page + 1), link(page - 1));
    let skipped = (page as usize - 1) * page_size as usize;
    let listing = Listing { next_page, prev_page, ..Listing::of(totals, skipped, page_size as usize) };
    let next_page = listing.next_page.clone();
    Ok(Answer::ok(listing)?.data_attribute("events").next_page(next_page.as_deref()))
}

pub(in crate::routes) async fn events_of_push(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    Segments(id): Segments<String>,
) -> Result<Answer> {
    let push_id = push_id(&id)?;
    let totals = edge.engine.event_totals_of(app.id, Pushes::One(push_id)).await?;
    Answer::ok(OfPush { push_id, listing: Listing::of(totals, 0, usize::MAX) })
}

pub(in crate::routes) async fn events_of_group(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    Segments(id): Segments<String>,
) -> Result<Answer> {
    let group_id = group_id(&id)?;
    let totals = edge.engine.event_totals_of(app.id, Pushes::Group(group_id)).await?;
    Answer::ok(OfGroup { group_id, listing: Listing::of(totals, 0, usize::MAX) })
}

impl Listing {
    fn of(totals: EventTotals, skipped: usize, at_most: usize) -> Self {
        let EventTotals { total, events } = totals;
        let shown = events.into_iter().skip(skipped).take(at_most);
        Self {
            total_count: total.n,
            total_value: value(total),
            next_page: None,
            prev_page: None,
            events: shown.map(EventRecord::from).collect(),
        }
    }
}

impl From<EventTotal> for EventRecord {
    fn from(total: EventTotal) -> Self {
        let EventTotal { name, conversion, sum } = total;
        Self { name, conversion: conversion.name(), location: LOCATION, count: sum.n, value: value(sum) }
    }
}

fn value(sum: Sum) -> f64 {
    sum.millionths / MILLIONTHS
}
