//! The audience of an app: segments with how many they reach, tags, uploaded lists and subscription lists.

mod segments;

use std::sync::Arc;

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::parts::numbers::{count, grouped};
use crate::parts::states::badge_saying;
use crate::parts::tabs::tabs;
use crate::visit::Visit;

pub(crate) use segments::{create, delete};

#[derive(Deserialize)]
struct Tags {
    tags: Vec<String>,
}

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
}

#[derive(Deserialize)]
struct SubscriptionLists {
    subscription_lists: Vec<SubscriptionList>,
}

#[derive(Deserialize)]
struct SubscriptionList {
    list_id: String,
    scopes: Vec<String>,
}

/// What an audience reaches, of the answer of an explanation.
#[derive(Clone, Copy, Deserialize)]
struct Reach {
    matched: u64,
    reachable: u64,
}

const VIEWS: [(&str, &str); 4] =
    [("", "Segments"), ("tags", "Tags"), ("lists", "Uploaded lists"), ("subscriptions", "Subscription lists")];
/// Counted at once; the rest is on further pages.
const PER_PAGE: usize = 25;

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, None).await
}

async fn draw(visit: &Visit, error: Option<&Error>) -> Result<Answer> {
    let shown = match visit.query.text("show") {
        Some("tags") => tags(visit).await?,
        Some("lists") => lists(visit).await?,
        Some("subscriptions") => subscriptions(visit).await?,
        _ => segments::section(visit, error).await?,
    };
    let body = html! { (tabs(visit, "What is listed", "show", &VIEWS, &["start"])) (shown) };
    Answer::page("Audience", body)
}

/// Who is in an audience, and who of them can be shown something.
async fn reach(visit: &Visit, audience: &Value) -> Result<Option<Reach>> {
    match visit.post("/api/audience/explain", json!({"audience": audience, "device_types": "all"})).await {
        Ok(reach) => Ok(Some(reach)),
        // What was stored may name something that is gone.
        Err(Error::Invalid(_) | Error::NotFound(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

fn figures(reach: Option<Reach>) -> Markup {
    html! {
        @match reach {
            Some(Reach { matched, reachable }) => { td.number { (grouped(matched)) } td.number { (grouped(reachable)) } }
            None => { td.number { "–" } td.number { "–" } }
        }
    }
}

async fn tags(visit: &Visit) -> Result<Markup> {
    let Tags { tags } = visit.get("/api/tags").await?;
    let start = visit.query.text("start").and_then(|start| start.parse().ok()).unwrap_or(0);
    let mut rows = Vec::new();
    for tag in tags.iter().skip(start).take(PER_PAGE) {
        rows.push((tag, reach(visit, &json!({"tag": tag})).await?));
    }
    let next = (tags.len() > start + PER_PAGE).then(|| (start + PER_PAGE).to_string());
    Ok(html! {
        @if rows.is_empty() {
            div.empty { p { "No device has a tag yet. Tags are words by which you choose whom a message reaches, such as news." } }
        } @else {
            p.quiet { "The first hundred tags of devices, in the order of their letters." }
            (table("Tags with the devices that have them", ["Tag", "Devices", "Reachable"], &rows, |tag| html! { (tag) }))
        }
        @if next.is_some() || start > 0 {
            nav.pager aria-label="Pages of the table" {
                @if start > 0 { a href={ (visit.path) (visit.query.with(&[("start", "")])) } { "First" } }
                @if let Some(next) = next.as_deref() {
                    a rel="next" href={ (visit.path) (visit.query.with(&[("start", next)])) } { "Next" }
                }
            }
        }
    })
}

async fn lists(visit: &Visit) -> Result<Markup> {
    let Lists { lists } = visit.get("/api/lists?type=all").await?;
    Ok(html! {
        @if lists.is_empty() {
            div.empty { p { "There is no list. A list names channels and people in a file that a server uploads." } }
        } @else {
            // Nothing in it can have the focus, so that people without a mouse could not scroll it otherwise.
            div.scroll tabindex="0" role="region" aria-label="Lists" {
                table {
                    caption.hidden { "Lists with the devices on them" }
                    thead {
                        tr {
                            th scope="col" { "List" } th.number scope="col" { "Devices" } th scope="col" { "State" }
                            th scope="col" { "Changed" }
                        }
                    }
                    tbody {
                        @for list in &lists {
                            tr {
                                td.wide { (list.name) @if let Some(words) = &list.description { p.quiet { (words) } } }
                                td.number { (grouped(list.channel_count)) }
                                td { (state(&list.status)) }
                                td { (time(&list.last_updated)) }
                            }
                        }
                    }
                }
            }
        }
    })
}

fn state(status: &str) -> Markup {
    match status {
        "ready" => badge_saying("ok", "ready"),
        "processing" => badge_saying("running", "being read"),
        _ => badge_saying("failed", "failed"),
    }
}

async fn subscriptions(visit: &Visit) -> Result<Markup> {
    let SubscriptionLists { subscription_lists } = visit.get("/api/subscription_lists").await?;
    let mut rows = Vec::new();
    for list in subscription_lists.iter().take(PER_PAGE) {
        rows.push((list, reach(visit, &json!({"subscription_list": list.list_id})).await?));
    }
    let n_more = subscription_lists.len() - rows.len();
    Ok(html! {
        @if rows.is_empty() {
            div.empty { p { "Nobody has subscribed to a list yet. A list comes into being with its first subscription." } }
        } @else {
            (table("Subscription lists with their devices", ["List", "Devices", "Reachable"], &rows, |list| html! {
                (list.list_id) p.quiet { (list.scopes.join(", ")) }
            }))
        }
        @if n_more > 0 { p.quiet { "And " (count(n_more as u64, "other list", "other lists")) "." } }
    })
}

/// Rows with how many devices each is about.
fn table<T>(caption: &str, names: [&str; 3], rows: &[(T, Option<Reach>)], name: impl Fn(&T) -> Markup) -> Markup {
    let [first, numbers @ ..] = names;
    html! {
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table {
                caption.hidden { (caption) }
                thead { tr { th scope="col" { (first) } @for name in numbers { th.number scope="col" { (name) } } } }
                tbody { @for (row, reach) in rows { tr { td.wide { (name(row)) } (figures(*reach)) } } }
            }
        }
    }
}
