//! How many people a draft would reach right now, taken apart, with what is probably not meant.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

use super::draft::Draft;
use crate::error::Error;
use crate::parts::numbers::{count, grouped};
use crate::visit::Visit;

/// The reach, or why it cannot be told.
pub(super) struct Reach(Result<Explanation, Error>);

#[derive(Clone, Deserialize)]
pub(super) struct Explanation {
    pub(super) matched: u64,
    pub(super) reachable: u64,
    pub(super) platforms: BTreeMap<String, Platform>,
    warnings: Vec<Warning>,
}

#[derive(Clone, Deserialize)]
pub(super) struct Platform {
    reachable: u64,
    pub(super) opted_out: u64,
    pub(super) without_address: u64,
}

#[derive(Clone, Deserialize)]
struct Warning {
    message: String,
    /// Names that are like the one that nobody has.
    #[serde(default)]
    near: Vec<String>,
}

impl Reach {
    pub(super) async fn of(visit: &Visit, draft: &Draft) -> Self {
        Self(explain(visit, draft).await)
    }

    pub(super) fn show(&self) -> Markup {
        html! {
            section.reach aria-live="polite" {
                h2 { "Reach, as of now" }
                @match &self.0 {
                    Err(error) => { @for sentence in error.sentences() { p.quiet { (sentence) } } }
                    Ok(reach) => {
                        p.value { (grouped(reach.reachable)) }
                        p { @if reach.reachable == 1 { "device will see it" } @else { "devices will see it" } }
                        (platforms(reach))
                        @for warning in &reach.warnings {
                            p.warning {
                                (warning.message)
                                @if !warning.near.is_empty() { " Did you mean " (warning.near.join(" or ")) "?" }
                            }
                        }
                    }
                }
            }
        }
    }
}

pub(super) async fn explain(visit: &Visit, draft: &Draft) -> Result<Explanation, Error> {
    visit.post("/api/audience/explain", json!({"audience": draft.audience()?, "device_types": "all"})).await
}

fn platforms(reach: &Explanation) -> Markup {
    let sum = |of: fn(&Platform) -> u64| reach.platforms.values().map(of).sum::<u64>();
    let (opted_out, without_address) = (sum(|at| at.opted_out), sum(|at| at.without_address));
    html! {
        ul.plain {
            @for (platform, at) in &reach.platforms { li { (platform) " " strong { (grouped(at.reachable)) } } }
        }
        p.quiet { (count(reach.matched, "device matches", "devices match")) " · " (grouped(opted_out)) " opted out · " (grouped(without_address)) " without an address" }
    }
}
