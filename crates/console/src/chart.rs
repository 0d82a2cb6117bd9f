//! Charts as SVG, drawn by the server: columns in layers, with the same figures as a table behind them. Colors come from
//! classes, so that they follow the light, the dark and the printed page.

mod funnel;
mod scale;

use maud::{Markup, html};

use crate::parts::numbers::grouped;
use scale::top;

pub(crate) use funnel::funnel;

/// Figures over time: a row per column of the chart, each with a value per name.
pub(crate) struct Columns {
    pub(crate) caption: String,
    pub(crate) names: Vec<String>,
    pub(crate) rows: Vec<(String, Vec<u64>)>,
}

const WIDTH: u64 = 720;
const HEIGHT: u64 = 160;
/// For the numbers at the side and the times below.
const LEFT: u64 = 48;
const BELOW: u64 = 20;
/// What the line of an earlier time is called.
const BEFORE: &str = "the time before";

pub(crate) fn columns(chart: &Columns) -> Markup {
    columns_beside(chart, &[])
}

/// As [`columns`], with the sums of an earlier time as a line across them.
pub(crate) fn columns_beside(chart: &Columns, before: &[u64]) -> Markup {
    let sums = chart.rows.iter().map(|(_, values)| values.iter().sum::<u64>());
    let highest = sums.chain(before.iter().copied()).max().unwrap_or(0);
    if highest == 0 {
        return html! { div.empty { p { "Nothing in this time." } } };
    }
    let top = top(highest);
    let n_rows = chart.rows.len().max(1) as u64;
    let step = (WIDTH - LEFT) / n_rows;
    let y = |value: u64| HEIGHT - BELOW - (HEIGHT - BELOW - 8) * value / top;
    html! {
        figure.chart {
            figcaption { (chart.caption) }
            (legend(&chart.names, !before.is_empty()))
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(chart.caption) {
                @for line in [0, top / 2, top] {
                    line.grid x1=(LEFT) x2=(WIDTH) y1=(y(line)) y2=(y(line)) {}
                    text.axis x=(LEFT - 6) y=(y(line) + 4) text-anchor="end" { (grouped(line)) }
                }
                @for (index, (label, values)) in chart.rows.iter().enumerate() {
                    @let x = LEFT + step * index as u64;
                    g {
                        title { (label) ": " (grouped(values.iter().sum())) }
                        @for (layer, (from, to)) in layers(values).enumerate() {
                            rect.{ "s" (layer % 6) } x=(x + 1) y=(y(to)) width=(step.saturating_sub(2).max(1)) height=(y(from) - y(to)) {}
                        }
                    }
                    @if is_labelled(index, chart.rows.len()) {
                        text.axis x=(x) y=(HEIGHT - 4) { (short(label)) }
                    }
                }
                @if !before.is_empty() {
                    @let middle = |index: usize| LEFT + step * index as u64 + step / 2;
                    @let points: Vec<String> = before.iter().take(chart.rows.len()).enumerate()
                        .map(|(index, value)| format!("{},{}", middle(index), y(*value))).collect();
                    polyline.before points=(points.join(" ")) {}
                }
            }
            (table(chart, before))
        }
    }
}

/// From where to where each value goes, one upon the other.
fn layers(values: &[u64]) -> impl Iterator<Item = (u64, u64)> {
    let mut below = 0;
    values.iter().map(move |value| {
        let from = below;
        below += value;
        (from, below)
    })
}

/// About six labels, however many columns there are.
fn is_labelled(index: usize, n: usize) -> bool {
    index.is_multiple_of(n.div_ceil(6).max(1))
}

/// The hour of `2024-05-01 08:00:00`, or its day where all are midnights.
fn short(label: &str) -> &str {
    match label.get(11..16) {
        Some("00:00") | None => label.get(5..10).unwrap_or(label),
        Some(hour) => hour,
    }
}

fn legend(names: &[String], has_before: bool) -> Markup {
    html! {
        @if names.len() > 1 || has_before {
            ul.legend {
                @for (index, name) in names.iter().enumerate() { li { span.key.{ "s" (index % 6) } {} (name) } }
                @if has_before { li { span.key.before {} (BEFORE) } }
            }
        }
    }
}

fn table(chart: &Columns, before: &[u64]) -> Markup {
    html! {
        details {
            summary { "Figures" }
            div.scroll tabindex="0" {
                table {
                    caption.hidden { (chart.caption) }
                    thead {
                        tr {
                            th scope="col" { "Time" } @for name in &chart.names { th.number scope="col" { (name) } }
                            @if !before.is_empty() { th.number scope="col" { (BEFORE) } }
                        }
                    }
                    tbody {
                        @for (index, (label, values)) in chart.rows.iter().enumerate() {
                            tr {
                                th scope="row" { (label) } @for value in values { td.number { (grouped(*value)) } }
                                @if let Some(before) = before.get(index) { td.number { (grouped(*before)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
