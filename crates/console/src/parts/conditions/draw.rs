//! Drawing conditions: for each a kind and the fields that this kind has, with names to choose from instead of ids.

use maud::{Markup, html};

use super::known::{Choice, Known, List};
use super::row::{USUAL_DAYS, is_time};
use super::{Conditions, Kind, Row};
use crate::parts::fields::choice;
use crate::parts::segment_of_push::OUTCOMES;

/// How plain attributes are compared: the word of the API, and the one for people.
pub(super) const COMPARISONS: [(&str, &str); 7] = [
    ("equals", "is"),
    ("contains", "contains"),
    ("less", "is less than"),
    ("greater", "is more than"),
    ("before", "is before (UTC)"),
    ("after", "is after (UTC)"),
    ("is_empty", "is empty"),
];

/// The rows with their buttons. Changing the kind of one changes its fields: by the script, or by a button.
pub(crate) fn rows(conditions: &Conditions, known: &Known, kinds: &[Kind]) -> Markup {
    html! {
        div #rows {
            @for (n, row) in conditions.rows.iter().enumerate() {
                div.condition role="group" aria-label={ "Condition " (n + 1) } {
                    select name={ "not" (n) } aria-label="Is or is not" {
                        option value="" selected[!row.is_negated] { "is" }
                        option value="not" selected[row.is_negated] { "is not" }
                    }
                    select name={ "kind" (n) } aria-label="Kind" {
                        @for kind in Kind::ALL.iter().filter(|kind| kinds.contains(kind) || **kind == row.kind) {
                            option value=(kind.word()) selected[*kind == row.kind] { (kind.label()) }
                        }
                    }
                    input type="hidden" name={ "was" (n) } value=(row.kind.word());
                    (fields(n, row, known))
                    noscript { button.small name="do" value="check" formnovalidate { "Show its fields" } }
                    button.small name="do" value={ "remove-" (n) } formnovalidate aria-label={ "Remove condition " (n + 1) } { "×" }
                }
            }
            div.actions {
                @if conditions.rows.len() > 1 {
                    (choice("join", "Together", &[("and", "all of them"), ("or", "any of them")], conditions.join.word()))
                } @else { input type="hidden" name="join" value=(conditions.join.word()); }
                button.small name="do" value="add" formnovalidate { "Add a condition" }
            }
        }
    }
}

/// What fields that take any text are completed with.
pub(crate) fn datalists(known: &Known) -> Markup {
    html! {
        div #known {
            @for (n, choices) in known.lists() {
                datalist id={ "known-" (n) } {
                    @for choice in choices { option value=(choice.value) { (choice.words) } }
                }
            }
        }
    }
}

fn fields(n: usize, row: &Row, known: &Known) -> Markup {
    let (of, how, value) = (format!("of{n}"), format!("how{n}"), format!("value{n}"));
    let chosen = |list, label| value_choice(known, &list, &value, label, &row.value);
    match row.kind {
        Kind::Tag => tag_fields(known, (&of, &row.of), (&value, &row.value)),
        Kind::Attribute => attribute(n, row, known),
        Kind::Segment => chosen(List::Segments, "Segment"),
        Kind::List => chosen(List::Uploaded, "List"),
        Kind::Subscription => chosen(List::Subscriptions, "Subscription list"),
        Kind::PastPush => html! {
            (words_choice(&how, "What became of it", &OUTCOMES, &row.how))
            (chosen(List::Messages, "Message"))
        },
        Kind::Place => html! {
            input name=(value) value=(row.value) aria-label="Place" placeholder="name of a place, to choose from";
            label.days {
                input type="number" name=(how) min="1" value=(if row.how.is_empty() { USUAL_DAYS } else { &row.how });
                "days"
            }
        },
        Kind::NamedUser => html! { input name=(value) value=(row.value) aria-label="Named user" placeholder="kim-7"; },
        Kind::Channel => {
            html! { input name=(value) value=(row.value) aria-label="Device" placeholder="id of a channel"; }
        }
        Kind::Json => html! {
            textarea.code name=(value) rows="2" aria-label="Selector as JSON" spellcheck="false" placeholder=r#"{"tag": "news"}"# {
                (row.value)
            }
        },
    }
}

/// A tag and its group, each as the name of the field and what is in it.
pub(crate) fn tag_fields(known: &Known, (of, group): (&str, &str), (name, tag): (&str, &str)) -> Markup {
    let groups = known.list(&List::Groups).unwrap_or_default().iter().map(|choice| choice.value.as_str());
    let groups = groups.filter(|known| *known != "device" && *known != group);
    let own = Some(group).filter(|group| !group.is_empty());
    html! {
        input name=(name) value=(tag) aria-label="Tag" placeholder="news" list=[known.id(&List::Tags(group.trim().to_owned()))];
        select name=(of) aria-label="Group of the tag" {
            option value="" selected[own.is_none()] { "in no group" }
            @if let Some(own) = own { option value=(own) selected { "in the group " (own) } }
            @for group in groups { option value=(group) { "in the group " (group) } }
        }
    }
}

fn attribute(n: usize, row: &Row, known: &Known) -> Markup {
    let is_number = known.find(&List::Attributes, &row.of).is_some_and(|attribute| attribute.is_number);
    let number = is_number || ["less", "greater"].contains(&row.how.trim());
    let value = row.value.trim();
    // A browser drops what does not fit the field, and nothing that is there may be lost.
    let kind = if row.is_about_time() && (value.is_empty() || is_time(value)) {
        "datetime-local"
    } else if number && (value.is_empty() || value.parse::<serde_json::Number>().is_ok()) {
        "number"
    } else {
        "text"
    };
    let of = row.of.trim();
    html! {
        input name={ "of" (n) } value=(row.of) aria-label="Attribute" placeholder="plan" list=[known.id(&List::Attributes)];
        (words_choice(&format!("how{n}"), "Comparison", &COMPARISONS, &row.how))
        @if row.how.trim() != "is_empty" {
            input type=(kind) name={ "value" (n) } value=(row.value) aria-label="Value" step=[(kind == "number").then_some("any")]
                list=[known.id(&List::Values(of.to_owned())).filter(|_| kind == "text")];
        } @else { input type="hidden" name={ "value" (n) } value=(row.value); }
    }
}

/// One of several words, and the one that was chosen even if it is none of them.
pub(crate) fn words_choice(name: &str, label: &str, words: &[(&str, &str)], chosen: &str) -> Markup {
    let is_known = chosen.is_empty() || words.iter().any(|(word, _)| *word == chosen);
    html! {
        select name=(name) aria-label=(label) {
            @if !is_known { option value=(chosen) selected { (chosen) } }
            @for (word, words) in words { option value=(word) selected[*word == chosen] { (words) } }
        }
    }
}

/// One of the things that there are, and the one that was chosen even if it is gone.
pub(crate) fn value_choice(known: &Known, list: &List, name: &str, label: &str, chosen: &str) -> Markup {
    let choices = known.list(list).unwrap_or_default();
    let chosen = chosen.trim();
    let is_known = choices.iter().any(|choice| choice.value == chosen);
    html! {
        select name=(name) aria-label=(label) {
            @if chosen.is_empty() { option value="" selected { @if choices.is_empty() { "there is none yet" } @else { "choose…" } } }
            @else if !is_known { option value=(chosen) selected { (chosen) } }
            @for Choice { value, words, at, .. } in choices {
                option value=(value) selected[value == chosen] data-at=[at.map(|at| at.to_iso())] data-words=[at.map(|_| words)] {
                    (words) @if let Some(at) = at { " · " (at.to_report()) " UTC" }
                }
            }
        }
    }
}
