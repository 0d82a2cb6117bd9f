//! The audience of a form: rows, and below them the same as JSON. What somebody types there counts without a further button; what
//! only stands there since before the rows were changed does not.

use maud::{Markup, html};

use super::{Conditions, row};
use crate::error::{Error, Result};
use crate::form::Fields;
use crate::parts::seen::mark_of;

/// The field, and the mark of what it was drawn with, which is what the rows said then. Without the mark, what was typed cannot be
/// told from what was there.
const FIELDS: [&str; 2] = ["json", "json_drawn"];

const BOTH: &str = "The conditions and the JSON below them were both changed, so that it is not known which of them is meant: take the \
                    JSON over, or empty its field if the conditions count.";

pub(crate) struct Audience {
    /// As the form shows them.
    pub(crate) rows: Conditions,
    /// What stands in the field; empty in forms without it.
    text: String,
    /// The mark; empty if the rows said nothing complete.
    drawn: String,
}

impl Audience {
    /// In a form that is drawn for the first time.
    pub(crate) fn of(rows: Conditions) -> Self {
        Self { rows, text: String::new(), drawn: String::new() }
    }

    /// In a form that comes back with these rows.
    pub(crate) fn read(rows: Conditions, fields: &Fields) -> Self {
        let [text, drawn] = FIELDS.map(|name| fields.text(name).unwrap_or_default().to_owned());
        Self { rows, text, drawn }
    }

    /// Does what a button says, and tells whom the form is for. One that goes on with the form leaves nothing typed: the rows show
    /// it from then on. All others, of which some come at every key, leave the fields as they are.
    pub(crate) fn press(&mut self, action: &str, goes_on: bool) -> Result<Conditions> {
        if action == "take" {
            *self = Self::of(Conditions::of_json(&self.text)?);
        } else {
            self.rows.change(action);
        }
        let meant = self.meant()?;
        if goes_on {
            *self = Self::of(meant.clone());
        }
        Ok(meant)
    }

    fn meant(&self) -> Result<Conditions> {
        if !self.is_typed() {
            return Ok(self.rows.clone());
        }
        let typed = Conditions::of_json(&self.text)?;
        let filled = self.rows.filled();
        let said = mark(&filled);
        if said == mark(&typed) {
            return Ok(filled);
        }
        // Who chooses conditions and then has none may have meant to type them.
        let is_silent = !filled.is_everybody && filled.rows.is_empty();
        if said != self.drawn && !is_silent {
            return Err(Error::invalid(FIELDS[0], BOTH));
        }
        Ok(typed)
    }

    /// Whether something else stands in the field than it was drawn with.
    fn is_typed(&self) -> bool {
        let is_other = || Conditions::of_json(&self.text).ok().is_none_or(|typed| mark(&typed) != self.drawn);
        !self.text.is_empty() && is_other()
    }

    /// The field, for audiences that no rows can say; both ways, nothing is lost.
    pub(crate) fn as_json(&self, error: Option<&Error>) -> Markup {
        let wrong = error.and_then(|error| error.about(FIELDS[0]));
        let is_typed = self.is_typed();
        let filled = self.rows.filled();
        let said = || filled.audience().ok().and_then(|audience| serde_json::to_string_pretty(&audience).ok());
        let text = if is_typed { self.text.clone() } else { said().unwrap_or_default() };
        let drawn = if is_typed { self.drawn.clone() } else { mark(&filled) };
        html! {
            details open[is_typed] {
                summary { "As JSON" }
                div.field {
                    label for="json" { "Audience as the API takes it" }
                    textarea.code id="json" name=(FIELDS[0]) rows="4" spellcheck="false" aria-invalid=[wrong.map(|_| "true")]
                        aria-describedby=(if wrong.is_some() { "json-wrong" } else { "json-hint" }) { (text) }
                    input type="hidden" name=(FIELDS[1]) value=(drawn);
                    p.hint id="json-hint" { "What you type here counts in the place of the conditions above." }
                    @if let Some(wrong) = wrong { p.wrong id="json-wrong" { (wrong) } }
                }
                button.small name="do" value="take" formnovalidate { "Take this over" }
            }
        }
    }
}

impl Conditions {
    /// Without the rows that nothing was filled in yet: they say nothing, and contradict nothing.
    fn filled(&self) -> Self {
        let rows = self.rows.iter().filter(|row| !row.is_blank()).cloned().collect();
        Self { is_everybody: self.is_everybody, join: self.join, rows }
    }

    /// A form with these in the place of its own conditions, and with nothing typed as JSON.
    pub(crate) fn laid_over(&self, form: &Fields) -> Fields {
        let others = form.pairs().filter(|(name, _)| !is_own(name));
        let others = others.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Fields::of(self.fields().into_iter().chain(others).collect())
    }
}

/// Whether a field of a form says something about the audience.
fn is_own(name: &str) -> bool {
    let part = name.trim_end_matches(|c: char| c.is_ascii_digit());
    ["who", "join"].contains(&name) || FIELDS.contains(&name) || (part != name && row::FIELDS.contains(&part))
}

/// The mark of what conditions say; empty if they are not complete.
fn mark(conditions: &Conditions) -> String {
    conditions.audience().map(|audience| mark_of(&audience)).unwrap_or_default()
}
