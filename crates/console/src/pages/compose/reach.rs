//! How many people a draft would reach right now, taken apart, with what is probably not meant.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::written::Written;
use crate::error::Error;
use crate::parts::conditions::Conditions;
use crate::parts::devices::platform;
use crate::parts::numbers::{count, grouped};
use crate::visit::Visit;

/// Where warnings about devices that would get nothing are: who is meant is right.
const ABOUT_SENDING: &str = "device_types";

/// The reach, or why it cannot be told.
pub(crate) struct Reach(Result<Explanation, Error>);

#[derive(Clone, Deserialize)]
pub(crate) struct Explanation {
    matched: u64,
    #[serde(default)]
    online: u64,
    pub(crate) reachable: u64,
    platforms: BTreeMap<String, Platform>,
    warnings: Vec<Warning>,
}

#[derive(Clone, Deserialize)]
struct Platform {
    matched: u64,
    reachable: u64,
    opted_out: u64,
    without_address: u64,
}

#[derive(Clone, Deserialize)]
struct Warning {
    path: String,
    message: String,
    /// Names that are like the one that nobody has.
    #[serde(default)]
    near: Vec<String>,
}

impl Reach {
    pub(super) async fn of(visit: &Visit, written: &Written) -> Self {
        Self(explain(visit, written).await)
    }

    /// Nothing but what is wrong, if that leaves open who is meant.
    pub(crate) fn refused(error: Option<&Error>) -> Option<Self> {
        error?.about("json").map(|sentence| Self(Err(Error::invalid("json", sentence))))
    }

    /// Of conditions, which may be incomplete.
    pub(crate) async fn of_conditions(visit: &Visit, conditions: &Conditions) -> Self {
        match conditions.audience() {
            Ok(audience) => Self::of_push(visit, &json!({"audience": audience})).await,
            Err(error) => Self(Err(error)),
        }
    }

    /// Of a push that is written down.
    pub(crate) async fn of_push(visit: &Visit, push: &Value) -> Self {
        Self(explain_push(visit, push).await)
    }

    pub(super) fn known(explanation: &Explanation) -> Self {
        Self(Ok(explanation.clone()))
    }

    pub(crate) fn explanation(&self) -> Option<&Explanation> {
        self.0.as_ref().ok()
    }

    /// Whether the message is for devices of a type.
    pub(super) fn has_devices_of(&self, device_type: &str) -> bool {
        let platforms = self.0.as_ref().map(|explanation| &explanation.platforms);
        platforms.is_ok_and(|platforms| platforms.get(device_type).is_some_and(|at| at.matched > 0))
    }

    /// How many will see a message.
    pub(crate) fn show(&self) -> Markup {
        let words = ["device will see it", "devices will see it"];
        self.show_number("Reach, as of now", |reach| reach.reachable, words, |_| true)
    }

    /// How many fulfil conditions.
    pub(crate) fn show_members(&self) -> Markup {
        let words = ["device fulfils this", "devices fulfil this"];
        self.show_number("As of now", |reach| reach.matched, words, |warning| warning.path != ABOUT_SENDING)
    }

    /// How many would pass the conditions of an automation, which is for those of them to which something happens.
    pub(crate) fn show_passing(&self) -> Markup {
        let words = ["device would pass the conditions", "devices would pass the conditions"];
        html! {
            (self.show_number("As of now", |reach| reach.matched, words, |warning| warning.path != ABOUT_SENDING))
            p.hint { "It goes to those of them to which happens what is said under “When”, each at that moment." }
        }
    }

    fn show_number(
        &self,
        heading: &str,
        number: fn(&Explanation) -> u64,
        words: [&str; 2],
        is_shown: fn(&Warning) -> bool,
    ) -> Markup {
        html! {
            section.reach aria-live="polite" {
                h2 { (heading) }
                @match &self.0 {
                    Err(error) => { @for sentence in error.sentences() { p.quiet { (sentence) } } }
                    Ok(reach) => {
                        // At the bottom of narrow screens, where it stays in view.
                        div.sum {
                            p.value { (grouped(number(reach))) }
                            p { @if number(reach) == 1 { (words[0]) } @else { (words[1]) } }
                        }
                        (platforms(reach))
                        @for warning in reach.warnings.iter().filter(|warning| is_shown(warning)) { (warning.show()) }
                    }
                }
            }
        }
    }
}

pub(super) async fn explain(visit: &Visit, written: &Written) -> Result<Explanation, Error> {
    explain_push(visit, &written.addressed()?).await
}

/// Asks for whom the push itself says, which need not be what the conditions say.
async fn explain_push(visit: &Visit, push: &Value) -> Result<Explanation, Error> {
    let device_types = push.get("device_types").cloned().unwrap_or_else(|| json!("all"));
    visit.post("/api/audience/explain", json!({"audience": push["audience"], "device_types": device_types})).await
}

impl Warning {
    fn show(&self) -> Markup {
        html! {
            p.warning {
                (self.message)
                @if !self.near.is_empty() { " Did you mean " (self.near.join(" or ")) "?" }
            }
        }
    }
}

/// How many of those who would see a push have told no time zone that is known, so that no local time comes for them. None if that
/// cannot be asked for.
pub(super) async fn without_zone(visit: &Visit, push: &Value) -> Option<u64> {
    let no_zone = json!({"tag": "NO_TIME_ZONE", "group": "timezone"});
    let audience = &push["audience"];
    let is_everybody = audience.as_str().is_some_and(|word| word.eq_ignore_ascii_case("all"));
    let narrowed = if is_everybody { no_zone } else { json!({"and": [audience, no_zone]}) };
    let mut push = push.clone();
    push["audience"] = narrowed;
    explain_push(visit, &push).await.ok().map(|explained| explained.reachable)
}

impl Explanation {
    /// What is probably not meant, or would go wrong.
    pub(super) fn warnings(&self) -> Markup {
        html! { @for warning in &self.warnings { (warning.show()) } }
    }

    /// The devices of each platform that will see it.
    pub(crate) fn reachable_by_platform(&self) -> impl Iterator<Item = (&str, u64)> {
        self.platforms.iter().filter(|(_, at)| at.reachable > 0).map(|(platform, at)| (platform.as_str(), at.reachable))
    }

    /// How many match and get nothing.
    pub(crate) fn left_out(&self) -> u64 {
        self.platforms.values().map(|at| at.opted_out + at.without_address).sum()
    }
}

fn platforms(reach: &Explanation) -> Markup {
    let sum = |of: fn(&Platform) -> u64| reach.platforms.values().map(of).sum::<u64>();
    let (opted_out, without_address) = (sum(|at| at.opted_out), sum(|at| at.without_address));
    html! {
        ul.plain {
            @for (kind, at) in &reach.platforms { li { (platform(kind)) " " strong { (grouped(at.reachable)) } } }
        }
        p.quiet { (count(reach.matched, "device matches", "devices match")) " · " (grouped(opted_out)) " opted out · " (grouped(without_address)) " without an address"
            @if reach.online > 0 { " · " (grouped(reach.online)) " online now" }
        }
    }
}
