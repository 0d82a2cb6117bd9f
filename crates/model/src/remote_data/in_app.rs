//! In-app messages: what is shown, when, how often and to whom.

use serde_json::{Map, Value};

use super::delay::Delay;
use super::device_audience::{CompoundSelector, MessageAudience, MissBehavior};
use super::message::{Message, MessageLocale};
use super::trigger::Trigger;
use super::{DeviceTime, InAppMessageId};
use crate::json::body::{Body, Words};
use crate::json::{self, At};
use crate::limits;
use crate::payload::http_url::HttpUrl;
use crate::payload::personal::{check_parts, have_tags};
use crate::selector::Selector;
use crate::template::Surroundings;

/// A message to be kept for the devices of an app.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed)]
pub struct NewInAppMessage {
    pub in_app_message: InAppMessage,
    /// Has all devices look for it at once, by a push that nobody sees.
    #[body(default = false)]
    pub notify: bool,
}

/// A message that devices show when something happens in the app.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(ignored = ["id", "created", "last_updated", "version", "metadata"], check = InAppMessage::check)]
pub struct InAppMessage {
    #[body(flatten)]
    pub content: InAppContent,
    /// Any of them sets off the message.
    #[body(read = |at| Trigger::parse_many(at, 1))]
    pub triggers: Vec<Trigger>,
    pub start: Option<DeviceTime>,
    pub end: Option<DeviceTime>,
    /// How often a device shows it; 0 for no limit.
    #[body(range = 0..=1_000_000, default = 1, always)]
    pub limit: u32,
    /// Seconds between two times.
    #[body(range = 0..=u32::MAX)]
    pub interval: Option<u32>,
    /// Of messages that are due together, the lowest comes first.
    #[body(range = -1_000_000..=1_000_000)]
    pub priority: Option<i64>,
    #[body(length = 1..=limits::REMOTE_DATA_NAME_CHARS)]
    pub group: Option<String>,
    pub delay: Option<Delay>,
    /// Evaluated by each device.
    pub audience: Option<MessageAudience>,
    /// As `audience`, made of several; libraries before version 19 pass over it.
    pub compound_audience: Option<CompoundMessageAudience>,
    /// Evaluated by the service when the message is about to be shown: a selector, as pushes have.
    pub server_audience: Option<Selector>,
    /// For how many days after the end an edit can bring it back.
    #[body(range = 0..=3650)]
    pub edit_grace_period: Option<u32>,
    #[body(length = 0..=limits::REMOTE_DATA_ITEMS, each = 1..=limits::REMOTE_DATA_NAME_CHARS)]
    pub frequency_constraint_ids: Option<Vec<String>>,
    /// Holdout groups can leave out types.
    #[body(length = 1..=limits::REMOTE_DATA_NAME_CHARS)]
    pub message_type: Option<String>,
    pub campaigns: Option<InAppCampaigns>,
    pub bypass_holdout_groups: Option<bool>,
    /// Devices tell it in their events.
    pub reporting_context: Option<Value>,
    #[body(length = 1..=limits::REMOTE_DATA_NAME_CHARS)]
    pub product_id: Option<String>,
    #[body(length = 1..=limits::REMOTE_DATA_NAME_CHARS)]
    pub min_sdk_version: Option<String>,
    /// Messages of one queue are prepared in their order.
    #[body(length = 1..=limits::REMOTE_DATA_NAME_CHARS)]
    pub queue: Option<String>,
    pub additional_audience_check_overrides: Option<AudienceCheckOverrides>,
    #[body(length = 1..=limits::IN_APP_TEXT_CHARS)]
    pub send_metadata: Option<String>,
    /// Other texts for devices in other languages.
    #[body(length = 0..=limits::REMOTE_DATA_ITEMS)]
    pub localizations: Option<Vec<Localization>>,
    /// Whether it is for devices with a contact only, which get it as data of the contact.
    #[body(default = false)]
    pub requires_eligibility: bool,
    /// Whether tags in its texts are filled in for each device, which then asks for the message when it is due. They are if there
    /// are any, unless this is false.
    pub personalization: Option<bool>,
}

/// What is shown or done, where tags may be.
const TEXTS: [&str; 3] = ["message", "actions", "localizations"];

