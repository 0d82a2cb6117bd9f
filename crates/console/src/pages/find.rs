//! Finding anything of an app by an id, an address or a name. What is exactly what was typed is shown at once.

use std::sync::Arc;

use maud::{Markup, html};
use model::account::Role;
use serde::Deserialize;

use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::form::query;
use crate::parts::devices::{channel_page, platform, user_page};
use crate::parts::fields::problems;
use crate::visit::Visit;

#[derive(Default, Deserialize)]
struct Results {
    results: Vec<Found>,
    complete: bool,
}

#[derive(Deserialize)]
struct Found {
    kind: String,
    id: String,
    title: Option<String>,
    /// The text that was found, if it is another one.
    matched: Option<String>,
}

/// The kinds in the order in which they are shown.
const KINDS: [(&str, &str); 9] = [
    ("push", "Messages"),
    ("named_user", "Named users"),
    ("channel", "Devices"),
    ("segment", "Segments"),
    ("list", "Uploaded lists"),
    ("schedule", "Schedules"),
    ("pipeline", "Automation"),
    ("experiment", "Experiments"),
    ("template", "Templates"),
];

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    let Some(text) = visit.query.text("q") else { return Answer::page("Find", explanation()) };
    let found: Result<Results> = visit.get(&format!("/api/search{}", query([("q", text)]))).await;
    let Results { results, complete } = match found {
        Ok(found) => found,
        Err(error @ Error::Invalid(_)) => {
            let body = html! { (problems(Some(&error), &[])) (explanation()) };
            return Ok(Answer::page("Find", body)?.refused(&error));
        }
        Err(other) => return Err(other),
    };
    if let Some(page) = exact(&results, text).and_then(|found| found.page(&visit)) {
        return Answer::to(page);
    }
    let body = html! {
        p.line { "Found for " strong { (text) } "." }
        @if results.is_empty() {
            div.empty { p { "Nothing was found." } (hints(visit.may(Role::Support))) }
        }
        @for (kind, name) in KINDS {
            @let of_kind: Vec<&Found> = results.iter().filter(|found| found.kind == kind).collect();
            @if !of_kind.is_empty() {
                section {
                    h2 { (name) }
                    ul.found { @for found in of_kind { li { (found.show(&visit, text)) } } }
                }
            }
        }
        @if !complete {
            p.quiet { "There may be more: ten of each kind are shown, and of things with a name the newest thousand are looked at." }
        }
    };
    Answer::page("Find", body)
}

/// The only thing that is called exactly what was typed.
fn exact<'r>(results: &'r [Found], text: &str) -> Option<&'r Found> {
    let mut hits = results.iter().filter(|found| found.is_exactly(text));
    hits.next().filter(|_| hits.next().is_none())
}

impl Found {
    fn is_exactly(&self, text: &str) -> bool {
        match self.kind.as_str() {
            // They are found by a whole id or a whole address only.
            "channel" => true,
            _ => self.id.eq_ignore_ascii_case(text) || self.title.as_deref() == Some(text),
        }
    }

    fn page(&self, visit: &Visit) -> Option<String> {
        let id = self.id.as_str();
        Some(match self.kind.as_str() {
            "push" => visit.to(&format!("/messages/{id}")),
            "channel" => channel_page(visit, id),
            "named_user" => user_page(visit, id),
            "segment" => visit.to(&format!("/audience{}", query([("segment", id)]))),
            "list" => visit.to(&format!("/audience{}", query([("show", "lists"), ("list", id)]))),
            "schedule" => visit.to(&format!("/schedules/{id}")),
            "pipeline" => visit.to(&format!("/automation{}", query([("id", id)]))),
            "experiment" => visit.to(&format!("/experiments/{id}")),
            "template" if visit.may(Role::Editor) => visit.to(&format!("/templates/{id}")),
            _ => return None,
        })
    }

    fn show(&self, visit: &Visit, text: &str) -> Markup {
        let name = match (self.kind.as_str(), self.title.as_deref()) {
            ("channel", Some(title)) => match title.split_once(' ') {
                Some((device_type, rest)) => format!("{} {rest}", platform(device_type)),
                None => platform(title).to_owned(),
            },
            (_, Some(title)) => title.to_owned(),
            (_, None) => self.id.clone(),
        };
        html! {
            @match self.page(visit) {
                Some(page) => a href=(page) { (marked(&name, text)) },
                None => (marked(&name, text)),
            }
            @if name != self.id { " " code.quiet { (self.id) } }
            @if let Some(matched) = &self.matched { p.quiet { (marked(matched, text)) } }
        }
    }
}

/// A text with what was looked for marked, in letters of either case.
fn marked(text: &str, wanted: &str) -> Markup {
    let wanted = wanted.to_lowercase();
    let mut starts = text.char_indices().map(|(start, _)| start);
    let found = starts.find(|start| text[*start..].to_lowercase().starts_with(&wanted)).and_then(|start| {
        let mut ends = text[start..].char_indices().map(|(at, letter)| start + at + letter.len_utf8());
        ends.find(|end| text[start..*end].to_lowercase() == wanted).map(|end| start..end)
    });
    match found {
        Some(found) => html! { (text[..found.start]) mark { (text[found.clone()]) } (text[found.end..]) },
        None => html! { (text) },
    }
}

fn explanation() -> Markup {
    html! { div.empty { p { "Type what you look for into the field at the top; the key " kbd { "/" } " leads there." } (hints(true)) } }
}

fn hints(shows_people: bool) -> Markup {
    html! {
        p {
            "Messages, segments, lists, schedules, automations, experiments and templates are found by an id or a part of their names"
            @if shows_people {
                "; people by the beginning of a named user, or by the whole id or address of a device"
            }
            "."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_exact_hit_is_enough_and_two_are_too_many() {
        let found = |kind: &str, id: &str, title: Option<&str>| Found {
            kind: kind.to_owned(),
            id: id.to_owned(),
            title: title.map(str::to_owned),
            matched: None,
        };
        let users = [found("named_user", "kim", None), found("named_user", "kim-7", None)];
        assert_eq!(exact(&users, "kim").map(|found| found.id.as_str()), Some("kim"));
        assert_eq!(exact(&users, "Kim").map(|found| found.id.as_str()), Some("kim"));
        assert!(exact(&users, "ki").is_none());
        let cases = [found("named_user", "kim", None), found("named_user", "Kim", None)];
        assert!(exact(&cases, "Kim").is_none(), "two people");
        let alike = [found("push", "1", Some("Hello")), found("push", "2", Some("Hello"))];
        assert!(exact(&alike, "Hello").is_none());
        assert_eq!(exact(&alike, "2").map(|found| found.id.as_str()), Some("2"));
        for (text, shown) in [
            ("A Storm comes", "A <mark>Storm</mark> comes"),
            ("größe STORM", "größe <mark>STORM</mark>"),
            ("sun", "sun"),
        ] {
            assert_eq!(marked(text, "storm").into_string(), shown);
        }
        assert!(exact(&[found("channel", "3", Some("ios of kim"))], "token").is_some());
    }
}
