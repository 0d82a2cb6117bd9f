//! The way to the next page of a table, and back to the first.

use maud::{Markup, html};

use crate::form::Fields;
use crate::visit::Visit;

/// `next` is the `next_page` of an answer, of which `start` is kept.
pub(crate) fn pager(visit: &Visit, next: Option<&str>) -> Markup {
    let start = next.and_then(|next| next.split_once('?')).map(|(_, query)| Fields::parse(query));
    let start = start.as_ref().and_then(|query| query.text("start"));
    let is_first = visit.query.text("start").is_none();
    html! {
        @if start.is_some() || !is_first {
            nav.pager aria-label="Pages of the table" {
                @if !is_first { a href={ (visit.path) (visit.query.with(&[("start", "")])) } { "Newest" } }
                @if let Some(start) = start {
                    a rel="next" href={ (visit.path) (visit.query.with(&[("start", start)])) } { "Older" }
                }
            }
        }
    }
}
