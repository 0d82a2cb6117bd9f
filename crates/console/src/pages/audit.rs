//! Who did what: of an app for its administrators, of the installation for its owners.

use std::sync::Arc;

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::dates::time;
use crate::error::Result;
use crate::form::{encode, query};
use crate::parts::numbers::grouped;
use crate::parts::pager::pager;
use crate::parts::people::person;
use crate::visit::Visit;

#[derive(Deserialize)]
struct Page {
    entries: Vec<Entry>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Entry {
    at: String,
    n: u64,
    app: Option<String>,
    credential: String,
    address: Option<String>,
    action: String,
    object: Map<String, Value>,
    detail: Option<Map<String, Value>>,
    request_id: Option<String>,
}

pub(crate) async fn of_app(visit: Arc<Visit>) -> Result<Answer> {
    let call = format!("/operator/apps/{}/audit", visit.app()?.key);
    draw(&visit, &call).await
}

pub(crate) async fn of_installation(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, "/operator/audit").await
}

async fn draw(visit: &Visit, call: &str) -> Result<Answer> {
    let wanted = |name: &'static str| (name, visit.query.text(name).unwrap_or_default());
    let (by, action) = (wanted("credential").1, wanted("action").1);
    // People are shown by their addresses, and found by them.
    let credential =
        if by.contains('@') && !by.starts_with("account ") { format!("account {by}") } else { by.to_owned() };
    let filter = [("credential", credential.as_str()), ("action", action), wanted("start")];
    let page: Page = visit.get(&format!("{call}{}", query(filter))).await?;
    let body = html! {
        form.filter method="get" role="search" {
            div.field {
                label for="credential" { "By" }
                input id="credential" name="credential" value=(by) placeholder="kim@example.com, master secret, …";
            }
            div.field {
                label for="action" { "Action" }
                input id="action" name="action" value=(action) placeholder="push.send";
            }
            button { "Show" }
        }
        @if page.entries.is_empty() { div.empty { p { "No change fits." } } } @else { (table(&page.entries)) }
        (pager(visit, page.next_page.as_deref()))
    };
    Answer::page("Audit", body)
}

fn table(entries: &[Entry]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table.stack {
                caption.hidden { "Changes, the newest first" }
                thead { tr { th scope="col" { "When" } th scope="col" { "Who" } th scope="col" { "What" } th scope="col" { "Of" } } }
                tbody {
                    @for entry in entries {
                        tr {
                            td { (time(&entry.at)) }
                            td { (person(&entry.credential)) p.quiet { (entry.address.as_deref().unwrap_or("")) } }
                            td { code { (entry.action) } @if entry.n > 1 { " " span.quiet { (grouped(entry.n)) " times" } } }
                            td.wide {
                                @if let Some(app) = &entry.app { p.quiet { "app " (app) } }
                                (objects(entry))
                                @if let Some(detail) = &entry.detail { (facts(detail)) }
                                @if let Some(id) = &entry.request_id { p.quiet { "request " (id) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What was made or changed, with the way to it.
fn objects(entry: &Entry) -> Markup {
    html! {
        @for (name, value) in &entry.object {
            p {
                (name)
                @for id in ids(value) {
                    " "
                    @match page_of(entry, name, &id) {
                        Some(page) => { a href=(page) { code { (id) } } }
                        None => { code { (id) } }
                    }
                }
            }
        }
    }
}

/// One id, or each of a list of them.
fn ids(value: &Value) -> Vec<String> {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Value::Array(all) => all.iter().map(word).collect(),
        one => vec![word(one)],
    }
}

/// The page of a thing of an app, by what the entry calls it. What was deleted has none any more.
fn page_of(entry: &Entry, name: &str, id: &str) -> Option<String> {
    let app = entry.app.as_ref()?;
    let (noun, verb) = entry.action.split_once('.')?;
    if verb == "delete" {
        return None;
    }
    let id = encode(id);
    let below = match (name, noun) {
        ("push_id", _) => format!("/messages/{id}"),
        ("schedule_id", _) => format!("/schedules/{id}"),
        ("experiment_id", _) => format!("/experiments/{id}"),
        ("pipeline_id", _) => format!("/automation?id={id}"),
        ("segment_id", _) => format!("/audience?segment={id}"),
        ("draft_id", _) => format!("/drafts/{id}"),
        ("webhook_id", _) => format!("/webhooks/{id}"),
        ("channel_id", _) => format!("/people/channels/{id}"),
        ("named_user_id", _) => format!("/people/user?id={id}"),
        // Others are called so, too: content templates, and the platforms of remote configuration.
        ("template_id", "template") => format!("/templates/{id}"),
        ("platform", "platform") => format!("/platforms/{id}"),
        _ => return None,
    };
    Some(format!("/console/{app}{below}"))
}

fn facts(facts: &Map<String, Value>) -> Markup {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    html! { @for (name, value) in facts { p { (name) " " code { (word(value)) } } } }
}
