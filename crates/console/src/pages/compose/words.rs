//! What will happen, in words: how many devices, when, and who gets nothing.

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::reach::{Explanation, without_zone};
use crate::dates::time;
use crate::pages::schedules::when::{Schedule, Start};
use crate::parts::conditions::{Conditions, Known, sentence};
use crate::parts::devices::platform;
use crate::parts::fields::Field;
use crate::parts::numbers::{count, grouped};
use crate::visit::Visit;

/// From how many on the number has to be typed.
const TYPED_ABOVE: u64 = 10_000;

/// What a call of the API would do, with the reach of its audience.
pub(crate) async fn of(visit: &Visit, kind: &str, body: &Value, reach: &Explanation) -> Markup {
    let n_variants = body["variants"].as_array().map_or(0, Vec::len);
    let is_now = schedule_of(kind, body).is_none();
    let control: Option<u64> = body["control"].as_f64().and_then(|share| format!("{:.0}", share * 100.0).parse().ok());
    let push = push_of(kind, body);
    let audience = Conditions::of(&push["audience"]);
    let whom = sentence(&audience, &Known::of(visit, &audience).await);
    let without_zone = if is_local(kind, body) { without_zone(visit, &push).await.unwrap_or(0) } else { 0 };
    html! {
        p.value { (count(reach.reachable, "device", "devices")) ", " (when(kind, body)) "." }
        @if without_zone > 0 {
            p.warning {
                (grouped(without_zone)) " of them " @if without_zone == 1 { "has no time zone and gets" } @else { "have no time zone and get" }
                " nothing."
            }
        }
        @if let Some(whom) = whom { p { "It is for " (whom) "." } }
        ul.plain {
            @for (name, n) in reach.reachable_by_platform() { li { (platform(name)) " " strong { (grouped(n)) } } }
        }
        @if reach.left_out() > 0 {
            p { (count(reach.left_out(), "device", "devices")) " that opted out or cannot be reached get nothing." }
        }
        @if n_variants > 1 { p { (n_variants) " texts are compared; each device gets one of them, by chance." } }
        @if let Some(percent) = control {
            p {
                (percent) " percent get nothing, to compare with: about "
                (count((reach.reachable * percent + 50) / 100, "device", "devices")) "."
            }
        }
        @if !is_now { p.quiet { "Who fits then is decided then; the number is as of now." } }
    }
}

/// The push of a call, or the first of several.
pub(crate) fn push_of(kind: &str, body: &Value) -> Value {
    match kind {
        "schedule" => body["push"].clone(),
        "experiment" => {
            let mut push = body["variants"][0]["push"].clone();
            for key in ["audience", "device_types"] {
                push[key] = body[key].clone();
            }
            push
        }
        _ => body.clone(),
    }
}

fn schedule_of<'b>(kind: &str, body: &'b Value) -> Option<&'b Value> {
    match kind {
        "schedule" => body.get("schedule"),
        "experiment" => body["variants"][0].get("schedule"),
        _ => None,
    }
}

/// Whether everybody gets it by their own clock.
fn is_local(kind: &str, body: &Value) -> bool {
    schedule_of(kind, body).is_some_and(|schedule| schedule.get("local_scheduled_time").is_some())
}

pub(crate) fn when(kind: &str, body: &Value) -> Markup {
    let Some(schedule) = schedule_of(kind, body) else { return html! { "now" } };
    let Ok(schedule) = Schedule::deserialize(schedule) else { return html! { "at a time that is not known here" } };
    let rhythm = schedule.rhythm().map(|words| words.replacen("Every", "every", 1));
    html! {
        @match schedule.start() {
            Start::At(at) => { "at " (time(at)) }
            Start::Local(at) => { "when it is " (at) " where they are" }
            Start::Best(day) => { "on " (day) ", at the hour at which the app is mostly opened" }
        }
        @if let Some(rhythm) = rhythm { ", then " (rhythm) }
    }
}

/// The fields by which somebody confirms how many devices get a message.
pub(crate) fn confirmation(reach: &Explanation) -> Markup {
    html! {
        @if reach.reachable > TYPED_ABOVE {
            (Field::text("number", "Type the number of devices").hint("Because it is large.").show(None))
        }
        input type="hidden" name="expected" value=(reach.reachable);
    }
}

/// Whether the number was typed, if it had to be.
pub(crate) fn is_confirmed(visit: &Visit) -> bool {
    let expected: u64 = visit.form.text("expected").and_then(|number| number.parse().ok()).unwrap_or(u64::MAX);
    let typed = visit.form.text("number").map(|typed| typed.chars().filter(char::is_ascii_digit).collect::<String>());
    expected <= TYPED_ABOVE || typed.is_some_and(|typed| typed == expected.to_string())
}

/// Above how many devices the message needs the approval of a second person, if it does.
pub(crate) fn approval_above(visit: &Visit, reach: &Explanation) -> Option<u32> {
    let most = visit.app.as_ref()?.approval_above?;
    // The rule counts the whole audience: inboxes and silent messages reach devices that show no notifications, too.
    (reach.reachable + reach.left_out() > u64::from(most)).then_some(most)
}

pub(crate) fn needs_approval(most: u32) -> Markup {
    html! {
        div.notice.warn {
            p { "Messages to more than " (grouped(most.into())) " devices need the approval of a second person, who sees what you see here." }
        }
    }
}
