//! The pushes of an app, the newest first, with search.

use axum::extract::State;
use model::ids::PushId;
use model::origin::Origin;
use model::payload::push_type::PushType;
use model::time::UtcMillis;
use schemars::JsonSchema;
use sending::{ListedPush, OriginFilter, PushFilter, PushState, StateFilter};
use serde::Serialize;

use super::push::{OriginOfPush, PushProgress};
use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::query::Params;

pub(super) const STATES: [(&str, StateFilter); 5] = [
    ("accepted", StateFilter::In(PushState::Accepted)),
    ("sending", StateFilter::In(PushState::Sending)),
    ("paused", StateFilter::Paused),
    ("done", StateFilter::In(PushState::Done)),
    ("canceled", StateFilter::In(PushState::Canceled)),
];

#[derive(Serialize, JsonSchema)]
pub(super) struct Page {
    pushes: Vec<Record>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ListedPush")]
pub(super) struct Record {
    push_id: PushId,
    created: String,
    name: Option<String>,
    /// The first title, of those for everybody and for single platforms.
    title: Option<String>,
    /// The first 200 characters of the text. Absent once a push is redacted.
    alert: Option<String>,
    /// `accepted`, `sending`, `paused`, `done` or `canceled`.
    state: &'static str,
    /// Who it was for, and how it came about.
    #[schemars(with = "String")]
    push_type: PushType,
    /// Not there for pushes that were sent with `POST /api/push`.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<OriginOfPush>,
    /// Who asked for it: a credential as in the audit log, or the kind of thing that has sent it.
    author: Option<String>,
    /// Of all platforms together.
    total: PushProgress,
    /// How many inboxes its message was put into. Not there if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    inboxes: Option<u64>,
    opens: Opens,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PushOpens")]
pub(super) struct Opens {
    /// Openings of the app by way of the push.
    direct: u64,
    /// Openings within twelve hours of it, not by way of it.
    influenced: u64,
}

pub(super) async fn list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let (from, to) = (params.date("from"), params.date("to"));
    let filter = PushFilter {
        accepted: from.unwrap_or(UtcMillis(i64::MIN))..to.unwrap_or(UtcMillis(i64::MAX)),
        state: params.choice("state", &STATES),
        origin: params.parsed("origin", origin),
        device_type: params.device_type("device_type"),
        text: params.text("q"),
    };
    let start = params.id("start");
    let limit = params.limit(PageSize::PUSHES);
    let query = params.repeated(&["q", "state", "origin", "device_type", "from", "to"]);
    params.finish()?;
    let (found, next) = edge.engine.sending().list_pushes(app.id, filter, start, limit).await?;
    let next_page = next.map(|next| links.to(&format!("/api/pushes?start={next}&limit={limit}{query}")));
    let pushes = found.into_iter().map(Record::from).collect();
    let answer = Answer::ok(Page { pushes, next_page: next_page.clone() })?.data_attribute("pushes");
    Ok(answer.next_page(next_page.as_deref()))
}

fn origin(text: &str) -> Result<OriginFilter, &'static str> {
    let kinds = ["api", "compose", "test", "template", "schedule", "experiment", "pipeline"];
    if kinds.contains(&text) {
        return Ok(OriginFilter::Kind(text.to_owned()));
    }
    let id = text.parse().map(OriginFilter::Id);
    id.map_err(|_| "This must be api, compose, test, template, schedule, experiment or pipeline, or the id of one of the last four.")
}

impl From<ListedPush> for Record {
    fn from(push: ListedPush) -> Self {
        let ListedPush { entry, total, direct, influenced, inboxes } = push;
        let origin = entry.origin.unwrap_or(Origin::Api);
        let by_origin = origin.id().map(|_| origin.name().to_owned());
        Self {
            push_id: entry.id,
            created: entry.created.to_api(),
            name: entry.texts.name,
            title: entry.texts.title,
            alert: entry.texts.alert,
            state: if entry.paused { "paused" } else { entry.state.name() },
            push_type: entry.push_type,
            origin: OriginOfPush::of(&origin),
            author: entry.author.or(by_origin),
            total: total.into(),
            inboxes: (inboxes > 0).then_some(inboxes),
            opens: Opens { direct, influenced },
        }
    }
}
