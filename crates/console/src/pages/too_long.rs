//! A form that is too long: what was typed is shown again, to be shortened where it is longest.

use maud::html;

use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::parts::numbers::grouped;
use crate::visit::Visit;

/// For forms that can be shown again by a step that does nothing.
pub(crate) fn again(visit: &Visit, error: &Error) -> Result<Answer> {
    let typed = || visit.form.pairs().filter(|(name, _)| *name != "do");
    let (longest, text) = typed().max_by_key(|(_, value)| value.len()).unwrap_or_default();
    let label = longest.replace('_', " ");
    let body = html! {
        div.notice.bad role="alert" {
            @for sentence in error.sentences() { p { (sentence) } }
            p { "Nothing was sent or saved, and everything is still here. The longest field is “" (label) "”, with "
                (grouped(text.len().div_ceil(1024) as u64)) " KiB: shorten it, and go on. The API takes up to 5 MiB." }
        }
        form method="post" action=(visit.path) {
            @for (name, value) in typed().filter(|(name, _)| *name != longest) {
                input type="hidden" name=(name) value=(value);
            }
            input type="hidden" name="do" value="check";
            div.field {
                label for="longest" { (label) }
                textarea.code id="longest" name=(longest) rows="16" { "\n" (text) }
            }
            button.main { "Go on with what you have written" }
        }
    };
    Ok(Answer::page("Too long", body)?.refused(error))
}
