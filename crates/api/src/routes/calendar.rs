//! The calendar of an app: what was sent and what will be.

use axum::extract::State;
use campaigns::{Calendar, Occurrence, OccurrenceKind};
use model::ids::PushId;
use schemars::JsonSchema;
use serde::Serialize;

use super::push::OriginOfPush;
use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::query::Params;

const MOST_OCCURRENCES: usize = 1000;
/// Longer than a year with the days around it.
const MOST_DAYS: i64 = 400;
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CalendarOccurrences")]
pub(super) struct Page {
    /// In order of their times; the first 1,000.
    occurrences: Vec<Record>,
    /// Whether this is everything.
    complete: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CalendarOccurrence")]
pub(super) struct Record {
    /// In UTC, unless `local` is there.
    at: String,
    /// `sent`: a push; `automated`: the pushes of a pipeline on a day; `scheduled`: to be sent once; `recurring`: to be sent
    /// repeatedly.
    kind: &'static str,
    /// The name, or else what people recognize it by.
    title: Option<String>,
    /// Not there for pushes that were sent with `POST /api/push`.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<OriginOfPush>,
    /// The push, or the first of the day.
    #[serde(skip_serializing_if = "Option::is_none")]
    push_id: Option<PushId>,
    /// How many pushes a pipeline has sent on that day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pushes: Option<u64>,
    /// `true` if the push is sent when the clock of each device shows the time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    local: bool,
    /// `true` if it will not be sent unless the schedule is resumed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    paused: bool,
}

pub(super) async fn occurrences(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    mut params: Params,
) -> Result<Answer> {
    let (from, to) = (params.required_date("from"), params.required_date("to"));
    let (from, to) = params.finish_with(from.zip(to))?;
    if to < from || to.0 - from.0 > MOST_DAYS * DAY_MILLIS {
        return Err(Error::invalid("to", "This must not be before 'from', and at most 400 days after it."));
    }
    let Calendar { occurrences, is_complete } =
        edge.engine.campaigns().calendar(app.id, from..to, MOST_OCCURRENCES).await?;
    let occurrences = occurrences.into_iter().map(Record::from).collect();
    Ok(Answer::ok(Page { occurrences, complete: is_complete })?.data_attribute("occurrences"))
}

impl From<Occurrence> for Record {
    fn from(Occurrence { at, kind, origin, title }: Occurrence) -> Self {
        let record = Self {
            at: at.to_api(),
            kind: "sent",
            title,
            origin: OriginOfPush::of(&origin),
            push_id: None,
            pushes: None,
            local: false,
            paused: false,
        };
        match kind {
            OccurrenceKind::Sent(push) => Self { push_id: Some(push), ..record },
            OccurrenceKind::Automated { first, n_pushes } => {
                Self { kind: "automated", push_id: Some(first), pushes: Some(n_pushes), ..record }
            }
            OccurrenceKind::Planned { recurs, is_local, is_paused } => {
                let kind = if recurs { "recurring" } else { "scheduled" };
                Self { kind, local: is_local, paused: is_paused, ..record }
            }
        }
    }
}
