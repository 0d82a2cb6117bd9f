//! Uploaded lists of devices and people: how many are on each, the file to take away, and a form to bring one.

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use model::account::Role;
use serde::Deserialize;
use serde_json::json;

use crate::answer::Answer;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::form::{encode, query};
use crate::parts::fields::{Field, problems};
use crate::parts::numbers::{count, grouped};
use crate::parts::states::badge_saying;
use crate::visit::Visit;

#[derive(Deserialize)]
struct Lists {
    lists: Vec<List>,
}

#[derive(Deserialize)]
struct List {
    name: String,
    description: Option<String>,
    last_updated: String,
    channel_count: u64,
    status: String,
    error_count: Option<u64>,
}

/// Nobody uploads these, so that there is nothing to take away either.
const LIFECYCLE: &str = "ua_";
const FILE_HINT: &str = "A line for each: the type and the identifier, such as named_user,kim-7 or ios_channel and a channel id. Up to 8 \
                         MiB; larger files go to PUT /api/lists/<name>/csv.";

pub(super) async fn section(visit: &Visit, error: Option<&Error>) -> Result<Markup> {
    let Lists { lists } = visit.get("/api/lists?type=all").await?;
    let chosen = visit.query.text("list");
    let shown: Vec<&List> = lists.iter().filter(|list| chosen.is_none_or(|name| list.name == name)).collect();
    Ok(html! {
        @if chosen.is_some() { p { a href={ (visit.to("/audience")) "?show=lists" } { "Show all" } } }
        @if shown.is_empty() {
            div.empty { p { "There is no such list. A list names channels and people in a file that somebody uploads." } }
        } @else { (table(visit, &shown)) }
        @if visit.may(Role::Editor) { (form(visit, error)) }
    })
}

fn table(visit: &Visit, lists: &[&List]) -> Markup {
    html! {
        // Nothing in it may have the focus, so that people without a mouse could not scroll it otherwise.
        div.scroll tabindex="0" role="region" aria-label="Lists" {
            table {
                caption.hidden { "Lists with the devices on them" }
                thead {
                    tr {
                        th scope="col" { "List" } th.number scope="col" { "Devices" } th scope="col" { "State" }
                        th scope="col" { "Changed" } th scope="col" { span.hidden { "Files" } }
                    }
                }
                tbody { @for list in lists { (row(visit, list)) } }
            }
        }
    }
}

fn row(visit: &Visit, list: &List) -> Markup {
    let file = |name: &str| visit.to(&format!("/audience/lists/{}/{name}", encode(&list.name)));
    let is_uploaded = !list.name.starts_with(LIFECYCLE);
    html! {
        tr {
            th.wide scope="row" { (list.name) @if let Some(words) = &list.description { p.quiet { (words) } } }
            td.number { (grouped(list.channel_count)) }
            td { (state(&list.status)) }
            td { (time(&list.last_updated)) }
            td {
                @if is_uploaded && visit.may(Role::Support) {
                    p { a href=(file("csv")) download { "CSV" span.hidden { " of " (list.name) } } }
                    @if let Some(n) = list.error_count {
                        p { a href=(file("errors")) download { (count(n, "row was", "rows were")) " left out" } }
                    }
                }
                @if is_uploaded && visit.may(Role::Editor) {
                    details.ask {
                        summary.small { "Delete…" }
                        form method="post" action=(file("delete")) {
                            p { "Messages and segments that name it reach nobody by it any more." }
                            button.small.danger { "Delete " (list.name) }
                        }
                    }
                }
            }
        }
    }
}

fn state(status: &str) -> Markup {
    match status {
        "ready" => badge_saying("ok", "ready"),
        "processing" => badge_saying("running", "being read"),
        _ => badge_saying("failed", "failed"),
    }
}

fn form(visit: &Visit, error: Option<&Error>) -> Markup {
    let typed = |name: &str| visit.form.text(name).or(visit.query.text("list")).unwrap_or_default();
    html! {
        section {
            h2 { "Upload a list" }
            form.narrow method="post" action=(visit.to("/audience/lists")) enctype="multipart/form-data" {
                (problems(error, &["name", "file"]))
                (Field::text("name", "Name").value(typed("name")).hint("A list of this name is replaced.").show(error))
                (Field { kind: "file", ..Field::text("file", "File").hint(FILE_HINT) }.show(error))
                button.main { "Upload" }
            }
        }
    }
}

/// Makes the list unless there is one of the name, and puts the file into it.
pub(crate) async fn upload(visit: Arc<Visit>) -> Result<Answer> {
    match try_upload(&visit).await {
        Ok(name) => Answer::to(visit.to(&format!("/audience{}", query([("show", "lists"), ("list", name)])))),
        Err(error @ (Error::Invalid(_) | Error::Refused { .. })) => {
            Ok(Answer::page("Audience", section(&visit, Some(&error)).await?)?.refused(&error))
        }
        Err(other) => Err(other),
    }
}

async fn try_upload(visit: &Visit) -> Result<&str> {
    let name = visit.form.text("name").ok_or_else(|| Error::invalid("name", "Give the list a name."))?;
    let file = visit.form.exact("file").filter(|file| !file.is_empty());
    let file = file.ok_or_else(|| Error::invalid("file", "Choose a file with something in it."))?;
    let path = format!("/api/lists/{}", encode(name));
    if visit.find::<List>(&path).await?.is_none() {
        visit.change(Method::POST, "/api/lists", Some(json!({"name": name}))).await?;
    }
    let uploaded = visit.put_csv(&format!("{path}/csv"), file.to_owned()).await;
    uploaded.map_err(|error| match error {
        Error::Invalid(rows) => {
            let rows: Vec<String> = rows.into_iter().map(|(_, sentence)| sentence).collect();
            Error::invalid("file", &rows.join(" "))
        }
        other => other,
    })?;
    Ok(name)
}

pub(crate) async fn download(visit: Arc<Visit>) -> Result<Answer> {
    take(&visit, "csv").await
}

/// The rows that the last upload left out.
pub(crate) async fn errors(visit: Arc<Visit>) -> Result<Answer> {
    take(&visit, "errors").await
}

async fn take(visit: &Visit, what: &str) -> Result<Answer> {
    // A name may hold anything; that of the file does not.
    let name = visit.var("list");
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let file = if what == "csv" { format!("{plain}.csv") } else { format!("{plain}-{what}.csv") };
    Ok(Answer::Raw(visit.download(&format!("/api/lists/{}/{what}", encode(name)), &file).await?))
}

pub(crate) async fn delete(visit: Arc<Visit>) -> Result<Answer> {
    visit.change(Method::DELETE, &format!("/api/lists/{}", encode(visit.var("list"))), None).await?;
    Answer::to(visit.to("/audience?show=lists"))
}
