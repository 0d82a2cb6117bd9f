//! Segments: stored audiences with how many they reach, their criteria, and making and deleting them.

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use model::account::Role;
use model::ids::SegmentId;
use model::time::UtcMillis;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Reach, draw, figures, reach};
use crate::answer::Answer;
use crate::dates::moment;
use crate::error::{Error, Result};
use crate::form::query;
use crate::parts::fields::{Field, problems};
use crate::parts::json::block;
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
struct Whole {
    display_name: String,
    criteria: Value,
}

#[derive(Deserialize)]
struct Created {
    segment_id: SegmentId,
}

const EXAMPLE: &str = r#"{"and": [{"tag": "news"}, {"not": {"tag": "quiet"}}]}"#;

pub(super) async fn section(visit: &Visit, error: Option<&Error>) -> Result<Markup> {
    let start = visit.query.text("start").unwrap_or_default();
    let filter = query([("order", "desc"), ("limit", "25"), ("start", start)]);
    let Page { segments, next_page } = visit.get(&format!("/api/segments{filter}")).await?;
    let mut rows = Vec::with_capacity(segments.len());
    for segment in &segments {
        rows.push((segment, reach(visit, &json!({"segment": segment.id})).await?));
    }
    let chosen = chosen(visit).await?;
    Ok(html! {
        @if let Some((id, whole)) = &chosen {
            @let of = rows.iter().find(|(segment, _)| segment.id == *id).and_then(|(_, reach)| *reach);
            (one(visit, *id, whole, of))
        }
        @if rows.is_empty() {
            div.empty {
                p { "There is no segment yet. A segment is an audience with a name: messages that name it go by what it says when \
                     they are sent." }
            }
        } @else { (table(visit, &rows)) }
        (pager(visit, next_page.as_deref()))
        @if visit.may(Role::Editor) { (form(visit, error)) }
    })
}

/// The segment that the URL names.
async fn chosen(visit: &Visit) -> Result<Option<(SegmentId, Whole)>> {
    let Some(id) = visit.query.text("segment").and_then(|id| id.parse::<SegmentId>().ok()) else { return Ok(None) };
    let found: Option<Whole> = visit.find(&format!("/api/segments/{id}")).await?;
    Ok(found.map(|whole| (id, whole)))
}

fn one(visit: &Visit, id: SegmentId, whole: &Whole, reach: Option<Reach>) -> Markup {
    html! {
        article.card {
            h2 { (whole.display_name) }
            @if let Some(Reach { matched, reachable }) = reach {
                p { (count(matched, "device is", "devices are")) " in it now, of which " (grouped(reachable)) " can be shown a notification." }
            }
            (block(&whole.criteria))
            p.quiet { "Id " code.copy { (id) } }
            @if visit.may(Role::Editor) {
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

fn form(visit: &Visit, error: Option<&Error>) -> Markup {
    // A tag or an attribute leads here with criteria of its own.
    let typed = |name: &str| visit.form.exact(name).or(visit.query.exact(name)).unwrap_or_default();
    let wrong = error.and_then(|error| error.about("criteria"));
    html! {
        section #make {
            h2 { "Make a segment" }
            form.narrow method="post" action=(visit.to("/audience")) {
                (problems(error, &["display_name", "criteria"]))
                (Field::text("display_name", "Name").value(typed("display_name")).show(error))
                div.field {
                    label for="criteria" { "Criteria, as JSON" }
                    textarea id="criteria" name="criteria" rows="6" required spellcheck="false" aria-invalid=[wrong.map(|_| "true")]
                        aria-describedby="criteria-hint" { (typed("criteria")) }
                    p.hint #criteria-hint { "As in the audience of a push, such as " code { (EXAMPLE) } }
                    @if let Some(wrong) = wrong { p.wrong { (wrong) } }
                }
                button.main { "Make it" }
            }
        }
    }
}

pub(crate) async fn create(visit: Arc<Visit>) -> Result<Answer> {
    match try_create(&visit).await {
        Ok(id) => Answer::to(visit.to(&format!("/audience?segment={id}"))),
        Err(error @ (Error::Invalid(_) | Error::Refused { .. })) => {
            Ok(draw(&visit, Some(&error)).await?.refused(&error))
        }
        Err(other) => Err(other),
    }
}

async fn try_create(visit: &Visit) -> Result<SegmentId> {
    let name = visit.form.text("display_name").unwrap_or_default();
    let criteria = visit.form.text("criteria").unwrap_or_default();
    let not_json = |error: serde_json::Error| Error::invalid("criteria", &format!("This is not JSON: {error}."));
    let criteria: Value = serde_json::from_str(criteria).map_err(not_json)?;
    let made: Result<Created> = visit.post("/api/segments", json!({"display_name": name, "criteria": criteria})).await;
    match made {
        Ok(created) => Ok(created.segment_id),
        Err(Error::Invalid(wrong)) => Err(Error::Invalid(wrong.into_iter().map(of_field).collect())),
        Err(other) => Err(other),
    }
}

/// A problem somewhere within the criteria is told at their field, with the place.
fn of_field((path, sentence): (String, String)) -> (String, String) {
    match path.strip_prefix("criteria") {
        Some(within) if !within.is_empty() => ("criteria".to_owned(), format!("{sentence} ({path})")),
        _ => (path, sentence),
    }
}

pub(crate) async fn delete(visit: Arc<Visit>) -> Result<Answer> {
    let id: SegmentId = visit.id("segment")?;
    visit.change(Method::DELETE, &format!("/api/segments/{id}"), None).await?;
    Answer::to(visit.to("/audience"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_within_the_criteria_are_told_at_their_field() {
        let told = of_field(("criteria.and[1].tag".to_owned(), "Too long.".to_owned()));
        assert_eq!(told, ("criteria".to_owned(), "Too long. (criteria.and[1].tag)".to_owned()));
        assert_eq!(of_field(("display_name".to_owned(), "Missing.".to_owned())).0, "display_name");
    }
}
