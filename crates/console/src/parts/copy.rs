//! Something to take along as it is, such as an id, a secret or a line for a shell, with a button that copies it. The script of
//! the pages shows the button where browsers let it copy; without, the text can still be selected.

use maud::{Markup, html};

/// In the middle of a line. `what` is for those who hear the button and do not see what is beside it.
pub(crate) fn inline(text: &str, what: &str) -> Markup {
    html! { span.copy { code { (text) } " " (button(what)) } }
}

/// On lines of its own.
pub(crate) fn block(text: &str, what: &str) -> Markup {
    html! { div.copy { pre { code { (text) } } (button(what)) } }
}

fn button(what: &str) -> Markup {
    html! { button.small type="button" data-copy hidden aria-label={ "Copy " (what) } { "Copy" } }
}