/// What happens when the message is due.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(tag = "type")]
#[expect(clippy::large_enum_variant, reason = "one is read at a time, and most are messages")]
pub enum InAppContent {
    InAppMessage {
        message: Message,
    },
    /// Actions of the library, without anything that is shown.
    Actions {
        actions: Map<String, Value>,
    },
    /// A server decides.
    Deferred {
        deferred: Deferred,
    },
}

/// Where a device asks what to show.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct Deferred {
    pub url: HttpUrl,
    #[body(rename = "type")]
    pub kind: DeferredType,
    pub retry_on_timeout: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum DeferredType {
    InAppMessage,
    Actions,
}

#[derive(Clone, Debug, PartialEq, Body)]
pub struct CompoundMessageAudience {
    pub selector: CompoundSelector,
    pub miss_behavior: MissBehavior,
}

/// Categories of messages.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct InAppCampaigns {
    #[body(length = 1..=limits::REMOTE_DATA_ITEMS, each = 1..=limits::REMOTE_DATA_NAME_CHARS)]
    pub categories: Vec<String>,
}

/// How a device asks a server whether it may show the message.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct AudienceCheckOverrides {
    pub bypass: Option<bool>,
    pub context: Option<Value>,
    pub url: Option<HttpUrl>,
}

/// The keys of the message that are different for devices in a language or a country.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(name = "InAppLocalization")]
pub struct Localization {
    pub locale: MessageLocale,
    /// Objects in it are merged with those of the message, everything else replaces what the message has.
    pub message: Map<String, Value>,
}

/// The messages that are for devices with a contact only, or for all again.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct Eligibility {
    #[body(length = 1..=limits::IN_APP_MESSAGES_PER_APP)]
    pub automation_ids: Vec<InAppMessageId>,
    pub requires_eligibility: bool,
}

impl InAppMessage {
    fn check(self, at: &At<'_>) -> Option<Self> {
        if self.start.zip(self.end).is_some_and(|(start, end)| start >= end) {
            return at.invalid_key("end", "The end must come after the start.");
        }
        if self.server_audience.is_some() && matches!(self.content, InAppContent::Deferred { .. }) {
            let message = "Your server decides about a message of the type 'deferred'; leave 'server_audience' out.";
            return at.invalid_key("server_audience", message);
        }
        if self.personalization == Some(true) && matches!(self.content, InAppContent::Deferred { .. }) {
            let message =
                "Your server tells the texts of a message of the type 'deferred', and fills them in; leave this out.";
            return at.invalid_key("personalization", message);
        }
        self.check_localizations(at)?;
        Some(self.personalized(at))
    }

    /// Notes what is wrong with tags, unless they are text like any other.
    fn personalized(mut self, at: &At<'_>) -> Self {
        if self.personalization == Some(false) {
            return self;
        }
        let has_tags = TEXTS.iter().any(|key| at.json().get(key).is_some_and(have_tags));
        if has_tags && at.is_clean() {
            check_parts(at, &TEXTS, Surroundings::OF_OWN_NAMES);
        }
        self.personalization = has_tags.then_some(true);
        self
    }

    fn check_localizations(&self, at: &At<'_>) -> Option<()> {
        let localizations = self.localizations.as_deref().unwrap_or_default();
        if localizations.is_empty() {
            return Some(());
        }
        let InAppContent::InAppMessage { message } = &self.content else {
            return at.invalid_key("localizations", "Only messages of the type 'in_app_message' have localizations.");
        };
        let Ok(Value::Object(message)) = serde_json::to_value(message) else { return Some(()) };
        for (n, localization) in localizations.iter().enumerate() {
            let mut merged = message.clone();
            merge(&mut merged, &localization.message);
            let text = Value::Object(merged).to_string();
            if let Err(problems) = json::parse(text.as_bytes(), Message::parse) {
                let first = problems.first();
                let message = format!("With these keys the message cannot be shown: {}: {}", first.path, first.message);
                return at.invalid_key(&format!("localizations[{n}].message"), message);
            }
        }
        Some(())
    }
}

/// Puts the keys of one object over those of another; objects below are merged as well.
pub fn merge(below: &mut Map<String, Value>, above: &Map<String, Value>) {
    for (key, value) in above {
        match (below.get_mut(key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => merge(below, above),
            _ => drop(below.insert(key.clone(), value.clone())),
        }
    }
}
