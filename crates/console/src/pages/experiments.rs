//! Experiments: variants of one push, how they were received, and what can be concluded.

mod results;

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use model::account::Role;
use model::ids::ExperimentId;
use serde::Deserialize;
use serde_json::Value;

use super::compose;
use crate::answer::Answer;
use crate::dates::time;
use crate::error::Result;
use crate::form::query;
use crate::parts::message_text::message_text;
use crate::parts::numbers::count;
use crate::parts::offsets::offsets;
use crate::parts::states::badge;
use crate::visit::Visit;
use results::Results;

const PAGE: u64 = 10;

#[derive(Deserialize)]
struct Experiments {
    experiments: Vec<Experiment>,
    total_count: u64,
}

#[derive(Deserialize)]
struct One {
    experiment: Experiment,
}

#[derive(Deserialize)]
struct Experiment {
    id: ExperimentId,
    created_at: String,
    name: Option<String>,
    #[serde(default)]
    variants: Vec<Variant>,
}

#[derive(Deserialize)]
struct Variant {
    id: u64,
    #[serde(default)]
    push: Value,
}

impl Experiment {
    fn title(&self) -> String {
        let text = || self.variants.first().map(|variant| message_text(&variant.push));
        self.name.clone().or_else(text).unwrap_or_else(|| "Experiment".to_owned())
    }
}

pub(crate) async fn list(visit: Arc<Visit>) -> Result<Answer> {
    let offset = visit.query.text("offset").and_then(|text| text.parse().ok()).unwrap_or(0_u64);
    let (limit, from) = (PAGE.to_string(), offset.to_string());
    let path = query([("limit", limit.as_str()), ("offset", from.as_str())]);
    let page: Experiments = visit.get(&format!("/api/experiments{path}")).await?;
    let mut rows = Vec::new();
    for experiment in &page.experiments {
        let results: Results = visit.get(&format!("/api/experiments/{}/results", experiment.id)).await?;
        rows.push(row(&visit, experiment, &results));
    }
    let to_try = compose::link(&visit, &[("try", "yes")]);
    let body = html! {
        @if rows.is_empty() {
            div.empty {
                p { "No experiment yet. One sends up to 26 variants of a message, each to its share of the audience, holds back a control \
                     group if you like, and says which variant works best, and how sure that is." }
                @if visit.may(Role::Editor) {
                    p { a href=(to_try) { "Compose a message" } ", and compare two texts, or a text with nothing, in its part “Try”." }
                }
            }
        } @else {
            @if visit.may(Role::Editor) { div.actions { a.button.main href=(to_try) { "Compare two texts" } } }
            div.scroll tabindex="0" {
                table.stack {
                    caption.hidden { "Experiments, the newest first" }
                    thead { tr { th scope="col" { "Experiment" } th scope="col" { "State" } th scope="col" { "Verdict" } th scope="col" { "Made" } } }
                    tbody { @for row in &rows { (row) } }
                }
            }
        }
        (offsets(&visit, offset, PAGE, page.total_count))
    };
    Answer::page("Experiments", body)
}

fn row(visit: &Visit, experiment: &Experiment, results: &Results) -> Markup {
    html! {
        tr {
            td.wide {
                a href=(visit.to(&format!("/experiments/{}", experiment.id))) { (experiment.title()) }
                p.quiet { (count(experiment.variants.len() as u64, "variant", "variants")) @if results.has_control() { " and a control group" } }
            }
            td { (badge(results.state())) }
            td.wide { (results.verdict) }
            td { (time(&experiment.created_at)) }
        }
    }
}

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    let id: ExperimentId = visit.id("experiment")?;
    let One { experiment } = visit.get(&format!("/api/experiments/{id}")).await?;
    let results: Results = visit.get(&format!("/api/experiments/{id}/results")).await?;
    let text = |variant: u64| {
        experiment.variants.iter().find(|known| known.id == variant).map(|known| message_text(&known.push))
    };
    let body = html! {
        p.line { a href=(visit.to("/experiments")) { "All experiments" } " · " (badge(results.state())) " made " (time(&experiment.created_at)) }
        div.notice { h2 { "Verdict" } p { (results.verdict) } }
        (results.table(&visit, text))
        p.quiet { "Opened: devices that opened the app within 12 hours, each once. The range holds the true rate 95 times out of 100." }
        @if !results.has_started && visit.may(Role::Sender) {
            details.ask {
                summary { "Delete…" }
                form method="post" action={ (visit.path) "/delete" } {
                    p { "Nothing of it was sent yet; nothing will be." }
                    button.danger { "Delete the experiment" }
                }
            }
        }
    };
    Answer::page(experiment.title(), body)
}

pub(crate) async fn delete(visit: Arc<Visit>) -> Result<Answer> {
    let id: ExperimentId = visit.id("experiment")?;
    visit.change(Method::DELETE, &format!("/api/experiments/scheduled/{id}"), None).await?;
    Answer::to(visit.to("/experiments"))
}
