//! Variables that texts of a template name and that it does not have: beside the form, each with a button that adds it.

use std::collections::BTreeSet;

use maud::{Markup, html};
use model::json::Json;
use model::template::undeclared;
use serde_json::{Map, Value};

use crate::error::Error;

/// More are most likely one mistake.
const MOST_SHOWN: usize = 20;

pub(super) struct Undeclared {
    /// The field that names it first.
    place: String,
    key: String,
}

impl Undeclared {
    /// Each of a push once.
    pub(super) fn of(push: &Map<String, Value>, declared: &BTreeSet<&str>) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for (path, key) in undeclared(&Json::from(&Value::Object(push.clone())), declared) {
            if found.len() < MOST_SHOWN && !found.iter().any(|known| known.key == key) {
                found.push(Self { place: place(&path), key });
            }
        }
        found
    }

    /// Why a template with them is not saved.
    pub(super) fn refusal(all: &[Self]) -> Error {
        Error::Invalid(all.iter().map(|one| (String::new(), one.sentence())).collect())
    }

    fn sentence(&self) -> String {
        let Self { place, key } = self;
        format!("{place}: {{{{{key}}}}} is not among the variables.")
    }
}

pub(super) fn show(all: &[Undeclared], form: &str) -> Markup {
    html! {
        @if !all.is_empty() {
            section {
                h2 { "Not among the variables" }
                @for one in all {
                    p.warning { (one.sentence()) }
                    p.inline {
                        button.small form=(form) name="do" formnovalidate value={ "add-variable-" (one.key) } {
                            "Add it" span.hidden { ": " (one.key) }
                        }
                    }
                }
            }
        }
    }
}

/// What the form calls a part of the push.
fn place(path: &str) -> String {
    let name = match path {
        "notification.alert" => "Text",
        "notification.actions.open.content" => "Opens",
        "message.title" => "Title in the inbox",
        "message.body" => "Message for the inbox",
        other if other.starts_with("localizations") => "Another language",
        other if other.starts_with("notification.") && other.ends_with(".title") => "Title",
        other => other,
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_is_told_once_with_its_field() {
        let push =
            json!({"notification": {"alert": "{{a}} {{b}} {{ a }}", "ios": {"subtitle": "{{c}}", "title": "{{d}}"}}});
        let found = Undeclared::of(push.as_object().unwrap(), &BTreeSet::from(["b"]));
        let told: Vec<String> = found.iter().map(Undeclared::sentence).collect();
        let of = |place: &str, key: &str| format!("{place}: {{{{{key}}}}} is not among the variables.");
        assert_eq!(told, [of("Text", "a"), of("notification.ios.subtitle", "c"), of("Title", "d")]);
        let personalized = json!({"notification": {"alert": "{{a}}"}, "options": {"personalization": true}});
        assert!(Undeclared::of(personalized.as_object().unwrap(), &BTreeSet::new()).is_empty());
    }
}
