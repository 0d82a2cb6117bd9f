//! Fields of forms: a label, the field, a hint, and what is wrong with it.

use maud::{Markup, html};

use crate::error::Error;

/// A field of one line.
pub(crate) struct Field<'a> {
    /// Of the element; the name, unless a page has two fields of that.
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) label: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) value: &'a str,
    pub(crate) hint: Option<&'a str>,
    /// What browsers and password managers may fill in.
    pub(crate) autocomplete: &'a str,
    pub(crate) is_required: bool,
}

impl<'a> Field<'a> {
    pub(crate) const fn text(name: &'a str, label: &'a str) -> Self {
        Self { id: name, name, label, kind: "text", value: "", hint: None, autocomplete: "off", is_required: true }
    }

    pub(crate) const fn email() -> Self {
        Self { kind: "email", autocomplete: "username", ..Self::text("email", "E-mail address") }
    }

    pub(crate) const fn password(name: &'a str, label: &'a str, autocomplete: &'a str) -> Self {
        Self { kind: "password", autocomplete, ..Self::text(name, label) }
    }

    pub(crate) const fn value(self, value: &'a str) -> Self {
        Self { value, ..self }
    }

    pub(crate) const fn hint(self, hint: &'a str) -> Self {
        Self { hint: Some(hint), ..self }
    }

    pub(crate) const fn optional(self) -> Self {
        Self { is_required: false, ..self }
    }

    pub(crate) fn show(&self, error: Option<&Error>) -> Markup {
        let wrong = error.and_then(|error| error.about(self.name));
        let (hint_id, wrong_id) = (format!("{}-hint", self.id), format!("{}-wrong", self.id));
        let described = match (self.hint, wrong) {
            (_, Some(_)) => Some(&wrong_id),
            (Some(_), None) => Some(&hint_id),
            (None, None) => None,
        };
        html! {
            div.field {
                label for=(self.id) { (self.label) }
                input id=(self.id) name=(self.name) type=(self.kind) value=(self.value) autocomplete=(self.autocomplete)
                    required[self.is_required] aria-invalid=[wrong.map(|_| "true")] aria-describedby=[described];
                @if let Some(hint) = self.hint { p.hint id=(hint_id) { (hint) } }
                @if let Some(wrong) = wrong { p.wrong id=(wrong_id) { (wrong) } }
            }
        }
    }
}

/// A choice of one of several words.
pub(crate) fn choice(name: &str, label: &str, options: &[(&str, &str)], chosen: &str) -> Markup {
    html! {
        div.field {
            label for=(name) { (label) }
            select id=(name) name=(name) {
                @for (value, text) in options { option value=(value) selected[*value == chosen] { (text) } }
            }
        }
    }
}

/// What is wrong with a form as a whole.
pub(crate) fn problems(error: Option<&Error>, fields: &[&str]) -> Markup {
    let Some(error) = error else { return html! {} };
    let told = |error: &Error| fields.iter().any(|field| error.about(field).is_some());
    html! {
        @if !told(error) {
            div.notice.bad role="alert" { @for sentence in error.sentences() { p { (sentence) } } }
        } @else {
            div.notice.bad role="alert" { p { "Nothing was changed yet; see below." } }
        }
    }
}
