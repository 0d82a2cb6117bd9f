//! The states of things as colored words; the color only repeats what the word says.

use maud::{Markup, html};

pub(crate) fn badge(state: &str) -> Markup {
    badge_saying(state, state)
}

/// The badge of a state with other words than its name.
pub(crate) fn badge_saying(state: &str, words: &str) -> Markup {
    let kind = match state {
        "done" | "ok" | "delivered" | "enabled" | "active" | "opened" | "read" | "in" | "live" | "started" => "good",
        "sending" | "accepted" | "waiting" | "invited" | "pending" | "running" => "busy",
        "paused" | "held" | "development" | "disabled" | "held_back" | "opted_out" | "no_address" | "out" => "warn",
        "canceled" | "failed" | "refused" | "gone" | "expired" | "locked" | "failing" | "unreadable" => "bad",
        _ => "plain",
    };
    html! { span.badge.(kind) { (words) } }
}
