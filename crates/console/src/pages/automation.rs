//! Messages that are sent by themselves: what sets each pipeline off, how long it waits, on what condition, and what it sends.

pub(crate) mod edit;
mod facts;
mod trigger;
mod words;
mod written;

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use model::account::Role;
use model::ids::PipelineId;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::form::query;
use crate::parts::message_text::message_text;
use crate::parts::numbers::{grouped, percent};
use crate::parts::offsets::offsets;
use crate::parts::states::badge;
use crate::visit::Visit;

const PAGE: u64 = 10;

#[derive(Deserialize)]
struct Pipelines {
    pipelines: Vec<Pipeline>,
    total_count: u64,
}

#[derive(Deserialize)]
struct One {
    pipeline: Value,
}

#[derive(Deserialize)]
struct Found {
    pipeline: Pipeline,
}

#[derive(Deserialize)]
struct Pipeline {
    uid: PipelineId,
    status: String,
    last_modified_time: String,
    /// As it was sent.
    #[serde(flatten)]
    body: Value,
}

#[derive(Deserialize)]
struct Counts {
    sends: u64,
    direct_responses: u64,
}

impl Pipeline {
    fn is_enabled(&self) -> bool {
        self.body["enabled"] == json!(true)
    }
}

pub(crate) async fn list(visit: Arc<Visit>) -> Result<Answer> {
    let offset = visit.query.text("offset").and_then(|text| text.parse().ok()).unwrap_or(0_u64);
    let enabled = visit.query.text("enabled").unwrap_or_default();
    let (limit, from) = (PAGE.to_string(), offset.to_string());
    let path = query([("limit", limit.as_str()), ("offset", from.as_str()), ("enabled", enabled)]);
    let only = visit.query.text("id").and_then(|id| id.parse::<PipelineId>().ok());
    let page: Pipelines = match only {
        Some(id) => {
            let Found { pipeline } = visit.get(&format!("/api/pipelines/{id}")).await?;
            Pipelines { pipelines: vec![pipeline], total_count: 1 }
        }
        None => visit.get(&format!("/api/pipelines{path}")).await?,
    };
    let mut cards = Vec::new();
    for pipeline in &page.pipelines {
        let counts: Option<Counts> = visit.find(&format!("/api/reports/pergroup/detail/{}", pipeline.uid)).await?;
        cards.push(card(&visit, pipeline, counts.as_ref()));
    }
    let body = html! {
        @if visit.may(Role::Sender) { p { a.button.main href=(visit.to("/automation/new")) { "Make an automation" } } }
        nav.tabs aria-label="Which automations" {
            @for (value, name) in [("", "All"), ("true", "On"), ("false", "Off")] {
                @let is_shown = value == enabled && only.is_none();
                a href={ (visit.path) (query([("enabled", value)])) } aria-current=[is_shown.then_some("page")] { (name) }
            }
        }
        @if page.pipelines.is_empty() {
            div.empty {
                @if enabled.is_empty() {
                    p { "No automation yet. One sends a message to a device when something happens to it: a first open, a tag, a custom \
                         event, or many days without an open." }
                } @else { p { "None of them. " a href=(visit.path) { "Show all" } } }
            }
        }
        @if only.is_some() {
            @for off in page.pipelines.iter().filter(|pipeline| !pipeline.is_enabled()) { (switched_off(&visit, off)) }
        }
        @for card in &cards { (card) }
        (offsets(&visit, offset, PAGE, page.total_count))
    };
    Answer::page("Automation", body)
}

/// Switches a pipeline on or off, and shows it then; or deletes it.
pub(crate) async fn act(visit: Arc<Visit>) -> Result<Answer> {
    let id: PipelineId = visit.id("pipeline")?;
    let path = format!("/api/pipelines/{id}");
    let enabled = match visit.var("action") {
        "on" => true,
        "off" => false,
        "delete" => {
            visit.change(Method::DELETE, &path, None).await?;
            return Answer::to(visit.to("/automation"));
        }
        _ => return Err(Error::NotFound("There is no such page.".to_owned())),
    };
    let One { mut pipeline } = visit.get(&path).await?;
    pipeline["enabled"] = json!(enabled);
    visit.change(Method::PUT, &path, Some(pipeline)).await?;
    Answer::to(visit.to(&format!("/automation?id={id}")))
}

/// What somebody who has made one, and looks at it, does next.
fn switched_off(visit: &Visit, pipeline: &Pipeline) -> Markup {
    html! {
        div.notice.warn role="status" {
            p { strong { "It is switched off." } " Nothing is sent by it until somebody switches it on." }
            @if visit.may(Role::Sender) {
                form.actions method="post" action=(visit.to(&format!("/automation/{}/on", pipeline.uid))) {
                    button.main { "Switch it on" }
                }
            }
        }
    }
}

fn card(visit: &Visit, pipeline: &Pipeline, counts: Option<&Counts>) -> Markup {
    let body = &pipeline.body;
    let name = body["name"].as_str().unwrap_or("Without a name");
    html! {
        section.card {
            div.head {
                h2 { (name) " " (badge(&pipeline.status)) }
                span.quiet { "changed " (time(&pipeline.last_modified_time)) }
            }
            ol.flow { @for (label, words) in steps(body) { li { span.quiet { (label) } p { (words) } } } }
            @match counts {
                Some(Counts { sends, direct_responses }) => p {
                    strong { (grouped(*sends)) } " sent · " strong { (grouped(*direct_responses)) } " opened by it "
                    span.quiet { (percent(*direct_responses, *sends)) } " · "
                    a href={ (visit.to("/messages")) (query([("origin", "pipeline")])) } { "what automations have sent" }
                },
                None => p.quiet { "Nothing was sent by it yet." },
            }
            @if visit.may(Role::Sender) {
                div.buttons {
                    a.button href=(visit.to(&format!("/automation/{}/edit", pipeline.uid))) aria-label={ "Change: " (name) } { "Change it" }
                    @let (action, label) = if pipeline.is_enabled() { ("off", "Switch off") } else { ("on", "Switch on") };
                    form method="post" action=(visit.to(&format!("/automation/{}/{action}", pipeline.uid))) {
                        button aria-label={ (label) ": " (name) } { (label) }
                    }
                    details.ask {
                        summary { "Delete…" }
                        form method="post" action=(visit.to(&format!("/automation/{}/delete", pipeline.uid))) {
                            p { "Devices that wait for it get nothing. What it has sent stays in the reports." }
                            button.danger { "Delete " (name) }
                        }
                    }
                }
            }
        }
    }
}

fn steps(body: &Value) -> Vec<(&'static str, String)> {
    let mut steps = vec![("When", words::triggers(body))];
    steps.extend(words::delay(body).map(|words| ("Wait", words)));
    steps.extend(words::cancellation(body).map(|words| ("Unless", words)));
    steps.extend(words::window(body).map(|words| ("Only at", words)));
    steps.extend(words::conditions(body).map(|words| ("If", words)));
    let outcomes = words::many(&body["outcome"]);
    let texts: Vec<String> = outcomes.iter().map(|outcome| format!("“{}”", message_text(&outcome["push"]))).collect();
    steps.extend(words::rates(body).map(|words| ("At most", words)));
    steps.push(("Send", texts.join(" and ")));
    steps
}
