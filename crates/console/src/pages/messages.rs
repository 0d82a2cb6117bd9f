//! All messages of an app, whoever has sent them, with search.

use std::sync::Arc;

use maud::{Markup, html};
use model::account::Role;
use serde::Deserialize;

use crate::answer::Answer;
use crate::dates::{time, wall_time};
use crate::error::Result;
use crate::form::query;
use crate::parts::fields::{Field, choice};
use crate::parts::numbers::{grouped, percent, progress};
use crate::parts::pager::pager;
use crate::parts::people::person;
use crate::parts::states::{badge, badge_saying};
use crate::visit::Visit;

#[derive(Deserialize)]
pub(crate) struct Pushes {
    pub(crate) pushes: Vec<Listed>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Listed {
    pub(crate) push_id: String,
    created: String,
    name: Option<String>,
    title: Option<String>,
    alert: Option<String>,
    state: String,
    pub(crate) author: Option<String>,
    pub(crate) total: Progress,
    /// How many inboxes its message was put into.
    #[serde(default)]
    inboxes: u64,
    pub(crate) opens: Opens,
}

#[derive(Clone, Deserialize)]
pub(crate) struct Progress {
    pub(crate) targeted: u64,
    pub(crate) delivered: u64,
    pub(crate) gone: u64,
    pub(crate) failed: u64,
    pub(crate) expired: u64,
    pub(crate) canceled: u64,
    pub(crate) pending: u64,
    pub(crate) reason: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Opens {
    pub(crate) direct: u64,
}

/// Of the text of a message, where there is one line for it.
const MOST_IN_A_LINE: usize = 50;
const STATES: [(&str, &str); 6] = [
    ("", "any"),
    ("accepted", "accepted"),
    ("sending", "sending"),
    ("paused", "paused"),
    ("done", "done"),
    ("canceled", "canceled"),
];
/// What the API advises about an audience that nobody matches; people are led to Compose, which says the same.
const WAYS_OF_PROGRAMS: &str = "; aerogram audience explain and POST /api/audience/explain show why";

const ORIGINS: [(&str, &str); 8] = [
    ("", "any"),
    ("compose", "a person, here"),
    ("api", "a server"),
    ("schedule", "a schedule"),
    ("pipeline", "an automation"),
    ("experiment", "an experiment"),
    ("template", "a template"),
    ("test", "a test"),
];

pub(crate) async fn list(visit: Arc<Visit>) -> Result<Answer> {
    let wanted = |name: &'static str| (name, visit.query.text(name).unwrap_or_default());
    let filter = ["q", "state", "origin", "from", "to", "start"].map(wanted);
    let page: Pushes = visit.get(&format!("/api/pushes{}", query(filter))).await?;
    let is_filtered = filter.iter().any(|(name, value)| *name != "start" && !value.is_empty());
    let body = html! {
        (views(&visit))
        form.filter method="get" role="search" {
            div.field {
                label for="q" { "Search" }
                input id="q" name="q" type="search" value=(wanted("q").1) placeholder="words of a title, text or name";
            }
            (choice("state", "State", &STATES, wanted("state").1))
            (choice("origin", "Sent by", &ORIGINS, wanted("origin").1))
            @for (name, label) in [("from", "From"), ("to", "Before")] {
                (Field { kind: "date", ..Field::text(name, label).value(wanted(name).1).optional() }.show(None))
            }
            button { "Show" }
            @if is_filtered { a href=(visit.path) { "Show all" } }
        }
        @if page.pushes.is_empty() {
            (nothing(&visit, &page, is_filtered))
        } @else {
            (table(&visit, &page.pushes))
        }
        (pager(&visit, page.next_page.as_deref()))
    };
    Answer::page("Messages", body)
}

/// What was sent, and what is being written.
pub(crate) fn views(visit: &Visit) -> Markup {
    let tests = query([("origin", "test")]);
    let choices = [("/messages", "", "Sent"), ("/messages", &*tests, "Tests"), ("/drafts", "", "Drafts")];
    let is_tests = visit.query.text("origin") == Some("test");
    html! {
        @if visit.may(Role::Editor) {
            nav.tabs aria-label="Messages and drafts" {
                @for (below, filter, words) in choices {
                    @let path = visit.to(below);
                    @let is_here = visit.path == path && is_tests != filter.is_empty();
                    a href={ (path) (filter) } aria-current=[is_here.then_some("true")] { (words) }
                }
            }
        }
    }
}

fn nothing(visit: &Visit, page: &Pushes, is_filtered: bool) -> Markup {
    html! {
        div.empty {
            @if page.next_page.is_some() { p { "None of the messages looked at so far fit; there are older ones." } }
            @else if is_filtered { p { "No message fits." } }
            @else {
                p { "Nothing was sent yet. Whatever is sent, from here, by a server or by an automation, is listed here." }
                (to_compose(visit))
            }
        }
    }
}

fn to_compose(visit: &Visit) -> Markup {
    html! { @if visit.may(Role::Editor) { p { a href=(visit.to("/compose")) { "Compose a message" } } } }
}

pub(crate) fn table(visit: &Visit, pushes: &[Listed]) -> Markup {
    if pushes.is_empty() {
        return html! { div.empty { p { "Nothing was sent yet." } (to_compose(visit)) } };
    }
    html! {
        div.scroll tabindex="0" {
            table.stack {
                caption.hidden { "Messages, the newest first" }
                thead {
                    tr {
                        th scope="col" { "Message" }
                        th scope="col" { "State" }
                        th.number scope="col" { "Devices" }
                        th.number scope="col" { "Delivered" }
                        th.number scope="col" { "Opened" }
                        th scope="col" { "Sent" }
                    }
                }
                tbody { @for push in pushes { (row(visit, push)) } }
            }
        }
    }
}

impl Progress {
    /// Why no device was to get a notification, which is no success: most often the audience has a mistake.
    pub(crate) fn why_nobody(&self, state: &str) -> Option<String> {
        let reason = self.reason.as_deref().filter(|_| state == "done" && self.targeted == 0)?;
        Some(reason.replace(WAYS_OF_PROGRAMS, ""))
    }

