//! The states of things as colored words; the color only repeats what the word says.

use maud::{Markup, html};

pub(crate) fn badge(state: &str) -> Markup {
    let kind = match state {
        "done" | "ok" | "delivered" | "enabled" | "active" | "live" | "started" => "good",
        "sending" | "accepted" | "waiting" | "invited" => "busy",
        "paused" | "held" | "development" | "disabled" => "warn",
        "canceled" | "failed" | "refused" | "gone" | "expired" | "locked" | "failing" | "unreadable" => "bad",
        _ => "plain",
    };
    html! { span.badge.(kind) { (state) } }
}
