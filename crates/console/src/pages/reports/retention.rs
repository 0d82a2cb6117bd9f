//! Who comes back: for the devices that came in a week or a day, the part that opened the app in each week or day after it.

use maud::{Markup, html};
use serde::Deserialize;

use crate::answer::Answer;
use crate::error::Result;
use crate::form::query;
use crate::parts::numbers::{grouped, percent};
use crate::visit::Visit;

#[derive(Deserialize)]
struct Retention {
    cohort: String,
    cohorts: Vec<Cohort>,
}

#[derive(Deserialize)]
struct Cohort {
    date: String,
    channels: u64,
    returned: Vec<u64>,
}

const LENGTHS: [(&str, &str); 2] = [("week", "By week"), ("day", "By day")];
const CALL: &str = "/api/reports/retention";

pub(super) async fn section(visit: &Visit) -> Result<Markup> {
    let found: Retention = visit.get(&format!("{CALL}{}", query([("cohort", length(visit))]))).await?;
    let to = |length: &str| format!("{}{}#retention", visit.path, visit.query.with(&[("cohort", length)]));
    let file = format!("{}{}", visit.to("/reports/retention.csv"), query([("cohort", found.cohort.as_str())]));
    Ok(html! {
        section #retention {
            div.head { h2 { "Who comes back" } a href=(file) download { "CSV" span.hidden { " of who comes back" } } }
            nav.tabs aria-label="Length of the periods" {
                @for (length, words) in LENGTHS {
                    a href=(to(length)) aria-current=[(length == found.cohort).then_some("true")] { (words) }
                }
            }
            @if found.cohorts.iter().all(|cohort| cohort.channels == 0) {
                div.empty { p { "No device has registered in this time. Of those that do, it is told here how many open the app again." } }
            } @else { (table(&found)) }
            p.quiet { "Of the devices that registered in a " (found.cohort) " of UTC, those that opened the app in each " (found.cohort)
                " after it. The last figure of each line is of a " (found.cohort) " that has not ended." }
        }
    })
}

pub(super) async fn download(visit: &Visit) -> Result<Answer> {
    let length = length(visit);
    let path = format!("{CALL}{}", query([("cohort", length), ("format", "csv")]));
    Ok(Answer::Raw(visit.download(&path, &format!("retention-by-{length}.csv")).await?))
}

fn length(visit: &Visit) -> &'static str {
    let wanted = visit.query.text("cohort").unwrap_or_default();
    LENGTHS.iter().map(|(length, _)| *length).find(|length| *length == wanted).unwrap_or("week")
}

fn table(found: &Retention) -> Markup {
    let n_after = found.cohorts.len().saturating_sub(1);
    html! {
        div.scroll tabindex="0" role="region" aria-label="Who comes back" {
            table.retention {
                caption.hidden { "Devices by when they registered, and the part of them that opened the app again" }
                thead {
                    tr {
                        th scope="col" { "Came" } th.number scope="col" { "Devices" }
                        @for n in 1..=n_after { th.number scope="col" { (found.cohort) " " (n) } }
                    }
                }
                tbody {
                    @for Cohort { date, channels, returned } in &found.cohorts {
                        tr {
                            th.still scope="row" { (date.get(..10).unwrap_or(date)) }
                            td.number { (grouped(*channels)) }
                            @for n in returned {
                                td.number.{ "h" (shade(*n, *channels)) } title={ (grouped(*n)) " of " (grouped(*channels)) } {
                                    (percent(*n, *channels))
                                }
                            }
                            @for _ in returned.len()..n_after { td {} }
                        }
                    }
                }
            }
        }
    }
}

/// How dark a figure is drawn, from 0 to 4; the figure itself says the same.
fn shade(part: u64, whole: u64) -> u64 {
    if part == 0 || whole == 0 {
        return 0;
    }
    (part.saturating_mul(4) / whole).clamp(1, 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_follow_the_share() {
        assert_eq!(
            [(0, 9), (1, 100), (50, 100), (100, 100), (3, 0)].map(|(part, whole)| shade(part, whole)),
            [0, 1, 2, 4, 0]
        );
    }
}
