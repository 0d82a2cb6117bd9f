//! Reports of custom events. A client library takes no keys but these.

use axum::extract::State;
use events::{EventTotal, EventTotals, Pushes, Sum};
use model::ids::PushId;
use model::report::Precision;
use schemars::JsonSchema;
use serde::Serialize;
use tenancy::App;
use uuid::Uuid;

use super::{group_id, push_id, rest_of};
use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::path_vars::PathVars;
use crate::query::Params;

const MOST_PAGES: u32 = 1_000_000;

/// All events that are counted here came in through the API or from devices.
const LOCATION: &str = "custom";

const MILLIONTHS: f64 = 1_000_000.0;

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct Listing {
    total_count: u64,
    total_value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_page: Option<String>,
    events: Vec<EventRecord>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct OfPush {
    push_id: PushId,
    #[serde(flatten)]
    listing: Listing,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct OfGroup {
    group_id: Uuid,
    #[serde(flatten)]
    listing: Listing,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct EventRecord {
    name: String,
    conversion: &'static str,
    location: &'static str,
    count: u64,
    value: f64,
}

/// Counts over a period, by name. The precision is ignored here, though clients send it.
pub(in crate::routes) async fn events(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let page = Page::read(&mut params, PageSize::EVENT_NAMES);
    let period = super::period(params, Precision::Daily)?;
    let totals = edge.engine.events().event_totals(app.id, period).await?;
    let listing = page.of(totals, &format!("{}&", rest_of(&links, "events", &period)));
    let next_page = listing.next_page.clone();
    Ok(Answer::ok(listing)?.data_attribute("events").next_page(next_page.as_deref()))
}

pub(in crate::routes) async fn events_of_push(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    PathVars(id): PathVars<String>,
    params: Params,
) -> Result<Answer> {
    let push_id = push_id(&id)?;
    let listing = listing_of(&edge, &app, Pushes::One(push_id), &links, &format!("perpush/{push_id}"), params).await?;
    let next_page = listing.next_page.clone();
    Ok(Answer::ok(OfPush { push_id, listing })?.next_page(next_page.as_deref()))
}

pub(in crate::routes) async fn events_of_group(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    PathVars(id): PathVars<String>,
    params: Params,
) -> Result<Answer> {
    let group_id = group_id(&id)?;
    let pushes = Pushes::Group(group_id);
    let listing = listing_of(&edge, &app, pushes, &links, &format!("pergroup/{group_id}"), params).await?;
    let next_page = listing.next_page.clone();
    Ok(Answer::ok(OfGroup { group_id, listing })?.next_page(next_page.as_deref()))
}

async fn listing_of(
    edge: &Edge,
    app: &App,
    pushes: Pushes,
    links: &Links,
    path: &str,
    mut params: Params,
) -> Result<Listing> {
    let page = Page::read(&mut params, PageSize::EVENT_NAMES_OF_PUSH);
    params.finish()?;
    let totals = edge.engine.events().event_totals_of(app.id, pushes).await?;
    Ok(page.of(totals, &links.to(&format!("/api/reports/events/summary/{path}?"))))
}

/// The part of a listing that is asked for.
struct Page {
    number: u32,
    size: u32,
}

impl Page {
    fn read(params: &mut Params, size: PageSize) -> Self {
        let number = params.page("page", MOST_PAGES);
        Self { number, size: params.page_size("page_size", size).unwrap_or(size.usual()) }
    }

    /// The page, with links that begin with a text.
    fn of(&self, totals: EventTotals, base: &str) -> Listing {
        let EventTotals { total, events } = totals;
        let size = self.size as usize;
        let n_pages = events.len().div_ceil(size);
        let link =
            |page: u32| (1..=n_pages).contains(&(page as usize)).then(|| format!("{base}page={page}&page_size={size}"));
        let shown = events.into_iter().skip((self.number as usize - 1) * size).take(size);
        Listing {
            total_count: total.n,
            total_value: value(total),
            next_page: link(self.number + 1),
            prev_page: link(self.number - 1),
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
