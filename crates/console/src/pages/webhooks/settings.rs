//! The form of a webhook, and the body that it makes.

use maud::{Markup, html};
use model::event::EventTypes;
use serde_json::{Map, Value, json};

use super::shown::Shown;
use crate::error::Error;
use crate::form::Fields;
use crate::parts::fields::{Field, choice};

pub(super) const FIELDS: [&str; 7] =
    ["url", "name", "types", "authorization", "timeout_seconds", "give_up_hours", "batch_size"];

const STARTS: [(&str, &str); 2] = [("now", "What happens from now on"), ("earliest", "The oldest event that is kept")];

/// The fields of a new webhook, or of one that there is. The value of its header is not shown again.
pub(super) fn fields(shown: Option<&Shown>, typed: &Fields, error: Option<&Error>) -> Markup {
    let number = |number: Option<u64>, fallback: u64| number.unwrap_or(fallback).to_string();
    let stored = |name: &str| match (name, shown) {
        ("url", Some(shown)) => shown.url.clone().unwrap_or_default(),
        ("name", Some(shown)) => shown.name.clone().unwrap_or_default(),
        ("timeout_seconds", _) => number(shown.and_then(|shown| shown.timeout_seconds), 10),
        ("give_up_hours", _) => number(shown.and_then(|shown| shown.give_up_hours), 24),
        ("batch_size", _) => number(shown.and_then(|shown| shown.batch_size), 1),
        _ => String::new(),
    };
    let value = |name: &str| typed.text(name).map_or_else(|| stored(name), str::to_owned);
    let chosen: Vec<&str> = match (typed.all("types").next().is_some(), shown) {
        (true, _) => typed.all("types").collect(),
        (false, Some(shown)) => shown.types.iter().map(String::as_str).collect(),
        (false, None) => EventTypes::all().names(),
    };
    let header_hint = match shown.is_some_and(|shown| shown.has_authorization) {
        true => "One is set, and not shown. Type another to replace it.",
        false => "By which your server recognizes the service, such as Bearer and a secret. It is never shown again.",
    };
    let seconds = Field { kind: "number", ..Field::text("timeout_seconds", "Seconds to wait for an answer (1 to 60)") };
    let hours =
        Field { kind: "number", ..Field::text("give_up_hours", "Hours to try an event that is not taken (1 to 168)") };
    let events = Field { kind: "number", ..Field::text("batch_size", "Events in one request, at most (1 to 1000)") };
    html! {
        (Field { kind: "url", ..Field::text("url", "URL") }.value(&value("url")).hint("Where events are posted to.").show(error))
        (Field::text("name", "Name").optional().value(&value("name")).hint("For people; the host of the URL unless given.").show(error))
        (Field { kind: "password", autocomplete: "new-password", ..Field::text("authorization", "Authorization header") }
            .optional().hint(header_hint).show(error))
        @if shown.is_some_and(|shown| shown.has_authorization) {
            label.check { input type="checkbox" name="no_authorization"; "Send no authorization header any more" }
        }
        fieldset {
            legend { "Events" }
            @if let Some(wrong) = error.and_then(|error| error.about("types")) { p.wrong { (wrong) } }
            div.ticks {
                @for name in EventTypes::all().names() {
                    label.check { input type="checkbox" name="types" value=(name) checked[chosen.contains(&name)]; (words(name)) }
                }
            }
        }
        (seconds.value(&value("timeout_seconds")).show(error))
        (hours.value(&value("give_up_hours")).show(error))
        (events.value(&value("batch_size")).hint("With more than one, the body is an array of events.").show(error))
        @if shown.is_none() { (choice("start", "Begin with", &STARTS, typed.text("start").unwrap_or("now"))) }
    }
}

/// `PUSH_BODY` as `push body`: the type is what programs know, the words are what people read.
pub(super) fn words(kind: &str) -> String {
    kind.to_lowercase().replace('_', " ")
}

/// What the call to make or change a webhook gets.
pub(super) fn body(typed: &Fields, is_new: bool) -> Value {
    let mut body = Map::new();
    for name in ["url", "name", "authorization"] {
        body.extend(typed.text(name).map(|text| (name.to_owned(), json!(text))));
    }
    for name in ["timeout_seconds", "give_up_hours", "batch_size"] {
        // What is no number is refused by the call, which says what is possible.
        let number = |text: &str| text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number));
        body.extend(typed.text(name).map(|text| (name.to_owned(), number(text))));
    }
    body.insert("types".to_owned(), json!(typed.all("types").collect::<Vec<_>>()));
    match is_new {
        true => {
            body.insert("start".to_owned(), json!(typed.text("start").unwrap_or("now")));
        }
        false if typed.is_checked("no_authorization") => {
            body.insert("authorization".to_owned(), Value::Null);
        }
        false => {}
    }
    body.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_makes_the_body() {
        let typed =
            Fields::parse("url=https%3A%2F%2Fa&name=&types=OPEN&types=SEND&timeout_seconds=7&give_up_hours=long");
        assert_eq!(
            body(&typed, true),
            json!({"url": "https://a", "types": ["OPEN", "SEND"], "timeout_seconds": 7, "give_up_hours": "long", "start": "now"})
        );
        let typed = Fields::parse("url=https%3A%2F%2Fa&types=OPEN&no_authorization=on&authorization=x");
        assert_eq!(body(&typed, false), json!({"url": "https://a", "types": ["OPEN"], "authorization": null}));
        assert_eq!(words("PUSH_BODY"), "push body");
    }
}
