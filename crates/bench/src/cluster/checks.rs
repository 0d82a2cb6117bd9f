//! The comparison in the end: the books of the clients, the simulators and the webhook with each other and with the service.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use sim::Tally;
use testkit::balanced::{Balanced, Call};

use super::books::Book;
use super::clients::GROUP;
use super::findings::Findings;
use crate::server::master_authorization;

/// What was done to one channel, as the webhook was told.
type Told = BTreeMap<String, Vec<String>>;

/// Events as they came to the webhook: by channel and where each came first, and how many came again.
pub(super) fn told(events: &[Value]) -> (Told, u64) {
    let (mut seen, mut channels, mut n_repeats) = (HashSet::new(), Told::new(), 0);
    for event in events {
        if !seen.insert(event["id"].as_str().unwrap_or_default()) {
            n_repeats += 1;
            continue;
        }
        let label = match event["type"].as_str() {
            Some("TAG_CHANGE") => &event["body"]["add"][GROUP][0],
            _ => &event["body"]["properties"]["label"],
        };
        if let (Some(channel), Some(label)) = (event["device"]["channel"].as_str(), label.as_str()) {
            channels.entry(channel.to_owned()).or_default().push(label.to_owned());
        }
    }
    (channels, n_repeats)
}

/// How many things of the books the webhook has not been told.
pub(super) fn n_untold(book: &Book, told: &Told) -> u64 {
    let none = Vec::new();
    let missing = book.histories.iter().map(|(channel, history)| {
        let told: HashSet<&String> = told.get(channel).unwrap_or(&none).iter().collect();
        history.iter().filter(|what| !told.contains(what)).count() as u64
    });
    missing.sum()
}

pub(super) fn webhook(findings: &mut Findings, book: &Book, told: &Told) -> Result<()> {
    let n_accepted: usize = book.histories.values().map(Vec::len).sum();
    let n_told: usize = told.values().map(Vec::len).sum();
    findings.equal("changes and events that the webhook was told", n_told as u64, n_accepted as u64)?;
    findings.equal("accepted ones that it was not told", n_untold(book, told), 0)?;
    let is_in_order = |(channel, history): &(&String, &Vec<String>)| match told.get(*channel) {
        Some(told) => told == *history,
        None => history.is_empty(),
    };
    let n_disordered = book.histories.iter().filter(|entry| !is_in_order(entry)).count();
    findings.equal("channels that it was told of in another order", n_disordered as u64, 0)
}

/// Every registered channel is there, with its tags and no others.
pub(super) async fn channels(findings: &mut Findings, caller: &mut Balanced, book: &Book) -> Result<()> {
    let (mut n_missing, mut n_different) = (0, 0);
    for (channel, history) in &book.histories {
        let reply = caller.call(&Call::get(format!("/api/channels/{channel}"), &master_authorization())).await?;
        if !reply.is_success() {
            n_missing += 1;
            continue;
        }
        let shown = reply.json();
        let tags = shown["channel"]["tag_groups"][GROUP].as_array().map_or(&[][..], Vec::as_slice);
        let tags: BTreeSet<&str> = tags.iter().filter_map(Value::as_str).collect();
        let wanted = history.iter().filter(|what| what.starts_with("tag")).map(String::as_str).collect();
        n_different += u64::from(tags != wanted);
    }
    findings.equal("registered channels that are missing", n_missing, 0)?;
    findings.equal("channels with other tags than they were given", n_different, 0)
}

/// Every push to the crowd has ended and was delivered to all of it.
pub(super) async fn broadcasts(
    findings: &mut Findings,
    caller: &mut Balanced,
    book: &Book,
    n_crowd: u64,
) -> Result<()> {
    let mut n_incomplete = 0;
    for (push, _) in &book.broadcasts {
        let reply = caller.call(&Call::get(format!("/api/push/{push}"), &master_authorization())).await?;
        let push = &reply.json()["push"];
        n_incomplete += u64::from(push["state"] != "done" || push["total"]["delivered"] != n_crowd);
    }
    findings.equal("pushes to the crowd that were not delivered to all of it", n_incomplete, 0)
}

/// The sums of reports, beside the books.
pub(super) async fn reports(
    findings: &mut Findings,
    caller: &mut Balanced,
    book: &Book,
    (singles, crowd): (&Tally, &Tally),
    period: &str,
) -> Result<()> {
    let sends = report(caller, &format!("sends?{period}&precision=HOURLY")).await?;
    findings.equal(
        "sends to iOS in the report, beside the simulator",
        sum(&sends["sends"], "ios"),
        singles.delivered(),
    )?;
    let android = sum(&sends["sends"], "android");
    findings.equal("sends to Android in the report, beside the simulator", android, crowd.delivered())?;
    let opens = report(caller, &format!("opens?{period}&precision=HOURLY")).await?;
    findings.equal("opens in the report, beside the uploads", sum(&opens["opens"], "ios"), book.n_opens)?;
    let events = report(caller, &format!("events?{period}")).await?;
    let n_events = events["total_count"].as_u64().context("a report has no total")?;
    findings.equal("custom events in the report, beside the uploads", n_events, book.n_custom_events)?;
    let devices = report(caller, "devices").await?;
    let n_devices = devices["counts"]["ios"]["unique_devices"].as_u64().context("a report has no devices")?;
    findings.equal("devices in the report, beside the registrations", n_devices, book.histories.len() as u64)
}

async fn report(caller: &mut Balanced, path: &str) -> Result<Value> {
    let reply = caller.call(&Call::get(format!("/api/reports/{path}"), &master_authorization())).await?;
    ensure!(reply.is_success(), "{path}: {} {}", reply.status, String::from_utf8_lossy(&reply.body));
    Ok(reply.json())
}

fn sum(buckets: &Value, platform: &str) -> u64 {
    let buckets = buckets.as_array().map_or(&[][..], Vec::as_slice);
    buckets.iter().filter_map(|bucket| bucket[platform].as_u64()).sum()
}
