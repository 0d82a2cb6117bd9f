//! Why a person got a message, or did not: the steps that it went through, as sentences.

use maud::{Markup, html};
use model::ids::PushId;
use serde::Deserialize;
use serde_json::Value;

use super::Who;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::form::query;
use crate::pages::messages::{Listed, Pushes};
use crate::parts::conditions::{Conditions, Known, sentence};
use crate::parts::devices::device;
use crate::parts::fields::{Field, choice};
use crate::parts::outcomes;
use crate::visit::Visit;

/// Messages to choose from.
const RECENT: &str = "25";

#[derive(Deserialize)]
struct Why {
    devices: Vec<OfDevice>,
}

#[derive(Deserialize)]
pub(super) struct OfDevice {
    channel_id: String,
    device_type: String,
    outcome: String,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
pub(super) struct Step {
    text: String,
    at: Option<String>,
    clause: Option<Clause>,
}

#[derive(Deserialize)]
pub(super) struct Clause {
    path: String,
    selector: Option<Value>,
    matched: bool,
    as_of: String,
    #[serde(default)]
    clauses: Vec<Clause>,
}

/// What is known about the message that was asked for.
enum Found {
    NotAsked,
    Told { push: PushId, devices: Vec<OfDevice> },
    Wrong(Error),
}

/// The answer, and what else can be asked about.
pub(super) struct Reasons {
    found: Found,
    recent: Vec<Listed>,
}

impl Reasons {
    pub(super) async fn of(visit: &Visit, who: Who<'_>) -> Result<Self> {
        let Pushes { pushes, .. } = visit.get(&format!("/api/pushes{}", query([("limit", RECENT)]))).await?;
        Ok(Self { found: Found::of(visit, who).await?, recent: pushes })
    }

    pub(super) fn section(&self, visit: &Visit, who: Who<'_>) -> Markup {
        let (error, told) = match &self.found {
            Found::NotAsked => (None, None),
            Found::Wrong(error) => (Some(error), None),
            Found::Told { push, devices } => (None, Some((push, devices))),
        };
        let asked = asked(visit).unwrap_or_default();
        let is_recent = self.recent.iter().any(|push| push.push_id == asked);
        let older = if is_recent { "" } else { asked };
        let choices: Vec<(&str, String)> =
            self.recent.iter().map(|push| (push.push_id.as_str(), push.in_a_line(visit.zone()))).collect();
        let none = [("", "Choose one")].into_iter().filter(|_| !is_recent);
        let choices: Vec<(&str, &str)> = none.chain(choices.iter().map(|(id, words)| (*id, words.as_str()))).collect();
        html! {
            section #why {
                h2 { "Why not?" }
                p.quiet { "Why a message came, or did not: the steps it went through for this " (word(who)) "." }
                form.filter method="get" action={ (visit.path) "#why" } {
                    @for name in ["id", "kind", "before", "trail"] {
                        @if let Some(value) = visit.query.exact(name) { input type="hidden" name=(name) value=(value); }
                    }
                    @if !self.recent.is_empty() { (choice("push", "A recent message", &choices, asked)) }
                    (Field::text("older", "Or the id of another").optional().value(older).show(error))
                    button { "Explain" }
                }
                @if let Some((push, devices)) = told {
                    p { a href=(visit.to(&format!("/messages/{push}"))) { "The message" } }
                    @for of in devices { (explained(visit, of)) }
                }
            }
        }
    }
}

impl Found {
    async fn of(visit: &Visit, who: Who<'_>) -> Result<Self> {
        let Some(text) = asked(visit) else { return Ok(Self::NotAsked) };
        let Ok(push) = text.parse::<PushId>() else {
            let sentence =
                "This is no id of a message. It is at the end of the page of the message, and in its address.";
            return Ok(Self::Wrong(Error::invalid("older", sentence)));
        };
        match visit.get::<Why>(&format!("/api/push/{push}/why{}", query([who.field()]))).await {
            Ok(Why { devices }) => Ok(Self::Told { push, devices }),
            Err(Error::NotFound(sentence)) => Ok(Self::Wrong(Error::invalid("older", &sentence))),
            Err(other) => Err(other),
        }
    }
}

/// The message that is asked about: typed, or chosen.
fn asked(visit: &Visit) -> Option<&str> {
    visit.query.text("older").or_else(|| visit.query.text("push"))
}

const fn word(who: Who<'_>) -> &'static str {
    match who {
        Who::User(_) => "person",
        Who::Channel(_) => "device",
    }
}

fn explained(visit: &Visit, of: &OfDevice) -> Markup {
    html! {
        article.card {
            h3 { (device(visit, &of.device_type, &of.channel_id)) " " (outcomes::badge(&of.outcome)) }
            ol.steps {
                @for step in &of.steps {
                    li {
                        (step.text) @if let Some(at) = &step.at { " " span.quiet { (time(at)) } }
                        @if let Some(clause) = &step.clause { ul.clauses { (clause_line(clause)) } }
                    }
                }
            }
        }
    }
}

fn clause_line(clause: &Clause) -> Markup {
    html! {
        li {
            span.met.(if clause.matched { "good" } else { "bad" }) { (if clause.matched { "yes" } else { "no" }) }
            " "
            @match &clause.selector {
                Some(selector) => (in_words(selector)),
                None => (operator(clause)),
            }
            @if clause.as_of == "now" { " " span.quiet { "as of now: what it was then is not known" } }
            @if !clause.clauses.is_empty() { ul.clauses { @for part in &clause.clauses { (clause_line(part)) } } }
        }
    }
}

/// The condition as Compose tells it, or as it is where Compose has no words for it.
fn in_words(selector: &Value) -> Markup {
    let words = sentence(&Conditions::of(selector), &Known::default());
    match words.filter(|words| !words.contains('{')) {
        Some(words) => html! { span title=(selector) { (words) } },
        None => html! { code { (selector) } },
    }
}

/// Words for what joins the parts of a clause, which their paths tell.
fn operator(clause: &Clause) -> &'static str {
    let first = clause.clauses.first().and_then(|part| part.path.strip_prefix(clause.path.as_str())?.strip_prefix('.'));
    let name = first.and_then(|rest| rest.split(['[', '.']).next()).unwrap_or_default();
    match name.to_ascii_lowercase().as_str() {
        "and" => "all of these",
        "or" => "one of these",
        "not" => "not this",
        _ => "these together",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn operators_are_told_in_words() {
        let joined = |name: &str| {
            let part = json!({"path": format!("audience.or[1].{name}[0]"), "matched": true, "as_of": "then"});
            let whole = json!({"path": "audience.or[1]", "matched": true, "as_of": "then", "clauses": [part]});
            operator(&Clause::deserialize(whole).unwrap())
        };
        let told = ["AND", "or", "not"].map(joined);
        assert_eq!(told, ["all of these", "one of these", "not this"]);
    }
}
