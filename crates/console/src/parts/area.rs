//! A field of several lines, such as the contents of a file.

use maud::{Markup, html};

use crate::error::Error;

pub(crate) struct Area<'a> {
    pub(crate) name: &'a str,
    pub(crate) label: &'a str,
    pub(crate) hint: Option<&'a str>,
    pub(crate) value: &'a str,
    pub(crate) is_required: bool,
}

impl Area<'_> {
    pub(crate) fn show(&self, error: Option<&Error>) -> Markup {
        let wrong = error.and_then(|error| error.about(self.name));
        let (hint_id, wrong_id) = (format!("{}-hint", self.name), format!("{}-wrong", self.name));
        let described = wrong.map(|_| &wrong_id).or(self.hint.map(|_| &hint_id));
        html! {
            div.field {
                label for=(self.name) { (self.label) }
                textarea.code id=(self.name) name=(self.name) rows="5" autocomplete="off" spellcheck="false"
                    required[self.is_required] aria-invalid=[wrong.map(|_| "true")] aria-describedby=[described] { (self.value) }
                @if let Some(hint) = self.hint { p.hint id=(hint_id) { (hint) } }
                @if let Some(wrong) = wrong { p.wrong id=(wrong_id) { (wrong) } }
            }
        }
    }
}
