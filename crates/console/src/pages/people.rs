//! Finding people: by the id of a named user or its beginning, by a channel, or by the address of a device.

use std::sync::Arc;

use maud::{Markup, html};
use serde::Deserialize;

use super::person::records::{Channel, NamedUser, OneChannel, OneUser};
use crate::answer::Answer;
use crate::dates::{time, time_or};
use crate::error::{Error, Result};
use crate::form::query;
use crate::parts::devices::{channel_page, device, platform, user_page};
use crate::parts::numbers::count;
use crate::parts::pager::turning;
use crate::parts::states::badge_saying;
use crate::parts::tabs::tabs;
use crate::visit::Visit;

#[derive(Deserialize)]
struct Results {
    results: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    kind: String,
    id: String,
}

#[derive(Deserialize)]
struct Users {
    named_users: Vec<NamedUser>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Channels {
    channels: Vec<Channel>,
    next_page: Option<String>,
}

const PER_PAGE: &str = "50";
/// No id or address of a person is longer; endpoints of browsers are the longest.
const MOST_CHARACTERS: usize = 2048;

pub(crate) async fn find(visit: Arc<Visit>) -> Result<Answer> {
    match visit.query.text("q") {
        Some(text) => search(&visit, text).await,
        None => list(&visit).await,
    }
}

/// A single person is shown at once.
async fn search(visit: &Visit, text: &str) -> Result<Answer> {
    if text.chars().count() > MOST_CHARACTERS || text.chars().any(char::is_control) {
        return Err(Error::invalid(
            "q",
            "Nobody has an id or an address like this; paste it again, without anything around it.",
        ));
    }
    let Results { results } = visit.get(&format!("/api/search{}", query([("q", text)]))).await?;
    let of = |kind: &'static str| results.iter().filter(move |found| found.kind == kind).map(|found| found.id.as_str());
    let (users, channels): (Vec<&str>, Vec<&str>) = (of("named_user").collect(), of("channel").collect());
    match (users.as_slice(), channels.as_slice()) {
        ([user], []) if user.eq_ignore_ascii_case(text) => Answer::to(user_page(visit, user)),
        ([], [channel]) => Answer::to(channel_page(visit, channel)),
        _ => {
            let users = users_found(visit, &users).await?;
            let mut rows = Vec::with_capacity(channels.len());
            for id in channels {
                let row: Option<OneChannel> = visit.find(&format!("/api/channels/{id}")).await?;
                rows.extend(row.map(|found| found.channel));
            }
            Answer::page("People", found(visit, text, &users, &rows))
        }
    }
}

/// The users with these ids.
async fn users_found(visit: &Visit, ids: &[&str]) -> Result<Vec<NamedUser>> {
    let mut users = Vec::with_capacity(ids.len());
    for id in ids {
        let found: Option<OneUser> = visit.find(&format!("/api/named_users{}", query([("id", *id)]))).await?;
        users.extend(found.map(|found| found.named_user));
    }
    Ok(users)
}

fn found(visit: &Visit, text: &str, users: &[NamedUser], channels: &[Channel]) -> Markup {
    html! {
        (search_box(text))
        @if users.is_empty() && channels.is_empty() {
            div.empty {
                p { "Nobody was found for " strong { (text) } "." }
                p { "Ids and addresses have to be complete, but for the ids of named users, of which the beginning is enough. \
                     Somebody who was erased, or who registered with another app, is not here." }
                p { a href=(visit.path) { "Show everybody" } }
            }
        }
        @if !users.is_empty() { section { h2 { "Named users" } (user_table(visit, users)) } }
        @if !channels.is_empty() { section { h2 { "Devices" } (channel_table(visit, channels)) } }
    }
}

async fn list(visit: &Visit) -> Result<Answer> {
    let start = visit.query.text("start").unwrap_or_default();
    let page = query([("start", start), ("limit", PER_PAGE)]);
    let (shown, next) = match visit.query.text("show") {
        Some("devices") => {
            let page: Channels = visit.get(&format!("/api/channels{page}")).await?;
            let nothing = "No device has registered yet. Devices appear here when the app on them starts for the first time, \
                           or when a server registers them.";
            let shown = if page.channels.is_empty() { empty(nothing) } else { channel_table(visit, &page.channels) };
            (shown, page.next_page)
        }
        _ => {
            let page: Users = visit.get(&format!("/api/named_users{page}")).await?;
            let nothing = "No device has a named user yet. Associate devices with the ids of your users, and find them here by \
                           the names that you know. Devices without a user are under Devices.";
            let shown = if page.named_users.is_empty() { empty(nothing) } else { user_table(visit, &page.named_users) };
            (shown, page.next_page)
        }
    };
    let body = html! {
        (search_box(""))
        (tabs(visit, "Who is listed", "show", &[("", "Named users"), ("devices", "Devices")], &["start"]))
        (shown)
        (turning(visit, next.as_deref(), ["First", "Next"]))
    };
    Answer::page("People", body)
}

fn empty(words: &str) -> Markup {
    html! { div.empty { p { (words) } } }
}

fn search_box(text: &str) -> Markup {
    html! {
        form.filter method="get" role="search" {
            div.field.grow {
                label for="q" { "Find somebody" }
                input id="q" name="q" type="search" value=(text) aria-describedby="q-hint"
                    placeholder="named user, channel id, device token or another address";
                p.hint #q-hint { "The beginning of a named user is enough; everything else has to be complete." }
            }
            button.main { "Find" }
        }
    }
}

fn user_table(visit: &Visit, users: &[NamedUser]) -> Markup {
    html! {
        div.scroll {
            table.stack {
                caption.hidden { "Named users, in the order of their ids" }
                thead { tr { @for name in ["Named user", "Devices", "Last seen", "Since"] { th scope="col" { (name) } } } }
                tbody {
                    @for user in users {
                        tr {
                            td.wide { a href=(user_page(visit, &user.named_user_id)) { (user.named_user_id) } }
                            td { (user.devices_in_words()) }
                            td data-is="Last seen" { (time_or(user.last_seen(), "never")) }
                            td data-is="Since" { (time(&user.created)) }
                        }
                    }
                }
            }
        }
    }
}

fn channel_table(visit: &Visit, channels: &[Channel]) -> Markup {
    html! {
        div.scroll {
            table.stack {
                caption.hidden { "Devices, in the order in which they registered" }
                thead {
                    tr {
                        th scope="col" { "Device" } th scope="col" { "Named user" } th scope="col" { "Notifications" }
                        th scope="col" { "Last seen" } th scope="col" { "Since" }
                    }
                }
                tbody {
                    @for channel in channels {
                        tr {
                            td { (device(visit, channel.kind(), &channel.channel_id)) }
                            td.wide {
                                @if let Some(user) = &channel.named_user_id { a href=(user_page(visit, user)) { (user) } }
                                @else { span.quiet { "none" } }
                            }
                            td { (standing(channel)) }
                            td data-is="Last seen" { (time_or(channel.last_registration.as_deref(), "never")) }
                            td data-is="Since" { (time(&channel.created)) }
                        }
                    }
                }
            }
        }
    }
}

/// Whether the device can be shown something.
pub(crate) fn standing(channel: &Channel) -> Markup {
    match (channel.installed, channel.opt_in) {
        (false, _) => badge_saying("gone", "uninstalled"),
        (true, true) => badge_saying("in", "opted in"),
        (true, false) => badge_saying("out", "opted out"),
    }
}

impl NamedUser {
    pub(crate) fn devices_in_words(&self) -> String {
        let installed: Vec<&Channel> = self.channels.iter().filter(|channel| channel.installed).collect();
        let mut names: Vec<&str> = installed.iter().map(|channel| platform(channel.kind())).collect();
        names.sort_unstable();
        names.dedup();
        match names.as_slice() {
            [] => "none".to_owned(),
            names => format!("{}: {}", count(installed.len() as u64, "device", "devices"), names.join(", ")),
        }
    }

    /// When one of the devices registered last.
    pub(crate) fn last_seen(&self) -> Option<&str> {
        self.channels.iter().filter_map(|channel| channel.last_registration.as_deref()).max()
    }
}
