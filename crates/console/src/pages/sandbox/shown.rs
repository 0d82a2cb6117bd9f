//! One push in the sandbox: how devices show it, the exact requests, and its devices in a part that opens.

use std::collections::BTreeMap;

use maud::{Markup, html};
use model::account::Role;
use serde_json::Value;

use super::looks::Looks;
use super::{Delivery, Group, is_development, provider};
use crate::dates::time;
use crate::form::query;
use crate::parts::devices::{device, platform, short};
use crate::parts::json::block;
use crate::parts::numbers::count;
use crate::visit::Visit;

pub(super) fn group(visit: &Visit, group: &Group<'_>) -> Markup {
    let Group { push, deliveries } = group;
    let Some(newest) = deliveries.first() else { return html! {} };
    let app = visit.app.as_ref().map_or("App", |app| app.name.as_str());
    html! {
        li.card {
            (Looks::of(&newest.transport, &newest.request["body"]).show(&newest.device_type, app))
            div {
                p {
                    (time(&newest.at)) " · " (in_words(deliveries)) " · "
                    a href=(visit.to(&format!("/messages/{push}"))) { "message " code { "…" (short(push)) } }
                }
                (requests(visit, push, deliveries))
                @if deliveries.len() > 1 {
                    details.fold id={ "devices-" (push) } {
                        summary { (count(deliveries.len() as u64, "delivery", "deliveries")) " of the same message" }
                        ul.found { @for delivery in deliveries { li { (line(visit, delivery)) } } }
                    }
                }
                details.fold id={ "test-" (push) } {
                    summary { "Copy as test" }
                    p.quiet { "Waits up to ten seconds for what was delivered; a test sends a push and names the id that it gets." }
                    pre { code { (curl(visit, push)) } }
                }
                @if is_development(visit) && visit.may(Role::Sender) { (again(visit, push, newest)) }
            }
        }
    }
}

/// The devices by type: `29 iOS, 55 Android`; the device itself if it is only one.
fn in_words(deliveries: &[&Delivery]) -> String {
    let mut by_type: BTreeMap<&str, u64> = BTreeMap::new();
    for delivery in deliveries {
        *by_type.entry(platform(&delivery.device_type)).or_default() += 1;
    }
    let words: Vec<String> = by_type.iter().map(|(name, n)| format!("{n} {name}")).collect();
    words.join(", ")
}

/// The newest request to each provider; those to other devices are a click away.
fn requests(visit: &Visit, push: &str, deliveries: &[&Delivery]) -> Markup {
    let is_of_one = visit.query.text("channel_id").is_some();
    let mut shown: Vec<&Delivery> = Vec::new();
    for delivery in deliveries {
        if is_of_one || !shown.iter().any(|known| known.transport == delivery.transport) {
            shown.push(delivery);
        }
    }
    html! {
        @for delivery in shown {
            p.quiet { (device(visit, &delivery.device_type, &delivery.channel_id)) " by way of " strong { (provider(&delivery.transport)) } }
            details.fold id={ "request-" (push) "-" (delivery.delivery_id) } {
                summary { "The exact request" }
                (request_lines(&delivery.request)) (block(&delivery.request["body"]))
            }
        }
    }
}

fn line(visit: &Visit, delivery: &Delivery) -> Markup {
    let exact = query([("push_id", delivery.push_id.as_str()), ("channel_id", delivery.channel_id.as_str())]);
    html! {
        (device(visit, &delivery.device_type, &delivery.channel_id)) " " (time(&delivery.at)) " "
        a href={ (visit.to("/sandbox")) (exact) } { "its request" }
    }
}

/// The first line and the headers, as HTTP has them.
fn request_lines(request: &Value) -> Markup {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let headers = request["headers"].as_object().into_iter().flatten();
    let lines: Vec<String> = headers.map(|(name, value)| format!("{name}: {}", text(value))).collect();
    html! { pre { code { (text(&request["method"])) " " (text(&request["url"])) "\n" (lines.join("\n")) } } }
}

fn curl(visit: &Visit, push: &str) -> String {
    let key = visit.app.as_ref().map_or("", |app| app.key.as_str());
    format!("curl \"$AEROGRAM_URL/api/sandbox?push_id={push}&wait=10\" -u \"{key}:$AEROGRAM_MASTER_SECRET\"")
}

/// A second click is the same request, until something new has arrived.
fn again(visit: &Visit, push: &str, newest: &Delivery) -> Markup {
    html! {
        details.ask id={ "again-" (push) } {
            summary.small { "Send again…" }
            form method="post" action=(visit.to(&format!("/sandbox/again/{push}"))) {
                p { "It goes to everybody who is in its audience now. Platforms with credentials get it for real." }
                input type="hidden" name="once" value=(newest.delivery_id);
                button.small { "Send it again" }
            }
        }
    }
}
