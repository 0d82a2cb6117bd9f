//! The sandbox: what providers would have got from a development app, one row for each push, as devices would show it and as it
//! would have been sent.

mod acting;
pub(crate) mod looks;
mod shown;

use std::collections::BTreeMap;
use std::sync::Arc;

use maud::{Markup, html};
use model::account::Role;
use model::app::Mode;
use model::time::UtcMillis;
use serde::Deserialize;
use serde_json::Value;

use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::form::query;
use crate::parts::fields::{Field, choice, problems};
use crate::parts::pager::pager;
use crate::visit::Visit;

pub(crate) use acting::{clear, send_again, set_faults};

#[derive(Deserialize)]
struct Deliveries {
    deliveries: Vec<Delivery>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Pushes {
    pushes: Vec<Push>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Push {
    push_id: String,
    deliveries: u64,
    device_types: BTreeMap<String, u64>,
    newest: Vec<Delivery>,
}

#[derive(Deserialize)]
struct Delivery {
    delivery_id: String,
    push_id: String,
    channel_id: String,
    device_type: String,
    transport: String,
    at: String,
    request: Value,
}

/// A row: one push, with how many deliveries it has and some of them, the newest first.
struct Group {
    push: String,
    n_deliveries: u64,
    device_types: BTreeMap<String, u64>,
    shown: Vec<Delivery>,
}

/// What fits the filter, and the way to older ones.
#[derive(Default)]
struct Found {
    groups: Vec<Group>,
    next_page: Option<String>,
}

const DEVICE_TYPES: [(&str, &str); 6] =
    [("", "any"), ("ios", "iOS"), ("android", "Android"), ("amazon", "Amazon"), ("web", "Web"), ("wns", "Windows")];
const TRANSPORTS: [(&str, &str); 8] = [
    ("", "any"),
    ("apns", "Apple (APNs)"),
    ("fcm", "Google (FCM)"),
    ("adm", "Amazon (ADM)"),
    ("wns", "Microsoft (WNS)"),
    ("webpush", "web push"),
    ("unifiedpush", "UnifiedPush"),
    ("open", "an open platform"),
];
/// In minutes.
const SINCE: [(&str, &str); 5] =
    [("", "ever"), ("15", "15 minutes"), ("60", "an hour"), ("1440", "a day"), ("10080", "a week")];
const FILTERS: [&str; 6] = ["q", "device_type", "transport", "since", "push_id", "channel_id"];
/// Of the deliveries of one message or to one device, on a page.
const DELIVERIES: &str = "100";
/// Of messages.
const PUSHES: &str = "20";

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, None).await
}

async fn draw(visit: &Visit, refusal: Option<&Error>) -> Result<Answer> {
    let wanted = |name: &'static str| (name, visit.query.text(name).unwrap_or_default());
    let since = since(wanted("since").1, visit.console.engine.clock().now());
    let filter = [
        wanted("q"),
        wanted("device_type"),
        wanted("transport"),
        ("since", since.as_str()),
        wanted("push_id"),
        wanted("channel_id"),
        wanted("start"),
    ];
    let (Found { groups, next_page }, error) = match Found::of(visit, &filter).await {
        Ok(found) => (found, None),
        Err(error @ Error::Invalid(_)) => (Found::default(), Some(error)),
        Err(other) => return Err(other),
    };
    let is_filtered = FILTERS.iter().any(|name| visit.query.text(name).is_some());
    let body = html! {
        (filters(visit, error.as_ref(), is_filtered))
        (problems(refusal.or(error.as_ref()), &["push_id", "channel_id"]))
        @if groups.is_empty() { @if error.is_none() { (nothing(visit, is_filtered)) } }
        @else {
            p.quiet { "A row is one message. New ones appear by themselves; the last 10 000 deliveries of an app are kept." }
            ul.deliveries { @for group in &groups { (shown::group(visit, group)) } }
        }
        (pager(visit, next_page.as_deref()))
        @if is_development(visit) && visit.may(Role::Editor) { (acting::section(visit).await?) }
    };
    let answer = Answer::page("Sandbox", body)?;
    Ok(match refusal.or(error.as_ref()) {
        Some(error) => answer.refused(error),
        None => answer,
    })
}

/// Since when, for the call, from how many minutes ago that is.
fn since(minutes: &str, now: UtcMillis) -> String {
    let known = SINCE.iter().any(|(known, _)| *known == minutes);
    match minutes.parse::<i64>() {
        Ok(minutes) if known => UtcMillis(now.0 - minutes * 60_000).to_iso(),
        _ => String::new(),
    }
}

fn is_development(visit: &Visit) -> bool {
    visit.app.as_ref().is_some_and(|app| app.mode == Mode::Development)
}

