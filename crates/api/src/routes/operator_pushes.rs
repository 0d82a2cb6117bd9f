//! Pushes of all apps, for the operator: those that are on their way, and any by its id.

use std::collections::BTreeMap;

use axum::extract::State;
use model::ids::{PushId, PushKind};
use model::payload::push_type::PushType;
use schemars::JsonSchema;
use sending::{PushOfApp, Which};
use serde::Serialize;

use super::push::{OriginOfPush, PushProgress};
use crate::answer::Answer;
use crate::edge::Edge;
use crate::error::Result;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::path_vars::PathId;
use crate::query::Params;

/// Without one of these words all of them are listed.
const STATES: [(&str, Which); 3] =
    [("accepted", Which::Accepted), ("sending", Which::Sending), ("paused", Which::Paused)];

#[derive(Serialize, JsonSchema)]
pub(super) struct Page {
    pushes: Vec<Record>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct One {
    push: Record,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OperatorPush")]
pub(super) struct Record {
    app: String,
    push_id: PushId,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[schemars(with = "String")]
    push_type: PushType,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<OriginOfPush>,
    state: &'static str,
    created: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    total: PushProgress,
    platforms: BTreeMap<String, PushProgress>,
    /// How many inboxes its message was put into. Not there if none, nor in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    inboxes: Option<u64>,
}

pub(super) async fn list(State(edge): State<Edge>, links: Links, mut params: Params) -> Result<Answer> {
    let which = params.choice("state", &STATES);
    let start = params.id("start");
    let limit = params.limit(PageSize::PUSHES_ON_THEIR_WAY);
    params.finish()?;
    let (found, next) = edge.engine.sending().pushes_on_their_way(which.unwrap_or(Which::All), start, limit).await?;
    let word = STATES.iter().find(|(_, known)| Some(*known) == which).map(|(word, _)| format!("&state={word}"));
    let link = |start: PushId| {
        links.to(&format!("/operator/pushes?start={start}&limit={limit}{}", word.as_deref().unwrap_or_default()))
    };
    let next_page = next.map(link);
    let pushes = found.into_iter().map(Record::from).collect();
    let answer = Answer::ok(Page { pushes, next_page: next_page.clone() })?.data_attribute("pushes");
    Ok(answer.next_page(next_page.as_deref()))
}

pub(super) async fn one(State(edge): State<Edge>, PathId(id): PathId<PushKind>) -> Result<Answer> {
    let push = edge.engine.sending().push_of_any_app(id).await?;
    Ok(Answer::ok(One { push: Record::from(push) })?.data_attribute("push"))
}

impl From<PushOfApp> for Record {
    fn from(push: PushOfApp) -> Self {
        let platforms = push.platforms().map(|(name, progress)| (name, progress.into())).collect();
        let PushOfApp { app, status } = push;
        Self {
            app: app.as_str().to_owned(),
            push_id: status.id,
            push_type: status.push_type,
            origin: OriginOfPush::of(&status.origin),
            state: if status.paused { "paused" } else { status.state.name() },
            created: status.created.to_api(),
            expires: status.expires.map(|expires| expires.to_api()),
            total: status.total().into(),
            name: status.name,
            platforms,
            inboxes: (status.inboxes > 0).then_some(status.inboxes),
        }
    }
}
