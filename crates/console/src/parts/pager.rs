//! The way to the next page of a table, and back.

use maud::{Markup, html};

use crate::form::Fields;
use crate::visit::Visit;

/// Of a table with the newest first. `next` is the `next_page` of an answer, of which `start` is kept.
pub(crate) fn pager(visit: &Visit, next: Option<&str>) -> Markup {
    turning(visit, next, ["Newest", "Older"])
}

/// With words for the way to the beginning and to what follows.
pub(crate) fn turning(visit: &Visit, next: Option<&str>, [to_first, to_next]: [&str; 2]) -> Markup {
    let start = next.and_then(|next| next.split_once('?')).map(|(_, query)| Fields::parse(query));
    let start = start.as_ref().and_then(|query| query.text("start"));
    let is_first = visit.query.text("start").is_none();
    html! {
        @if start.is_some() || !is_first {
            nav.pager aria-label="Pages of the table" {
                @if !is_first { a href={ (visit.path) (visit.query.with(&[("start", "")])) } { (to_first) } }
                @if let Some(start) = start {
                    a rel="next" href={ (visit.path) (visit.query.with(&[("start", start)])) } { (to_next) }
                }
            }
        }
    }
}

/// Between older and newer entries of something that is read backwards. `before` leads to older ones; `left_out` are parts of
/// the query that belong to the page only. The way back is kept in the URL, because answers do not know it.
pub(crate) fn back_and_forth(visit: &Visit, before: Option<&str>, left_out: &[&str]) -> Markup {
    let here = visit.query.text("before").unwrap_or_default();
    let trail = visit.query.text("trail").unwrap_or_default();
    let to = |before: &str, trail: &str| {
        let dropped = left_out.iter().map(|name| (*name, ""));
        let changes: Vec<(&str, &str)> = dropped.chain([("before", before), ("trail", trail)]).collect();
        format!("{}{}", visit.path, visit.query.with(&changes))
    };
    let (newer, shorter) = step_back(trail);
    html! {
        @if before.is_some() || !here.is_empty() {
            nav.pager aria-label="Older and newer" {
                @if !here.is_empty() { a href=(to("", "")) { "Newest" } a rel="prev" href=(to(newer, shorter)) { "Newer" } }
                @if let Some(before) = before { a rel="next" href=(to(before, &step_on(trail, here))) { "Older" } }
            }
        }
    }
}

/// Where the page before this one began, and the way to there.
fn step_back(trail: &str) -> (&str, &str) {
    match trail.rsplit_once('.') {
        Some((before, last)) => (last, before),
        None => (trail, ""),
    }
}

fn step_on(trail: &str, here: &str) -> String {
    if trail.is_empty() { here.to_owned() } else { format!("{trail}.{here}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_is_the_way_there() {
        let first = step_on("", "");
        let second = step_on(&first, "900");
        let third = step_on(&second, "500");
        assert_eq!((first.as_str(), second.as_str(), third.as_str()), ("", "900", "900.500"));
        assert_eq!((step_back(&third), step_back(&second), step_back(&first)), (("500", "900"), ("900", ""), ("", "")));
    }
}
