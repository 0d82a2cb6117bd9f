//! The audience of an app: segments with how many they reach, tags, attributes, uploaded lists and subscription lists.

mod attributes;
pub(crate) mod lists;
pub(crate) mod segment;
mod segments;
mod tags;

use std::sync::Arc;

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::form::query;
use crate::parts::numbers::{count, grouped};
use crate::parts::tabs::tabs;
use crate::visit::Visit;

pub(crate) use segments::delete;

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

const VIEWS: [(&str, &str); 5] = [
    ("", "Segments"),
    ("tags", "Tags"),
    ("attributes", "Attributes"),
    ("lists", "Uploaded lists"),
    ("subscriptions", "Subscription lists"),
];
/// Parts of the query that belong to one view.
const OF_VIEWS: [&str; 5] = ["start", "group", "prefix", "list", "segment"];
/// Counted at once; the rest is on further pages.
const PER_PAGE: usize = 25;

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    let shown = match visit.query.text("show") {
        Some("tags") => tags::section(&visit).await?,
        Some("attributes") => attributes::section(&visit).await?,
        Some("lists") => lists::section(&visit, None).await?,
        Some("subscriptions") => subscriptions(&visit).await?,
        _ => segments::section(&visit).await?,
    };
    Answer::page("Audience", html! { (tabs(&visit, "What is listed", "show", &VIEWS, &OF_VIEWS)) (shown) })
}

/// Where a segment with these criteria is made.
fn to_segment(visit: &Visit, name: &str, criteria: &Value) -> String {
    visit.to(&format!(
        "/audience/segments/new{}",
        query([("display_name", name), ("criteria", criteria.to_string().as_str())])
    ))
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