impl Found {
    /// By message, unless one message or device is looked at: then each delivery.
    async fn of(visit: &Visit, filter: &[(&str, &str)]) -> Result<Self> {
        let limited = |limit| query(filter.iter().copied().chain([("limit", limit)]));
        if is_of_one(visit) {
            let Deliveries { deliveries, next_page } =
                visit.get(&format!("/api/sandbox{}", limited(DELIVERIES))).await?;
            return Ok(Self { groups: grouped(deliveries), next_page });
        }
        let Pushes { pushes, next_page } = visit.get(&format!("/api/sandbox/pushes{}", limited(PUSHES))).await?;
        let groups = pushes.into_iter().map(|push| Group {
            push: push.push_id,
            n_deliveries: push.deliveries,
            device_types: push.device_types,
            shown: push.newest,
        });
        Ok(Self { groups: groups.collect(), next_page })
    }
}

fn is_of_one(visit: &Visit) -> bool {
    ["push_id", "channel_id"].iter().any(|name| visit.query.text(name).is_some())
}

/// By push, the newest first, from deliveries of which the oldest is the first.
fn grouped(deliveries: Vec<Delivery>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for delivery in deliveries.into_iter().rev() {
        let known = groups.iter().position(|group| group.push == delivery.push_id);
        let place = known.unwrap_or(groups.len());
        if known.is_none() {
            let push = delivery.push_id.clone();
            groups.push(Group { push, n_deliveries: 0, device_types: BTreeMap::new(), shown: Vec::new() });
        }
        let group = &mut groups[place];
        group.n_deliveries += 1;
        *group.device_types.entry(delivery.device_type.clone()).or_default() += 1;
        group.shown.push(delivery);
    }
    groups
}

fn filters(visit: &Visit, error: Option<&Error>, is_filtered: bool) -> Markup {
    let wanted = |name: &str| visit.query.text(name).unwrap_or_default();
    let device_type = wanted("device_type");
    let mut types = DEVICE_TYPES.to_vec();
    if !types.iter().any(|(known, _)| *known == device_type) {
        types.push((device_type, device_type));
    }
    html! {
        form.filter method="get" action=(visit.to("/sandbox")) role="search" {
            div.field {
                label for="q" { "Search" }
                input id="q" name="q" type="search" value=(wanted("q")) placeholder="words of the message";
            }
            (choice("device_type", "Device", &types, device_type))
            (choice("transport", "By way of", &TRANSPORTS, wanted("transport")))
            (choice("since", "Within", &SINCE, wanted("since")))
            (Field::text("push_id", "Message").value(wanted("push_id")).optional().show(error))
            (Field::text("channel_id", "Channel").value(wanted("channel_id")).optional().show(error))
            button { "Show" }
            @if is_filtered { a href=(visit.to("/sandbox")) { "Show all" } }
        }
    }
}

fn nothing(visit: &Visit, is_filtered: bool) -> Markup {
    html! {
        div.empty {
            @if is_filtered { p { "No delivery fits." } }
            @else if !is_development(visit) {
                p { "An app in production has no sandbox: its messages go to real people. Try things with an app in development." }
            } @else {
                p { "Nothing was delivered to the sandbox yet." }
                p { "Messages of development apps go here instead of to the providers: send one, and it appears by itself, as the \
                     device would show it and as the exact request." }
                @if visit.may(Role::Sender) { p { a.button.main href=(visit.to("/first")) { "Send a first push" } } }
            }
        }
    }
}

fn provider(transport: &str) -> &str {
    TRANSPORTS.iter().find(|(known, _)| *known == transport).map_or(transport, |(_, words)| *words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_push_and_the_newest_comes_first() {
        let delivery = |push: &str, channel: &str| Delivery {
            delivery_id: String::new(),
            push_id: push.to_owned(),
            channel_id: channel.to_owned(),
            device_type: "ios".to_owned(),
            transport: "apns".to_owned(),
            at: String::new(),
            request: Value::Null,
        };
        let groups = grouped(vec![delivery("a", "1"), delivery("b", "2"), delivery("a", "3")]);
        let shown: Vec<(&str, Vec<&str>)> = groups
            .iter()
            .map(|group| {
                (group.push.as_str(), group.shown.iter().map(|delivery| delivery.channel_id.as_str()).collect())
            })
            .collect();
        assert_eq!(shown, [("a", vec!["3", "1"]), ("b", vec!["2"])]);
    }

    #[test]
    fn only_known_times_are_looked_back() {
        let now = UtcMillis(3_600_000);
        assert_eq!((since("15", now).as_str(), since("16", now).as_str()), ("1970-01-01T00:45:00.000Z", ""));
    }
}
