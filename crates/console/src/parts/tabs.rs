//! A choice between views of the same page, kept in its URL.

use maud::{Markup, html};

use crate::visit::Visit;

/// `left_out` are parts of the query that belong to one view only, such as how far it was paged.
pub(crate) fn tabs(visit: &Visit, label: &str, name: &str, choices: &[(&str, &str)], left_out: &[&str]) -> Markup {
    let chosen = visit.query.text(name).unwrap_or_default();
    let to = |value: &str| {
        let changes: Vec<(&str, &str)> = left_out.iter().map(|name| (*name, "")).chain([(name, value)]).collect();
        format!("{}{}", visit.path, visit.query.with(&changes))
    };
    html! {
        nav.tabs aria-label=(label) {
            @for (value, words) in choices {
                a href=(to(value)) aria-current=[(*value == chosen).then_some("true")] { (words) }
            }
        }
    }
}
