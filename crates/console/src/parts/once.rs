//! The field by which a form is known again, so that a second click on it does nothing more (`Visit::post_form`).

use http::Method;
use maud::{Markup, html};

use crate::visit::Visit;

/// Of a form that makes or sends something. A page that is brought up to date has it already, and looks the same without: its
/// script keeps the field as it was.
pub(crate) fn once(visit: &Visit) -> Markup {
    let is_update = visit.is_fragment && visit.method == Method::GET;
    let value = if is_update { String::new() } else { visit.once.to_string() };
    html! { input type="hidden" name="once" value=(value) data-once; }
}
