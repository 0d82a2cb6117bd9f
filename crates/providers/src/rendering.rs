//! The parts that all requests of a push share: which push it is, when it was sent, and its content beside the notification.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::app::AppKey;
use model::ids::{MessageId, PushId};
use model::payload::actions::{Actions, InlinePage};
use model::payload::campaigns::Campaigns;
use model::payload::expiry::Expiry;
use model::payload::interactive::Interactive;
use model::payload::localization::Content;
use model::time::UtcMillis;
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// A push on its way to one platform, in one language.
#[derive(Clone, Copy)]
pub struct Rendering<'a> {
    pub app_key: &'a AppKey,
    pub push_id: PushId,
    /// The id that the pushes of one schedule, experiment or pipeline share.
    pub group_id: Option<Uuid>,
    /// Of an experiment.
    pub variant_id: Option<u32>,
    /// When the push was sent; expiries in seconds count from here.
    pub sent_at: UtcMillis,
    /// Lifetimes that a provider counts from when it gets the request count from here.
    pub now: UtcMillis,
    /// Of the push as a whole; a platform's own expiry goes first.
    pub expiry: Option<&'a Expiry>,
    pub content: Content<'a>,
    /// Whether there are marks in the content, where every recipient has texts of their own.
    pub has_marks: bool,
    pub campaigns: Option<&'a Campaigns>,
    /// Where the service hosts the page of a landing page action.
    pub page_url: &'a dyn Fn(&InlinePage) -> String,
}

/// Keys that devices know on every platform.
pub(crate) mod key {
    pub(crate) const METADATA: &str = "com.urbanairship.metadata";
    pub(crate) const MESSAGE_ID: &str = "_uamid";
    pub(crate) const IN_APP: &str = "com.urbanairship.in_app";
    pub(crate) const INTERACTIVE_ACTIONS: &str = "com.urbanairship.interactive_actions";
}

impl Rendering<'_> {
    /// The id of the Message Center message that comes with the push.
    pub(crate) fn message_id(&self) -> Option<String> {
        self.content.message.map(|_| MessageId::from(self.push_id).to_string())
    }

    /// The metadata that devices send back when they are opened by this push.
    pub(crate) fn metadata(&self) -> String {
        let mut metadata = json!({ "version_id": 1, "time": self.sent_at.0, "push_id": self.push_id });
        if let Some(group) = self.group_id {
            metadata["group_id"] = json!(group);
        }
        if let Some(variant) = self.variant_id {
            metadata["variant_id"] = json!(variant);
        }
        STANDARD.encode(metadata.to_string())
    }

    /// The instant after which a device or provider should drop the push; the epoch for "now or never".
    pub(crate) fn deadline(&self, platform: Option<&Expiry>) -> Option<UtcMillis> {
        match platform.or(self.expiry)? {
            Expiry::Seconds(0) => Some(UtcMillis(0)),
            expiry => Some(expiry.deadline(self.sent_at)),
        }
    }

    /// How many seconds a provider may keep the push; zero for "now or never".
    pub(crate) fn lifetime(&self, platform: Option<&Expiry>) -> Option<u64> {
        let left = self.deadline(platform)?.0.saturating_sub(self.now.0);
        Some(u64::try_from(left).unwrap_or(0) / 1000)
    }

    pub(crate) fn actions(&self, actions: Option<&Actions>) -> Map<String, Value> {
        actions.map(|actions| actions.for_device(self.page_url)).unwrap_or_default()
    }

    pub(crate) fn browser_actions(&self, actions: Option<&Actions>) -> Map<String, Value> {
        actions.map(|actions| actions.for_browser(self.page_url)).unwrap_or_default()
    }

    /// The actions of the buttons, unless no button has any.
    pub(crate) fn button_actions(&self, interactive: Option<&Interactive>) -> Option<Map<String, Value>> {
        let buttons = interactive?.actions_for_device(self.page_url);
        (!buttons.is_empty()).then_some(buttons)
    }
}
