//! The data messages of Android and Amazon devices: every key the app's library knows, every value a string.

use std::collections::BTreeMap;

use model::payload::actions::Actions;
use model::payload::color::Color;
use model::payload::expiry::Expiry;
use model::payload::extra::TextExtra;
use model::payload::interactive::Interactive;
use model::payload::style::Style;
use serde::Serialize;
use serde_json::{Value, json};

use crate::in_app::Banner;
use crate::rendering::{Rendering, key};

/// The channel the message is for. A device drops messages for a channel that is not its own.
pub(crate) const CHANNEL_ID: &str = "com.urbanairship.push.APID";

pub(crate) struct DataMessage(BTreeMap<String, String>);

/// The visible part for both platforms.
pub(crate) struct Looks<'a> {
    pub(crate) alert: Option<&'a str>,
    pub(crate) title: Option<&'a str>,
    pub(crate) summary: Option<&'a str>,
    pub(crate) sound: Option<&'a str>,
    pub(crate) icon: Option<&'a str>,
    pub(crate) icon_color: Option<&'a Color>,
    pub(crate) notification_channel: Option<&'a str>,
    pub(crate) notification_tag: Option<&'a str>,
    pub(crate) style: Option<&'a Style>,
}

impl DataMessage {
    /// The app's own keys come first, so that they cannot replace ours.
    pub(crate) fn new(rendering: &Rendering<'_>, extra: Option<&TextExtra>) -> Self {
        let mut message = Self(extra.cloned().unwrap_or_default());
        message.0.remove(CHANNEL_ID);
        let push_id = rendering.push_id.to_string();
        // Devices report the first of these with everything the push led to, and drop repeats of the second.
        message.text("com.urbanairship.push.PUSH_ID", Some(&push_id));
        message.text("com.urbanairship.push.CANONICAL_PUSH_ID", Some(&push_id));
        message.text(key::METADATA, Some(&rendering.metadata()));
        message.text(key::MESSAGE_ID, rendering.message_id().as_deref());
        message.json(key::IN_APP, Banner::of(rendering).as_ref());
        message
    }

    pub(crate) fn text(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.0.insert(key.to_owned(), value.to_owned());
        }
    }

    /// A value that devices read as JSON; for numbers and booleans that is their plain text.
    pub(crate) fn json(&mut self, key: &str, value: Option<&impl Serialize>) {
        if let Some(value) = value {
            let json = serde_json::to_string(value).expect("maps with text keys and plain values always serialize");
            self.0.insert(key.to_owned(), json);
        }
    }

    /// A value of a closed set, as the word it is written as.
    pub(crate) fn word(&mut self, key: &str, value: Option<&impl Serialize>) {
        self.text(key, value.map(|value| json!(value)).as_ref().and_then(Value::as_str));
    }

    pub(crate) fn looks(&mut self, looks: &Looks<'_>) {
        self.text("com.urbanairship.push.ALERT", looks.alert);
        self.text("com.urbanairship.title", looks.title);
        self.text("com.urbanairship.summary", looks.summary);
        self.text("com.urbanairship.sound", looks.sound);
        self.text("com.urbanairship.icon", looks.icon);
        self.text("com.urbanairship.icon_color", looks.icon_color.map(Color::as_str));
        self.text("com.urbanairship.notification_channel", looks.notification_channel);
        self.text("com.urbanairship.notification_tag", looks.notification_tag);
        self.json("com.urbanairship.style", looks.style);
    }

    pub(crate) fn expiration(&mut self, rendering: &Rendering<'_>, platform: Option<&Expiry>) {
        // Zero seconds are the provider's business: a device that got the message got it in time.
        let deadline = rendering.deadline(platform).map(|deadline| deadline.seconds()).filter(|seconds| *seconds > 0);
        self.json("com.urbanairship.push.EXPIRATION", deadline.as_ref());
    }

    pub(crate) fn actions(
        &mut self,
        rendering: &Rendering<'_>,
        actions: Option<&Actions>,
        interactive: Option<&Interactive>,
    ) {
        let tap = rendering.actions(actions);
        self.json("com.urbanairship.actions", (!tap.is_empty()).then_some(&tap));
        self.text("com.urbanairship.interactive_type", interactive.map(|interactive| interactive.kind.name()));
        self.json(key::INTERACTIVE_ACTIONS, rendering.button_actions(interactive).as_ref());
    }

    pub(crate) fn into_map(self) -> BTreeMap<String, String> {
        self.0
    }
}