    /// Whether it notified nobody because it failed.
    fn is_unnotified(&self, state: &str) -> bool {
        state == "done" && self.delivered == 0 && self.failed > 0
    }

    /// What became of the notifications where not one arrived, although there was somebody to notify: `2 failed, 3 are gone`.
    pub(crate) fn what_failed(&self, state: &str) -> Option<String> {
        if !self.is_unnotified(state) {
            return None;
        }
        let are_gone = if self.gone == 1 { "is gone" } else { "are gone" };
        let counts = [(self.failed, "failed"), (self.gone, are_gone), (self.expired, "expired")];
        let told = counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", grouped(n)));
        Some(told.collect::<Vec<_>>().join(", "))
    }

    /// The state, unless that would look like a success. A message that is in inboxes is one.
    pub(crate) fn badge(&self, state: &str, inboxes: u64) -> Markup {
        if self.why_nobody(state).is_some() {
            badge_saying("held", "notified nobody")
        } else if self.is_unnotified(state) && inboxes == 0 {
            badge("failed")
        } else {
            badge(state)
        }
    }
}

impl Listed {
    /// What people call it.
    pub(crate) fn known_as(&self) -> Option<&str> {
        self.name.as_deref().or(self.title.as_deref()).or(self.alert.as_deref())
    }

    fn words(&self) -> &str {
        self.known_as().unwrap_or("without a text")
    }

    /// For a choice, which the browser cannot show in the zone of the viewer: `2024-05-01 14:00 · Storm tonight`.
    pub(crate) fn in_a_line(&self, zone: &str) -> String {
        let words: String = self.words().chars().take(MOST_IN_A_LINE).collect();
        format!("{} · {words}", wall_time(&self.created, zone))
    }
}

fn row(visit: &Visit, push: &Listed) -> Markup {
    let name = push.words();
    let more = push.alert.as_deref().filter(|alert| *alert != name);
    let why_failed = push.total.reason.clone().filter(|_| push.total.is_unnotified(&push.state));
    let why_nobody = push.total.why_nobody(&push.state).or(why_failed);
    let is_under_way = push.total.pending > 0 && push.state != "canceled";
    html! {
        tr {
            td.wide {
                a href=(visit.to(&format!("/messages/{}", push.push_id))) { (name) }
                @if let Some(more) = more { p.quiet.clip { (more) } }
                @if let Some(why) = &why_nobody { p.quiet { (why) } }
            }
            td {
                (push.total.badge(&push.state, push.inboxes))
                @if is_under_way { (progress(push.total.targeted - push.total.pending, push.total.targeted)) }
            }
            td.number data-is="Devices" { (grouped(push.total.targeted)) }
            td.number data-is="Delivered" { (grouped(push.total.delivered)) }
            td.number data-is="Opened" { (grouped(push.opens.direct)) " " span.quiet { (percent(push.opens.direct, push.total.delivered)) } }
            td { (time(&push.created)) p.quiet { (person(push.author.as_deref().unwrap_or_default())) } }
        }
    }
}
