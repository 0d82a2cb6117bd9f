//! The way through a list whose pages are counted from its beginning.

use maud::{Markup, html};

use crate::visit::Visit;

pub(crate) fn offsets(visit: &Visit, offset: u64, page: u64, total: u64) -> Markup {
    let to = |offset: u64| {
        let offset = if offset == 0 { String::new() } else { offset.to_string() };
        format!("{}{}", visit.path, visit.query.with(&[("offset", &offset)]))
    };
    let next = offset.saturating_add(page);
    html! {
        @if offset > 0 || next < total {
            nav.pager aria-label="Pages of the list" {
                @if offset > 0 { a rel="prev" href=(to(offset.saturating_sub(page))) { "Newer" } }
                @if next < total { a rel="next" href=(to(next)) { "Older" } }
            }
        }
    }
}
