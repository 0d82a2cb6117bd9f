//! Offering to make a segment of the people for whom a message had an outcome.

use maud::{Markup, html};
use model::ids::PushId;

use super::fields::{Field, choice, problems};
use super::once::once;
use crate::error::Error;
use crate::visit::Visit;

/// The outcomes that an audience can go by.
pub(crate) const OUTCOMES: [(&str, &str); 5] = [
    ("delivered", "who got it"),
    ("not_delivered", "who did not get it"),
    ("opened", "who opened it"),
    ("not_opened", "who got it and did not open it"),
    ("failed", "for whom it failed"),
];

/// The form, behind a button that opens it.
pub(crate) fn offer(visit: &Visit, push: PushId, outcome: &str) -> Markup {
    html! {
        details.ask #segment-of {
            summary { "Make a segment of them…" }
            (form(visit, push, outcome, None))
        }
    }
}

pub(crate) fn form(visit: &Visit, push: PushId, outcome: &str, error: Option<&Error>) -> Markup {
    let name = visit.form.text("display_name").unwrap_or_default();
    html! {
        form method="post" action=(visit.to(&format!("/messages/{push}/people/segment"))) {
            (once(visit))
            (problems(error, &["display_name"]))
            (choice("of", "Devices", &OUTCOMES, outcome))
            (Field::text("display_name", "Name of the segment").value(name).show(error))
            p.hint { "Who is in it is worked out anew whenever it is used, for as long as it is kept what became of the message." }
            button.main { "Make it" }
        }
    }
}
