//! The sandbox: what providers would have got from a development app, as devices would show it and as it would have been sent.

mod looks;

use std::sync::Arc;

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use self::looks::Looks;
use crate::answer::Answer;
use crate::dates::time;
use crate::error::Result;
use crate::form::query;
use crate::parts::devices::{device, platform, short};
use crate::parts::fields::{Field, choice};
use crate::parts::json::block;
use crate::visit::Visit;

#[derive(Deserialize)]
struct Deliveries {
    deliveries: Vec<Delivery>,
}

#[derive(Deserialize)]
struct Delivery {
    push_id: String,
    channel_id: String,
    device_type: String,
    transport: String,
    at: String,
    request: Value,
}

const DEVICE_TYPES: [(&str, &str); 7] = [
    ("", "any"),
    ("ios", "iOS"),
    ("android", "Android"),
    ("amazon", "Amazon"),
    ("web", "Web"),
    ("wns", "Windows"),
    ("open", "Open platforms"),
];
/// A page has so many of the newest.
const LIMIT: &str = "40";

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    let wanted = |name: &'static str| (name, visit.query.text(name).unwrap_or_default());
    let filter = [wanted("push_id"), wanted("channel_id"), ("limit", LIMIT)];
    let Deliveries { deliveries } = visit.get(&format!("/api/sandbox{}", query(filter))).await?;
    let (text, kind) = (wanted("q").1, wanted("device").1);
    let shown: Vec<&Delivery> = deliveries.iter().rev().filter(|delivery| delivery.fits(text, kind)).collect();
    let is_filtered = ["push_id", "channel_id", "q", "device"].iter().any(|name| visit.query.text(name).is_some());
    let body = html! {
        form.filter method="get" role="search" {
            div.field {
                label for="q" { "Search" }
                input id="q" name="q" type="search" value=(text) placeholder="words of the message";
            }
            (choice("device", "Device", &DEVICE_TYPES, kind))
            (Field::text("push_id", "Message").value(wanted("push_id").1).optional().show(None))
            (Field::text("channel_id", "Channel").value(wanted("channel_id").1).optional().show(None))
            button { "Show" }
            @if is_filtered { a href=(visit.path) { "Show all" } }
        }
        @if shown.is_empty() { (nothing(is_filtered)) }
        @else {
            p.quiet { "From the last " (LIMIT) " deliveries of the message and channel. New ones appear by themselves." }
            ul.deliveries { @for delivery in shown { (card(&visit, delivery)) } }
        }
    };
    Answer::page("Sandbox", body)
}

impl Delivery {
    fn fits(&self, text: &str, kind: &str) -> bool {
        let family = self.device_type.split("::").next().unwrap_or_default();
        let is_kind = kind.is_empty() || family == kind;
        is_kind && (text.is_empty() || self.request["body"].to_string().to_lowercase().contains(&text.to_lowercase()))
    }
}

fn nothing(is_filtered: bool) -> Markup {
    html! {
        div.empty {
            @if is_filtered { p { "No delivery fits." } }
            @else {
                p { "Nothing was delivered to the sandbox yet." }
                p { "Messages of development apps go here instead of to the providers: send one, and it appears by itself, as the \
                     device would show it and as the exact request." }
            }
        }
    }
}

fn card(visit: &Visit, delivery: &Delivery) -> Markup {
    let Delivery { push_id, channel_id, device_type, transport, at, request } = delivery;
    let app = visit.app.as_ref().map_or("App", |app| app.name.as_str());
    html! {
        li.card {
            (Looks::of(transport, &request["body"]).show(device_type, app))
            div {
                p {
                    (time(at)) " · " (device(visit, device_type, channel_id)) " · by " strong { (provider(transport)) }
                    " · " a href=(visit.to(&format!("/messages/{push_id}"))) { "message " code { "…" (short(push_id)) } }
                }
                details.fold { summary { "The exact request" } (request_lines(request)) (block(&request["body"])) }
            }
        }
    }
}

/// The first line and the headers, as HTTP has them.
fn request_lines(request: &Value) -> Markup {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let headers = request["headers"].as_object().into_iter().flatten();
    let lines: Vec<String> = headers.map(|(name, value)| format!("{name}: {}", text(value))).collect();
    html! { pre { code { (text(&request["method"])) " " (text(&request["url"])) "\n" (lines.join("\n")) } } }
}

fn provider(transport: &str) -> &str {
    match transport {
        "apns" => "Apple (APNs)",
        "fcm" => "Google (FCM)",
        "adm" => "Amazon (ADM)",
        "wns" => "Microsoft (WNS)",
        "webpush" => "web push",
        "open" => "an open platform",
        other => platform(other),
    }
}
