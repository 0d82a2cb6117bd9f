//! One push in the sandbox: how devices show it, the exact requests, and its devices in a part that opens.

use std::collections::BTreeMap;

use maud::{Markup, html};
use model::account::Role;
use serde_json::Value;

use super::looks::Looks;
use super::{Delivery, Group, is_development, is_of_one, provider};
use crate::dates::time;
use crate::form::query;
use crate::parts::copy;
use crate::parts::devices::{device, platform, short};
use crate::parts::json::block;
use crate::parts::numbers::{count, grouped};
use crate::visit::Visit;

pub(super) fn group(visit: &Visit, group: &Group) -> Markup {
    let Group { push, n_deliveries, device_types, shown } = group;
    let Some(newest) = shown.first() else { return html! {} };
    let app = visit.app.as_ref().map_or("App", |app| app.name.as_str());
    html! {
        li.card {
            (Looks::of(&newest.transport, &newest.request["body"]).show(&newest.device_type, app))
            div {
                p {
                    (time(&newest.at)) " · " (in_words(device_types)) " · "
                    a href=(visit.to(&format!("/messages/{push}"))) { "message " code { "…" (short(push)) } }
                }
                (requests(visit, push, shown))
                @if is_of_one(visit) && shown.len() > 1 {
                    details.fold id={ "devices-" (push) } open {
                        summary { (count(shown.len() as u64, "delivery", "deliveries")) }
                        ul.found { @for delivery in shown { li { (line(visit, delivery)) } } }
                    }
                } @else if *n_deliveries > 1 {
                    p { a href=(visit.to(&format!("/sandbox{}", query([("push_id", push.as_str())])))) {
                        "All " (count(*n_deliveries, "delivery", "deliveries")) " of the message"
                    } }
                }
                details.fold id={ "test-" (push) } {
                    summary { "Copy as test" }
                    p.quiet { "Waits up to ten seconds for what was delivered; a test sends a push and names the id that it gets." }
                    (copy::block(&curl(visit, push), "the call"))
                }
                @if is_development(visit) && visit.may(Role::Sender) { (again(visit, push, newest)) }
            }
        }
    }
}

/// The deliveries by device type: `29 iOS, 55 Android`.
fn in_words(device_types: &BTreeMap<String, u64>) -> String {
    let words: Vec<String> =
        device_types.iter().map(|(name, n)| format!("{} {}", grouped(*n), platform(name))).collect();
    words.join(", ")
}

/// The newest request to each provider; those to other devices are a click away.
fn requests(visit: &Visit, push: &str, deliveries: &[Delivery]) -> Markup {
    let is_to_one = visit.query.text("channel_id").is_some();
    let mut shown: Vec<&Delivery> = Vec::new();
    for delivery in deliveries {
        if is_to_one || !shown.iter().any(|known| known.transport == delivery.transport) {
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
