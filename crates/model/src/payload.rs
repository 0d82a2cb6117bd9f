//! The push object: its audience, its content on each platform, and how it is sent.

pub mod actions;
pub mod amazon;
pub mod android;
mod appearance;
pub mod campaigns;
pub mod color;
pub mod content;
pub mod decimal;
pub mod device_types;
pub mod email;
pub mod expiry;
pub mod extra;
pub mod http_url;
pub mod in_app;
pub mod interactive;
pub mod ios;
pub mod live_event;
pub mod localization;
pub mod message;
pub mod mms;
pub mod notification;
pub mod open;
pub mod options;
pub mod orchestration;
pub mod personal;
pub mod push_type;
pub mod references;
mod rules;
mod shown;
pub mod sms;
mod stored_texts;
pub mod style;
pub mod template;
#[cfg(test)]
mod tests;
pub mod web;
pub mod wns;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::channel::name_text;
use crate::create_and_send::Recipients;
use crate::device_type::{DeviceType, OpenPlatform};
use crate::json::body::{Body, Read};
use crate::json::{self, At, Fields, Json, OneOrMany, Texts};
use crate::limits;
use crate::problem::Problems;
use crate::selector::{Audience, Purpose};
use campaigns::Campaigns;
use device_types::DeviceTypes;
use email::MessageType;
use in_app::InApp;
use localization::Localization;
use message::Message;
use notification::Notification;
use options::Options;
use orchestration::Orchestration;
use references::{FeedReferences, SnippetReferences};

pub use appearance::{Appearance, ShownButton};
pub use shown::ShownTexts;
pub use stored_texts::StoredTexts;

/// A push: its audience, its content on each platform, and how it is sent.
// Checked against every rule that needs nothing but the push itself.
#[derive(Clone, Debug, PartialEq, Body, Read)]
#[body(given(purpose: Purpose), parse = parse_parts, check = |push, at| push.checked(at, purpose))]
pub struct Push {
    /// What the push is called in listings. Devices do not see it.
    #[body(length = 1..=limits::PUSH_NAME_CHARS, read = |at| name_text(at, limits::PUSH_NAME_CHARS))]
    pub name: Option<String>,
    /// Which channels the push goes to.
    #[body(read = |at| Audience::parse(at, purpose))]
    pub audience: Audience,
    /// The platforms it goes to.
    pub device_types: DeviceTypes,
    /// What is shown on the screen of a device, or sent as a text message or an email.
    #[body(take = notification)]
    pub notification: Option<Notification>,
    /// A page for the inbox of the device. Its title and body are kept there until it expires.
    pub message: Option<Message>,
    // Private because it may be given inside the notification as well; see [`Push::in_app`].
    /// A banner that the app shows the next time it is open.
    in_app: Option<InApp>,
    /// How the push is sent.
    pub options: Option<Options>,
    /// The names under which its results are added up.
    pub campaigns: Option<Campaigns>,
    /// Content for devices of a language or country.
    #[body(length = 1..=limits::LOCALIZATIONS)]
    pub localizations: Option<Vec<Localization>>,
    /// Values for variables in the texts of the push, which is personalized then.
    #[body(read = parse_global_attributes)]
    pub global_attributes: Option<BTreeMap<String, Value>>,
    pub message_type: Option<MessageType>,
    /// Which channels of a person get it. A choice that cannot be followed is refused.
    pub orchestration: Option<Orchestration>,
    /// Accepted without effect; texts that use feeds are refused.
    pub feed_references: Option<FeedReferences>,
    /// Accepted without effect; texts that use snippets are refused.
    pub snippet_references: Option<SnippetReferences>,
}

/// Reads a request body: one push, or an array of 1 to 100 of them. All are good or none is.
pub fn parse_pushes(body: &[u8]) -> Result<OneOrMany<Push>, Problems> {
    json::parse(body, Push::parse_one_or_many)
}

impl Push {
    pub fn parse_one_or_many(at: &At<'_>) -> Option<OneOrMany<Self>> {
        at.one_or_many(1..=limits::PUSHES_PER_REQUEST, Self::parse)
    }

    /// A push that is sent because of a request, now or later.
    pub fn parse(at: &At<'_>) -> Option<Self> {
        Self::parse_with(at, Purpose::Send)
    }

    pub fn parse_with(at: &At<'_>, purpose: Purpose) -> Option<Self> {
        let texts = match purpose {
            Purpose::Stored => Texts::Accepted,
            Purpose::Send | Purpose::Pipeline | Purpose::CreateAndSend => match personal::may_have_tags(at.json()) {
                true => Texts::Tagged,
                false => Texts::Final,
            },
        };
        Self::parse_parts(&at.with_texts(texts), purpose)
    }

    /// Whether the payload may be kept only until it is sent.
    pub fn is_redacted(&self) -> bool {
        self.options.as_ref().and_then(|options| options.redact_payload) == Some(true)
    }

    fn checked(self, at: &At<'_>, purpose: Purpose) -> Option<Self> {
        // A part that could not be read is missing here and would be blamed twice.
        if at.is_clean() && purpose != Purpose::Stored {
            rules::check(&self, at, purpose);
        }
        Some(self)
    }

    /// The in-app message, which one client library puts inside the notification.
    pub fn in_app(&self) -> Option<&InApp> {
        self.in_app.as_ref().or_else(|| self.notification.as_ref()?.in_app.as_deref())
    }

    /// Whether there is a Message Center message, at least for some locale.
    pub fn has_message(&self) -> bool {
        self.message.is_some() || self.localizations.iter().flatten().any(|one| one.message.is_some())
    }

    /// The recipients that the push brings along, and their platform.
    pub fn recipients(&self) -> Option<(&OpenPlatform, &Recipients)> {
        match &self.audience {
            Audience::CreateAndSend(recipients) => Some((self.open_platforms().next()?, recipients)),
            Audience::All(_) | Audience::Triggered(_) | Audience::Uploaded(_) | Audience::Selector(_) => None,
        }
    }

    /// The open platforms named in `device_types`; only the configuration knows whether they exist.
    pub fn open_platforms(&self) -> impl Iterator<Item = &OpenPlatform> {
        self.device_types.listed().iter().filter_map(|device_type| match device_type {
            DeviceType::Open(platform) => Some(platform),
            DeviceType::Ios
            | DeviceType::Android
            | DeviceType::Amazon
            | DeviceType::Web
            | DeviceType::Wns
            | DeviceType::Sms
            | DeviceType::Mms
            | DeviceType::Email => None,
        })
    }
}

/// Required unless there is another kind of content. Some versions of one client library send null when there is only a
/// message or an in-app message.
fn notification(fields: &mut Fields<'_>) -> Option<Notification> {
    let is_null = fields.at().json().get("notification") == Some(&Json::Null);
    if (is_null || !fields.has("notification")) && !["message", "in_app"].iter().any(|key| fields.has(key)) {
        fields.at().missing::<()>("notification");
    }
    fields.nullable("notification", Notification::parse)
}

/// Values for the texts of the push; the names are used as variables there.
pub(crate) fn parse_global_attributes(at: &At<'_>) -> Option<BTreeMap<String, Value>> {
    let attributes = at.object()?.into_map(0..=usize::MAX, |at| Some(at.json().to_value()))?;
    for name in attributes.keys() {
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || name.starts_with("ua_") {
            at.invalid_key::<()>(name, "The name of an attribute begins with a letter, and not with 'ua_'.");
        }
    }
    Some(attributes)
}
