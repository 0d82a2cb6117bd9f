//! The start page of an app: what there is, what was sent lately, and what to do next.

use std::collections::BTreeMap;
use std::sync::Arc;

use maud::{Markup, html};
use model::account::Role;
use model::app::Mode;
use model::time::UtcMillis;
use serde::Deserialize;

use super::messages::{Listed, Pushes, table};
use super::{doctor, platforms};
use crate::answer::Answer;
use crate::chart::{Columns, columns_beside};
use crate::error::Result;
use crate::form::query;
use crate::parts::devices::platform;
use crate::parts::numbers::{compared, count, figure, grouped, percent};
use crate::visit::Visit;

const HOURS: usize = 24;
const HOUR_MILLIS: i64 = 60 * 60 * 1000;
const DAY_MILLIS: i64 = 24 * HOUR_MILLIS;

#[derive(Deserialize)]
struct Devices {
    total_unique_devices: u64,
    counts: BTreeMap<String, Counts>,
}

#[derive(Deserialize)]
struct Counts {
    #[serde(default)]
    opted_in: u64,
}

#[derive(Deserialize)]
struct Live {
    connected: u64,
    live_channels: u64,
}

#[derive(Deserialize)]
struct Sends {
    sends: Vec<Bucket>,
}

#[derive(Deserialize)]
struct Bucket {
    date: String,
    #[serde(flatten)]
    by_platform: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct Drafts {
    drafts: Vec<Draft>,
}

#[derive(Deserialize)]
struct Draft {
    written_by: Option<String>,
}

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    let now = visit.console.engine.clock().now();
    // Whole hours, the last of which has just begun.
    let end = UtcMillis((now.0.div_euclid(HOUR_MILLIS) + 1) * HOUR_MILLIS);
    // A day, and the one before it.
    let (start, end) = (UtcMillis(end.0 - 2 * DAY_MILLIS).to_api(), end.to_api());
    let devices: Devices = visit.get("/api/reports/devices").await?;
    let live: Live = visit.get("/api/live").await?;
    let period = query([("start", start.as_str()), ("end", end.as_str()), ("precision", "HOURLY")]);
    let sends: Sends = visit.get(&format!("/api/reports/sends{period}")).await?;
    let pushes: Pushes = visit.get("/api/pushes?limit=8").await?;
    let opted_in = devices.counts.iter().filter(|(_, counts)| counts.opted_in > 0);
    let device_types: Vec<&str> = opted_in.map(|(device_type, _)| device_type.as_str()).collect();
    let reachable = devices.counts.values().map(|counts| counts.opted_in).sum();
    let (before, sends) = sends.sends.split_at(sends.sends.len().saturating_sub(HOURS));
    let before: Vec<u64> = before.iter().map(Bucket::sum).collect();
    let (sent, sent_before) = (sends.iter().map(Bucket::sum).sum(), before.iter().sum());
    let body = html! {
        (doctor::notice(&visit).await?)
        @if visit.may(Role::Admin) { (platforms::notices(&visit, &device_types).await?) }
        @if visit.may(Role::Sender) { (awaiting(&visit).await?) }
        @if devices.total_unique_devices == 0 { (first_steps(&visit)) }
        div.figures {
            (figure("Devices", &grouped(devices.total_unique_devices), None))
            (figure("Reachable", &grouped(reachable), Some(&percent(reachable, devices.total_unique_devices))))
            @if live.live_channels > 0 {
                (figure("Connected now", &grouped(live.connected), Some(&format!("of {} live", grouped(live.live_channels)))))
            }
            (figure("Sent in 24 hours", &grouped(sent), Some(&compared(sent, sent_before, "the 24 hours before"))))
            (figure("Opened", &opened(&pushes.pushes), Some("of the latest messages")))
        }
        section {
            h2 { "Sent by the hour" }
            (columns_beside(&chart(sends), &before))
        }
        section {
            div.head { h2 { "Latest messages" } a href=(visit.to("/messages")) { "All messages" } }
            (table(&visit, &pushes.pushes))
        }
    };
    Answer::page("Home", body)
}

/// Drafts of others that want to be approved.
async fn awaiting(visit: &Visit) -> Result<Markup> {
    let Drafts { drafts } = visit.get("/api/drafts?state=awaiting&limit=100").await?;
    let own = visit.visitor()?.credential();
    let n_drafts = drafts.iter().filter(|draft| draft.written_by.as_deref() != Some(own.as_str())).count();
    Ok(html! {
        @if n_drafts > 0 {
            div.notice { p { a href=(visit.to("/drafts?state=awaiting")) { (count(n_drafts as u64, "draft awaits", "drafts await")) " your approval" } "." } }
        }
    })
}

fn opened(pushes: &[Listed]) -> String {
    let opens = pushes.iter().map(|push| push.opens.direct).sum();
    percent(opens, pushes.iter().map(|push| push.total.delivered).sum())
}

impl Bucket {
    fn sum(&self) -> u64 {
        self.by_platform.values().sum()
    }
}

fn chart(sends: &[Bucket]) -> Columns {
    let mut names: Vec<String> = sends.iter().flat_map(|bucket| bucket.by_platform.keys().cloned()).collect();
    names.sort();
    names.dedup();
    let value = |bucket: &Bucket, name: &String| bucket.by_platform.get(name).copied().unwrap_or(0);
    let rows = sends.iter().map(|bucket| (bucket.date.clone(), names.iter().map(|name| value(bucket, name)).collect()));
    Columns {
        caption: "Messages that providers took, by the hour (UTC)".to_owned(),
        rows: rows.collect(),
        names: names.iter().map(|name| platform(name).to_owned()).collect(),
    }
}

/// For an app that has no devices yet.
fn first_steps(visit: &Visit) -> Markup {
    let is_sandboxed = visit.app().is_ok_and(|app| app.mode == Mode::Development);
    html! {
        div.notice {
            h2 { "The first push" }
            @if is_sandboxed && visit.may(Role::Sender) {
                p { "This app has no devices yet. A test device is one click away: what is sent to it arrives in the sandbox, exactly as a \
                     provider would get it." }
                p { a.button.main href=(visit.to("/first")) { "Send a first push" } }
            } @else { p { "This app has no devices yet. They appear when your app registers them, with its key and the app secret." } }
        }
    }
}
