//! Exporting and erasing what is stored about a person, for administrators: asking for it, and what became of it.

use std::sync::Arc;

use http::StatusCode;
use maud::{Markup, html};
use model::ids::PrivacyId;
use serde::Deserialize;
use serde_json::json;

use super::{Who, nobody};
use crate::answer::Answer;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::form::query;
use crate::parts::devices::{channel_page, user_page};
use crate::parts::fields::{Field, problems};
use crate::parts::numbers::grouped;
use crate::parts::once::once;
use crate::parts::states::badge;
use crate::visit::Visit;

#[derive(Deserialize)]
struct Asked {
    privacy_id: PrivacyId,
}

#[derive(Deserialize)]
struct Request {
    kind: String,
    state: String,
    created: String,
    ended: Option<String>,
    expires: Option<String>,
    receipt: Vec<Table>,
    clean_up: Option<String>,
}

#[derive(Deserialize)]
struct Table {
    table: String,
    found: u64,
    done: String,
}

pub(super) fn buttons(visit: &Visit, who: Who<'_>) -> Markup {
    let (name, id) = who.field();
    html! {
        div.actions {
            form method="post" action=(visit.to("/people/export")) {
                (once(visit))
                input type="hidden" name=(name) value=(id);
                button { "Export" }
            }
            a.button.danger href=(visit.to(&format!("/people/erase{}", query([(name, id)])))) { "Erase…" }
        }
    }
}

pub(crate) async fn export(visit: Arc<Visit>) -> Result<Answer> {
    ask(&visit, "export", Who::named_in(&visit.form).ok_or_else(nobody)?).await
}

/// What erasing means, and the question whether it is meant.
pub(crate) async fn confirm(visit: Arc<Visit>) -> Result<Answer> {
    match Who::named_in(&visit.query) {
        Some(who) => question(&visit, who, None),
        None => Answer::to(visit.to("/people")),
    }
}

pub(crate) async fn erase(visit: Arc<Visit>) -> Result<Answer> {
    let who = Who::named_in(&visit.form).ok_or_else(nobody)?;
    let (_, id) = who.field();
    if visit.form.exact("confirm").map(str::trim) != Some(id.trim()) {
        let error = Error::invalid("confirm", "This is not the id above; nobody was erased.");
        return Ok(question(&visit, who, Some(&error))?.refused(&error));
    }
    ask(&visit, "erase", who).await
}

async fn ask(visit: &Visit, what: &str, who: Who<'_>) -> Result<Answer> {
    let (name, id) = who.field();
    let Asked { privacy_id } = visit.post_form(&format!("/api/privacy/{what}"), json!({name: id})).await?;
    Answer::to(visit.to(&format!("/people/requests/{privacy_id}")))
}

fn question(visit: &Visit, who: Who<'_>, error: Option<&Error>) -> Result<Answer> {
    let (name, id) = who.field();
    let (what, back) = match who {
        Who::User(id) => (
            "the named user, all of its devices, and what they recorded while they were the user's",
            user_page(visit, id),
        ),
        Who::Channel(id) => ("the device; its named user stays, with all other devices", channel_page(visit, id)),
    };
    let body = html! {
        p { "Everything that is stored about " strong { (id) } " will be erased: " (what) "." }
        p { "Devices are uninstalled at once and get nothing any more. The rest takes some minutes. Counts in reports stay; \
             backups and systems that got events have to be seen to separately. There is no way back." }
        form.narrow method="post" action=(visit.to("/people/erase")) {
            (once(visit))
            (problems(error, &["confirm"]))
            input type="hidden" name=(name) value=(id);
            (Field::text("confirm", &format!("Type {id} to confirm")).show(error))
            div.buttons { button.danger { "Erase for ever" } a.button href=(back) { "Keep" } }
        }
    };
    Answer::page("Erase a person", body)
}

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    let id: PrivacyId = visit.id("privacy")?;
    let request: Request = visit.get(&format!("/api/privacy/{id}")).await?;
    let is_export = request.kind == "export";
    let body = html! {
        p.line {
            (badge(&request.state)) " asked for " (time(&request.created))
            @if let Some(ended) = &request.ended { " · ended " (time(ended)) }
            @if let Some(expires) = &request.expires { " · forgotten " (time(expires)) }
        }
        @match (request.state.as_str(), is_export) {
            ("done", true) => p {
                a.button.main href={ (visit.path) "/result" } download { "Download" }
                " " span.quiet { "One JSON object a line. Keep it safe." }
            },
            ("done", false) => p { "The person is erased." },
            (_, true) => p { "Everything about the person is being collected. " a href=(visit.path) { "Look again" } },
            (_, false) => p {
                "Nothing is sent to the person any more. The rest is erased within some minutes. "
                a href=(visit.path) { "Look again" }
            },
        }
        @if let Some(words) = request.clean_up.as_deref().and_then(clean_up) { div.notice { p { (words) } } }
        section { h2 { "Receipt" } (receipt(&request.receipt)) }
    };
    Answer::page(if is_export { "Export of a person" } else { "Erasure of a person" }, body)
}

/// The lines of an export.
pub(crate) async fn result(visit: Arc<Visit>) -> Result<Answer> {
    let id: PrivacyId = visit.id("privacy")?;
    match visit.download(&format!("/api/privacy/{id}/result"), &format!("export-{id}.ndjson")).await {
        Err(Error::Refused { status: StatusCode::CONFLICT, .. }) => {
            Answer::to(visit.to(&format!("/people/requests/{id}")))
        }
        other => other.map(Answer::Raw),
    }
}

fn receipt(tables: &[Table]) -> Markup {
    let tables: Vec<&Table> = tables.iter().filter(|table| table.found > 0).collect();
    html! {
        @if tables.is_empty() { div.empty { p { "Nothing was found so far. What is found in each table is told here." } } }
        @else {
            div.scroll tabindex="0" role="region" aria-label="Receipt" {
                table {
                    caption.hidden { "What was found and done in each table" }
                    thead { tr { th scope="col" { "Table" } th.number scope="col" { "Rows" } th scope="col" { "Done" } } }
                    tbody {
                        @for of in tables {
                            tr { td { code { (of.table) } } td.number { (grouped(of.found)) } td { (of.done) } }
                        }
                    }
                }
            }
        }
    }
}

fn clean_up(word: &str) -> Option<&'static str> {
    match word {
        "without_vacuum" => Some(
            "The file of the database is large: traces of earlier changes stay in it until the operator runs vacuum on it.",
        ),
        "blocked" => {
            Some("Something read the file of the database for long; its log is emptied when the service stops.")
        }
        "left_to_postgresql" => {
            Some("The rows are gone; PostgreSQL removes their bytes from its files when it cleans up.")
        }
        _ => None,
    }
}
