//! Devices in a few words: the name of a device type, and ids that are too long to read.

use maud::{Markup, html};

use crate::form::query;
use crate::visit::Visit;

const SHORT: usize = 6;

/// `iOS` for `ios`, the name of an open platform for `open::kiosk`.
pub(crate) fn platform(device_type: &str) -> &str {
    match device_type.to_ascii_lowercase().as_str() {
        "ios" => "iOS",
        "android" => "Android",
        "amazon" => "Amazon",
        "web" => "Web",
        "wns" => "Windows",
        "open" => "Open platform",
        _ => device_type.strip_prefix("open::").unwrap_or(device_type),
    }
}

/// The end of an id, which is enough to tell some of them apart; the beginning is the time in most ids.
pub(crate) fn short(id: &str) -> &str {
    let start = id.char_indices().rev().nth(SHORT - 1).map_or(0, |(start, _)| start);
    &id[start..]
}

/// A device with the way to its page.
pub(crate) fn device(visit: &Visit, device_type: &str, channel: &str) -> Markup {
    html! {
        a href=(channel_page(visit, channel)) title={ "Channel " (channel) } {
            (platform(device_type)) " " code { "…" (short(channel)) }
        }
    }
}

pub(crate) fn channel_page(visit: &Visit, channel: &str) -> String {
    visit.to(&format!("/people/channels/{channel}"))
}

/// Named users may be called anything, also `..`, so that they are no segment of a path.
pub(crate) fn user_page(visit: &Visit, user: &str) -> String {
    visit.to(&format!("/people/user{}", query([("id", user)])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_types_have_names() {
        let names = ["ios", "IOS", "android", "open", "open::kiosk", "fridge"].map(platform);
        assert_eq!(names, ["iOS", "iOS", "Android", "Open platform", "kiosk", "fridge"]);
        assert_eq!((short("9c36e8c7-5a73-47c0-9716-99fd3d4197d5"), short("größe"), short("")), ("4197d5", "größe", ""));
    }
}
