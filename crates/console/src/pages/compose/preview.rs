//! What the message looks like on a phone or in a browser, near enough to see whether it reads well.

use maud::{Markup, html};

use super::draft::Draft;

pub(super) fn show(draft: &Draft) -> Markup {
    let text = draft.text.as_deref().unwrap_or("The text of the message");
    html! {
        section {
            h2 { "Preview" }
            @for (kind, name) in [("ios", "iPhone"), ("android", "Android"), ("web", "Browser")] {
                figure.device.(kind) {
                    figcaption { (name) }
                    div.bubble {
                        p.quiet { "Your app · now" }
                        @if let Some(title) = &draft.title { p { strong { (title) } } }
                        p { (text) }
                    }
                }
            }
        }
    }
}
