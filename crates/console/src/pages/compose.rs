//! Compose: who, what and when on one page, with the reach beside it; then a page that says in words what will happen.

mod conditions;
mod draft;
mod preview;
mod reach;
mod review;
pub(crate) mod sending;

use std::sync::Arc;

use maud::{Markup, html};
use model::account::Role;
use serde::Deserialize;
use serde_json::Value;

use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::form::{Fields, encode};
use crate::parts::fields::{Field, choice, problems};
use crate::visit::Visit;
use conditions::{Conditions, Join, Kind};
use draft::{Draft, When};
use reach::Reach;

#[derive(Deserialize)]
struct Segments {
    segments: Vec<Segment>,
}

#[derive(Deserialize)]
struct Segment {
    id: String,
    display_name: String,
}

/// The page, with whatever the URL has filled in: a draft can be bookmarked, copied and shared.
pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    let draft = Draft::read(&visit.query);
    draw(&visit, &visit.query, &draft, None).await
}

/// Adds or removes a condition, shows what will happen, or sends.
pub(crate) async fn post(visit: Arc<Visit>) -> Result<Answer> {
    let mut draft = Draft::read(&visit.form);
    match visit.form.text("do") {
        Some("add") => {
            draft.conditions.add();
            draw(&visit, &visit.form, &draft, None).await
        }
        Some("take") => {
            let read = serde_json::from_str::<Value>(visit.form.text("json").unwrap_or_default());
            let error = read.as_ref().err().map(|error| Error::invalid("json", &format!("This is no JSON: {error}.")));
            if let Ok(audience) = &read {
                draft.conditions = Conditions::of(audience);
            }
            draw(&visit, &visit.form, &draft, error.as_ref()).await
        }
        Some("check") => draw(&visit, &visit.form, &draft, None).await,
        Some("review") => match review::show(&visit, &draft).await {
            Err(error @ (Error::Invalid(_) | Error::Refused { .. })) => {
                Ok(draw(&visit, &visit.form, &draft, Some(&error)).await?.refused(&error))
            }
            shown => shown,
        },
        Some("send") => match review::send(&visit, &draft).await {
            Err(error @ (Error::Invalid(_) | Error::Refused { .. })) => {
                Ok(draw(&visit, &visit.form, &draft, Some(&error)).await?.refused(&error))
            }
            sent => sent,
        },
        other => {
            if let Some(row) = other.and_then(|what| what.strip_prefix("remove-")?.parse().ok()) {
                draft.conditions.remove(row);
            }
            draw(&visit, &visit.form, &draft, None).await
        }
    }
}

async fn draw(visit: &Visit, typed: &Fields, draft: &Draft, error: Option<&Error>) -> Result<Answer> {
    let Segments { segments } = visit.get("/api/segments").await?;
    let reach = Reach::of(visit, draft).await;
    let body = html! {
        div.compose {
            form #compose method="post" action=(visit.to("/compose")) {
                // What Enter in a field does: browsers take the first button of a form.
                button.hidden name="do" value="check" formnovalidate tabindex="-1" { "Check the reach" }
                (problems(error, &[]))
                (who(draft, &segments))
                (what(typed))
                (when(draft, typed))
                div.actions {
                    button name="do" value="check" formnovalidate { "Check the reach" }
                    @if visit.may(Role::Sender) {
                        button.main name="do" value="review" { "Review and send" }
                    } @else {
                        p.quiet { "Sending is for people with the role sender; they can open this page by its address." }
                    }
                }
            }
            aside #beside aria-label="Reach and preview" {
                (reach.show())
                (preview::show(draft))
            }
        }
    };
    Answer::page("Compose", body)
}

fn who(draft: &Draft, segments: &[Segment]) -> Markup {
    let Conditions { is_everybody, join, rows } = &draft.conditions;
    html! {
        fieldset {
            legend { "1 Who" }
            label.check { input type="radio" name="who" value="all" checked[*is_everybody]; "Everybody" }
            label.check { input type="radio" name="who" value="some" checked[!*is_everybody]; "People who fulfil conditions" }
            @for (n, row) in rows.iter().enumerate() {
                div.condition role="group" aria-label={ "Condition " (n + 1) } {
                    select name={ "not" (n) } aria-label="Is or is not" {
                        option value="" selected[!row.is_negated] { "is" }
                        option value="not" selected[row.is_negated] { "is not" }
                    }
                    select name={ "kind" (n) } aria-label="Kind" {
                        @for kind in Kind::ALL { option value=(kind.word()) selected[kind == row.kind] { (kind.label()) } }
                    }
                    input name={ "value" (n) } value=(row.value) aria-label="Value" placeholder=(row.kind.example())
                        list=[(row.kind == Kind::Segment).then_some("segments")];
                    button.small name="do" value={ "remove-" (n) } formnovalidate aria-label={ "Remove condition " (n + 1) } { "×" }
                }
            }
            datalist id="segments" { @for segment in segments { option value=(segment.id) { (segment.display_name) } } }
            (as_json(draft))
            div.actions {
                (choice("join", "Together", &[("and", "all of them"), ("or", "any of them")], join.word()))
                button.small name="do" value="add" formnovalidate { "Add a condition" }
            }
        }
    }
}

/// The same as JSON, for audiences that no rows can say; both ways, nothing is lost.
fn as_json(draft: &Draft) -> Markup {
    let shown = draft.conditions.audience().ok().and_then(|audience| serde_json::to_string_pretty(&audience).ok());
    html! {
        details {
            summary { "As JSON" }
            div.field {
                label for="json" { "Audience as the API takes it" }
                textarea id="json" name="json" rows="4" spellcheck="false" { (shown.unwrap_or_default()) }
            }
            button.small name="do" value="take" formnovalidate { "Take this over" }
        }
    }
}

fn what(typed: &Fields) -> Markup {
    let value = |name: &str| typed.exact(name).unwrap_or_default().to_owned();
    html! {
        fieldset {
            legend { "2 What" }
            (Field::text("title", "Title").value(&value("title")).optional().show(None))
            div.field {
                label for="text" { "Text" }
                textarea id="text" name="text" rows="3" required { (value("text")) }
            }
            (Field { kind: "url", ..Field::text("url", "Opens").value(&value("url")).optional()
                .hint("An address on the web; without one, the app.") }.show(None))
            (Field::text("name", "Name for yourselves").value(&value("name")).optional()
                .hint("By which you find it in the list; devices do not get it.").show(None))
        }
    }
}

fn when(draft: &Draft, typed: &Fields) -> Markup {
    let at = typed.exact("at").unwrap_or_default();
    let options = [(When::Now, "Now"), (When::At, "At a time (UTC)"), (When::Local, "At everybody's own time of day")];
    html! {
        fieldset {
            legend { "3 When" }
            @for (when, words) in options {
                label.check { input type="radio" name="when" value=(when.word()) checked[draft.when == when]; (words) }
            }
            div.field {
                label for="at" { "Time" }
                input id="at" name="at" type="datetime-local" value=(at);
            }
            (choice("expires", "Nothing is sent after", &draft::EXPIRY, typed.text("expires").unwrap_or_default()))
        }
    }
}

/// The address of the page with some of it filled in.
pub(crate) fn link(visit: &Visit, fields: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
    format!("{}?{}", visit.to("/compose"), pairs.join("&"))
}

fn join_of(word: &str) -> Join {
    if word == "or" { Join::Or } else { Join::And }
}
