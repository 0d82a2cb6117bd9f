//! Every action of a notification, wherever in it: on the notification itself, in overrides, on buttons.

use super::Notification;
use crate::device_type::DeviceType;
use crate::payload::actions::{Actions, InlinePage};
use crate::payload::interactive::Interactive;

impl Notification {
    /// All actions with their paths below the notification. Pages are numbered in this order, so it must not change.
    pub(in crate::payload) fn all_actions(&self) -> Vec<(String, &Actions)> {
        let (ios, android) = (self.ios.as_deref(), self.android.as_deref());
        let (amazon, web) = (self.amazon.as_deref(), self.web.as_deref());
        let in_app = self.in_app.as_deref();
        let on_tap = [
            ("actions", self.actions.as_ref()),
            ("ios.actions", ios.and_then(|ios| ios.actions.as_ref())),
            ("android.actions", android.and_then(|android| android.actions.as_ref())),
            ("amazon.actions", amazon.and_then(|amazon| amazon.actions.as_ref())),
            ("web.actions", web.and_then(|web| web.actions.as_ref())),
            ("in_app.actions", in_app.and_then(|in_app| in_app.actions.as_ref())),
        ];
        let interactive = [
            ("interactive", self.interactive.as_ref()),
            ("ios.interactive", ios.and_then(|ios| ios.interactive.as_ref())),
            ("android.interactive", android.and_then(|android| android.interactive.as_ref())),
            (
                "android.wearable.interactive",
                android.and_then(|android| android.wearable.as_ref()?.interactive.as_ref()),
            ),
            ("amazon.interactive", amazon.and_then(|amazon| amazon.interactive.as_ref())),
            ("web.interactive", web.and_then(|web| web.interactive.as_ref())),
            ("in_app.interactive", in_app.and_then(|in_app| in_app.interactive.as_ref())),
        ];
        let mut all: Vec<(String, &Actions)> =
            on_tap.into_iter().filter_map(|(path, actions)| Some((path.to_owned(), actions?))).collect();
        for (n, button) in web.iter().flat_map(|web| web.buttons.iter().flatten()).enumerate() {
            all.extend(button.actions.as_ref().map(|actions| (format!("web.buttons[{n}].actions"), actions)));
        }
        for (path, interactive) in interactive {
            all.extend(interactive.iter().flat_map(|interactive| on_buttons(path, interactive)));
        }
        for (platform, open) in &self.open {
            let path = format!("{}.interactive", DeviceType::Open(platform.clone()));
            all.extend(open.interactive.iter().flat_map(|interactive| on_buttons(&path, interactive)));
        }
        all
    }

    /// The landing pages that the service has to host, wherever in the notification they are opened.
    pub fn inline_pages(&self) -> Vec<&InlinePage> {
        self.all_actions().into_iter().filter_map(|(_, actions)| actions.inline_page()).collect()
    }
}

/// The actions of the buttons of an interactive notification at a path.
pub(in crate::payload) fn on_buttons<'a>(path: &str, interactive: &'a Interactive) -> Vec<(String, &'a Actions)> {
    let buttons = interactive.button_actions.iter().flatten();
    buttons.map(|(button, actions)| (format!("{path}.button_actions.{button}"), actions)).collect()
}
