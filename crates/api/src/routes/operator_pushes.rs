//! Pushes of all apps that are on their way, for the operator.

use std::collections::BTreeMap;

use axum::extract::State;
use engine::PushOnItsWay;
use model::ids::PushId;
use model::payload::push_type::PushType;
use serde::Serialize;
use store::pushes::Which;

use super::push::Progress;
use crate::answer::Answer;
use crate::edge::Edge;
use crate::error::Result;
use crate::links::Links;
use crate::query::Params;

const PER_PAGE: u32 = 100;
const MOST_PER_PAGE: u32 = 1000;

/// Without one of these words all of them are listed.
const STATES: [(&str, Which); 3] =
    [("accepted", Which::Accepted), ("sending", Which::Sending), ("paused", Which::Paused)];

#[derive(Serialize)]
struct Page {
    pushes: Vec<Record>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
}

#[derive(Serialize)]
struct Record {
    app: String,
    push_id: PushId,
    push_type: PushType,
    state: &'static str,
    created: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    total: Progress,
    platforms: BTreeMap<String, Progress>,
}

pub(super) async fn list(State(edge): State<Edge>, links: Links, mut params: Params) -> Result<Answer> {
    let which = params.choice("state", &STATES);
    let start = params.id("start");
    let limit = params.number("limit", 1..=MOST_PER_PAGE).unwrap_or(PER_PAGE);
    params.finish()?;
    let (found, next) = edge.engine.pushes_on_their_way(which.unwrap_or(Which::All), start, limit).await?;
    let word = STATES.iter().find(|(_, known)| Some(*known) == which).map(|(word, _)| format!("&state={word}"));
    let link = |start: PushId| {
        links.to(&format!("/operator/pushes?start={start}&limit={limit}{}", word.as_deref().unwrap_or_default()))
    };
    let next_page = next.map(link);
    let pushes = found.into_iter().map(Record::from).collect();
    let answer = Answer::ok(Page { pushes, next_page: next_page.clone() })?.data_attribute("pushes");
    Ok(answer.next_page(next_page.as_deref()))
}

impl From<PushOnItsWay> for Record {
    fn from(push: PushOnItsWay) -> Self {
        let total = push.total().into();
        let platforms = push.platforms.into_iter().map(|(name, progress)| (name, progress.into()));
        Self {
            app: push.app.as_str().to_owned(),
            push_id: push.id,
            push_type: push.push_type,
            state: if push.paused { "paused" } else { push.state.name() },
            created: push.created.to_api(),
            expires: push.expires.map(|expires| expires.to_api()),
            total,
            platforms: platforms.collect(),
        }
    }
}
