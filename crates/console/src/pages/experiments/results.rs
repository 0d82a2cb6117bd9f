//! The results of an experiment as a table: rates with their ranges, and differences in words.

use maud::{Markup, html};
use serde::Deserialize;

use crate::parts::numbers::grouped;
use crate::visit::Visit;

#[derive(Deserialize)]
pub(super) struct Results {
    pub(super) has_started: bool,
    pub(super) verdict: String,
    variants: Vec<Variant>,
    control: Option<Group>,
}

#[derive(Deserialize)]
struct Variant {
    id: u64,
    name: String,
    #[serde(default)]
    push_ids: Vec<String>,
    #[serde(flatten)]
    group: Group,
    difference_to_best: Option<Difference>,
    difference_to_control: Option<Difference>,
}

#[derive(Deserialize)]
struct Group {
    audience_pct: f64,
    chosen: u64,
    opened: u64,
    opened_pct: Option<f64>,
    interval_pct: Option<(f64, f64)>,
}

#[derive(Deserialize)]
struct Difference {
    points: f64,
    clear: bool,
}

impl Results {
    pub(super) fn has_control(&self) -> bool {
        self.control.is_some()
    }

    pub(super) fn state(&self) -> &'static str {
        if self.has_started { "started" } else { "waiting" }
    }

    pub(super) fn table(&self, visit: &Visit, text: impl Fn(u64) -> Option<String>) -> Markup {
        html! {
            div.scroll tabindex="0" {
                table.stack {
                    caption.hidden { "Results by variant" }
                    thead {
                        tr {
                            th scope="col" { "Variant" } th.number scope="col" { "Share" } th.number scope="col" { "Devices" }
                            th.number scope="col" { "Opened" } th.number scope="col" { "Rate" } th scope="col" { "Compared" }
                        }
                    }
                    tbody {
                        @for variant in &self.variants {
                            tr {
                                th.wide scope="row" {
                                    @match variant.push_ids.first() {
                                        Some(push) => a href=(visit.to(&format!("/messages/{push}"))) { (variant.name) },
                                        None => (variant.name),
                                    }
                                    @if let Some(text) = text(variant.id) { p.quiet.clip { (text) } }
                                }
                                (cells(&variant.group))
                                td.wide {
                                    @if let Some(difference) = &variant.difference_to_best { p { (words(difference, "the best variant")) } }
                                    @else if self.variants.len() > 1 && variant.group.opened > 0 { p { "The best so far" } }
                                    @if let Some(difference) = &variant.difference_to_control { p { (words(difference, "the control group")) } }
                                }
                            }
                        }
                        @if let Some(control) = &self.control {
                            tr { th.wide scope="row" { "Control group" p.quiet { "got nothing" } } (cells(control)) td {} }
                        }
                    }
                }
            }
        }
    }
}

fn cells(group: &Group) -> Markup {
    html! {
        td.number data-is="Share" { (tenth(group.audience_pct)) "\u{202f}%" }
        td.number data-is="Devices" { (grouped(group.chosen)) }
        td.number data-is="Opened" { (grouped(group.opened)) }
        td.number data-is="Rate" {
            @match group.opened_pct { Some(rate) => { (tenth(rate)) "\u{202f}%" }, None => "–" }
            @if let Some((low, high)) = group.interval_pct { p.quiet { (tenth(low)) " to " (tenth(high)) } }
        }
    }
}

/// `1.2 points less than the best variant, which may be chance`.
fn words(difference: &Difference, than: &str) -> String {
    let points = tenth(difference.points.abs());
    if points == "0" {
        return format!("no difference to {than} so far");
    }
    let more = if difference.points < 0.0 { "less" } else { "more" };
    let sure = if difference.clear { "clearly" } else { "which may be chance" };
    format!("{points} points {more} than {than}, {sure}")
}

/// With one digit after the point, unless that is zero.
fn tenth(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_told_in_words() {
        let told = |points, clear| words(&Difference { points, clear }, "the control group");
        assert_eq!(told(-1.25, false), "1.2 points less than the control group, which may be chance");
        assert_eq!(told(-0.04, false), "no difference to the control group so far");
        assert_eq!(told(3.0, true), "3 points more than the control group, clearly");
    }
}
