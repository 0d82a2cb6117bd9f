//! Segments: stored audiences with how many they reach, what they say in words, and deleting them.

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use model::account::Role;
use model::ids::SegmentId;
use model::time::UtcMillis;
use serde::Deserialize;
use serde_json::{Value, json};

use super::segment::{latest, namesake, used_by, uses};
use super::{Reach, figures, reach};
use crate::answer::Answer;
use crate::dates::moment;
use crate::error::Result;
use crate::form::query;
use crate::pages::compose;
use crate::parts::conditions::{Conditions, Known, sentence};
use crate::parts::copy;
use crate::parts::json::folded;
use crate::parts::numbers::{count, grouped};
use crate::parts::pager::pager;
use crate::visit::Visit;

#[derive(Deserialize)]
struct Page {
    segments: Vec<Segment>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Segment {
    id: SegmentId,
    display_name: String,
    /// In milliseconds.
    modification_date: i64,
}

#[derive(Deserialize)]
pub(super) struct Whole {
    pub(super) display_name: String,
    pub(super) criteria: Value,
}

#[derive(Deserialize)]
pub(super) struct Created {
    pub(super) segment_id: SegmentId,
}

pub(super) async fn section(visit: &Visit) -> Result<Markup> {
    let start = visit.query.text("start").unwrap_or_default();
    let filter = query([("order", "desc"), ("limit", "25"), ("start", start)]);
    let Page { segments, next_page } = visit.get(&format!("/api/segments{filter}")).await?;
    let mut rows = Vec::with_capacity(segments.len());
    for segment in &segments {
        rows.push((segment, reach(visit, &json!({"segment": segment.id})).await?));
    }
    let chosen = match chosen(visit).await? {
        Some((id, whole)) => {
            let of = rows.iter().find(|(segment, _)| segment.id == id).and_then(|(_, reach)| *reach);
            Some(one(visit, id, &whole, of).await)
        }
        None => None,
    };
    Ok(html! {
        @if visit.may(Role::Editor) {
            p { a.button.main href=(visit.to("/audience/segments/new")) { "Make a segment" } }
        }
        @if let Some(chosen) = &chosen { (chosen) }
        @if rows.is_empty() {
            div.empty {
                p { "There is no segment yet. A segment is an audience with a name: messages that name it go by what it says when \
                     they are sent." }
            }
        } @else { (table(visit, &rows)) }
        (pager(visit, next_page.as_deref()))
    })
}

/// The segment that the URL names.
async fn chosen(visit: &Visit) -> Result<Option<(SegmentId, Whole)>> {
    let Some(id) = visit.query.text("segment").and_then(|id| id.parse::<SegmentId>().ok()) else { return Ok(None) };
    let found: Option<Whole> = visit.find(&format!("/api/segments/{id}")).await?;
    Ok(found.map(|whole| (id, whole)))
}

async fn one(visit: &Visit, id: SegmentId, whole: &Whole, reach: Option<Reach>) -> Markup {
    let conditions = Conditions::of(&whole.criteria);
    let whom = sentence(&conditions, &Known::of(visit, &conditions).await);
    let latest = latest(visit).await;
    let (uses, namesake) = (uses(visit, id, &latest).await, namesake(&latest, Some(id), &whole.display_name));
    html! {
        article.card {
            h2 { (whole.display_name) }
            @if let Some(other) = namesake {
                p.warning { a href=(visit.to(&format!("/audience?segment={other}"))) { "Another segment has this name, too." } }
            }
            @if let Some(Reach { matched, reachable }) = reach {
                p { (count(matched, "device is", "devices are")) " in it now, of which " (grouped(reachable)) " can be shown a notification." }
            }
            @if let Some(whom) = whom { p { "It is " (whom) "." } }
            (folded("As JSON", &whole.criteria))
            p.quiet { "Id " (copy::inline(&id.to_string(), "the id")) }
            h3 { "Used by" }
            (used_by(&uses))
            @if visit.may(Role::Editor) {
                p.actions {
                    a.button href=(visit.to(&format!("/audience/segments/{id}"))) { "Change it" }
                    a.button href=(compose::link(visit, &[("who", "some"), ("kind0", "segment"), ("value0", &id.to_string())])) {
                        "Write to them"
                    }
                }
                details.fold {
                    summary { "Delete…" }
                    p { "Messages, schedules and other segments that name it reach nobody by it any more." }
                    form method="post" action=(visit.to(&format!("/audience/segments/{id}/delete"))) {
                        button.danger { "Delete " (whole.display_name) }
                    }
                }
            }
        }
    }
}

fn table(visit: &Visit, rows: &[(&Segment, Option<Reach>)]) -> Markup {
    html! {
        div.scroll {
            table {
                caption.hidden { "Segments with the devices in them, the newest first" }
                thead {
                    tr {
                        th scope="col" { "Segment" } th.number scope="col" { "Devices" } th.number scope="col" { "Reachable" }
                        th scope="col" { "Changed" }
                    }
                }
                tbody {
                    @for (segment, reach) in rows {
                        tr {
                            @let here = visit.query.with(&[("segment", segment.id.to_string().as_str())]);
                            td.wide { a href={ (visit.path) (here) } { (segment.display_name) } }
                            (figures(*reach))
                            td { (moment(UtcMillis(segment.modification_date))) }
                        }
                    }
                }
            }
        }
    }
}

pub(crate) async fn delete(visit: Arc<Visit>) -> Result<Answer> {
    let id: SegmentId = visit.id("segment")?;
    visit.change(Method::DELETE, &format!("/api/segments/{id}"), None).await?;
    Answer::to(visit.to("/audience"))
}
