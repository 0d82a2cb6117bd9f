//! Inboxes of Message Center messages: their owners, the requests of devices for them, and the data kept with a message.
//!
//! Devices send these bodies, and the apps they come from cannot be changed any more: unknown keys are skipped.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use personalization::{Target, Template, Unrenderable, ValueMap, Values, has_tags};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::channel::{ChannelRef, ClaimedType};
use crate::device_type::DeviceType;
use crate::ids::ChannelId;
use crate::json::body::Read;
use crate::json::{At, Fields, Json};
use crate::limits;
use crate::payload::content::ContentEncoding;
use crate::payload::localization::{self, Localization};
use crate::payload::message::{Icons, Message};
use crate::payload::personal::Form;
use crate::payload::{Push, extra::TextExtra};
use crate::time::UtcMillis;

/// The owner of an inbox: 22 characters of `[A-Za-z0-9_-]`, as devices expect.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InboxUserId(String);

impl InboxUserId {
    pub fn new(text: &str) -> Option<Self> {
        let has_shape = text.len() == 22 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        has_shape.then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for InboxUserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The platforms that have inboxes, and the keys under which their channels are named.
pub const CHANNEL_KEYS: [(&str, DeviceType); 4] = [
    ("ios_channels", DeviceType::Ios),
    ("android_channels", DeviceType::Android),
    ("amazon_channels", DeviceType::Amazon),
    ("web_channels", DeviceType::Web),
];

/// Whether devices of this type have inboxes.
pub fn takes_messages(device_type: &DeviceType) -> bool {
    CHANNEL_KEYS.iter().any(|(_, known)| known == device_type)
}

/// The channels a new inbox begins with.
#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(schema = channels_schema(|ids| ids))]
pub struct NewInbox(pub Vec<ChannelRef>);

impl NewInbox {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let mut channels = Vec::new();
        for (key, device_type) in CHANNEL_KEYS {
            channels.extend(fields.nullable(key, |at| refs(at, &device_type)).into_iter().flatten());
        }
        fields.rest();
        Some(Self(channels))
    }
}

/// Channels that join an inbox, and those that leave it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Read)]
#[body(schema = channels_schema(|ids| {
    let lists = json!({"add": ids, "remove": ids});
    json!({"anyOf": [ids, {"type": "object", "properties": lists}]})
}))]
pub struct InboxChange {
    pub add: Vec<ChannelRef>,
    pub remove: Vec<ChannelRef>,
}

impl InboxChange {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let mut change = Self::default();
        for (key, device_type) in CHANNEL_KEYS {
            let Some(at) = fields.take(key).filter(|at| !at.is_null()) else { continue };
            // A bare list is the body that creates an inbox.
            if let Json::Array(_) = at.json() {
                change.add.extend(refs(&at, &device_type).into_iter().flatten());
                continue;
            }
            let Some(mut lists) = at.object() else { continue };
            change.add.extend(lists.nullable("add", |at| refs(at, &device_type)).into_iter().flatten());
            change.remove.extend(lists.nullable("remove", |at| refs(at, &device_type)).into_iter().flatten());
            lists.rest();
        }
        fields.rest();
        Some(change)
    }
}

fn channels_schema(of_platform: impl Fn(Value) -> Value) -> Schema {
    let id = json!({"type": "string", "format": "uuid"});
    let ids = json!({"type": ["array", "null"], "maxItems": limits::CHANNELS_PER_INBOX, "items": id});
    let keys: Map<_, _> = CHANNEL_KEYS.iter().map(|(key, _)| ((*key).to_owned(), of_platform(ids.clone()))).collect();
    json_schema!({"type": "object", "properties": keys})
}

fn refs(at: &At<'_>, device_type: &DeviceType) -> Option<Vec<ChannelRef>> {
    let claimed = || Some(ClaimedType::Exactly(device_type.clone()));
    at.array(0..=limits::CHANNELS_PER_INBOX, |at| ChannelId::parse(at).map(|id| ChannelRef { id, claimed: claimed() }))
}

/// The ids of messages that a device has read or deleted. Anything that is not the id of a message is left out: the device
/// would send it again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageIds(pub Vec<String>);

impl JsonSchema for MessageIds {
    fn schema_name() -> Cow<'static, str> {
        "MessageIds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let urls =
            json!({"type": ["array", "null"], "maxItems": limits::MESSAGES_PER_REQUEST, "items": {"type": "string"}});
        let report = json!({"type": "object", "properties": {"message_id": {"type": "string"}}});
        let reports = json!({"type": ["array", "null"], "maxItems": limits::MESSAGES_PER_REQUEST, "items": report});
        json_schema!({
            "description": "Messages that a device has read ('mark_as_read') or deleted ('delete'), by their URLs or by the \
                objects that came with them in the listing.",
            "type": "object",
            "properties": {"mark_as_read": urls, "delete": urls, "messages": reports},
        })
    }
}

impl MessageIds {
    pub fn read(at: &At<'_>) -> Option<Self> {
        Self::parse(at, "mark_as_read")
    }

    pub fn deleted(at: &At<'_>) -> Option<Self> {
        Self::parse(at, "delete")
    }

    /// Old devices name messages by their URLs, later ones by the object that came with each in the listing.
    fn parse(at: &At<'_>, urls_key: &str) -> Option<Self> {
        let mut fields = at.object()?;
        let most = 0..=limits::MESSAGES_PER_REQUEST;
        let urls = fields.nullable(urls_key, |at| at.array(most.clone(), At::any_text));
        let reports = fields.nullable("messages", |at| at.array(most, |at| at.object().map(reported)));
        fields.rest();
        let in_urls = urls.into_iter().flatten().filter_map(|url| message_in(&url).map(str::to_owned));
        Some(Self(in_urls.chain(reports.into_iter().flatten().flatten()).collect()))
    }
}

fn reported(mut fields: Fields<'_>) -> Option<String> {
    let id = fields.take("message_id").and_then(|at| match at.json() {
        Json::String(id) => Some(id.clone()),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => None,
    });
    fields.rest();
    id
}

/// The id in the URL of a message. Only the path counts: devices put it after whatever base URL they have for us.
fn message_in(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("/message/")?;
    rest.split(['/', '?', '#']).next().filter(|id| !id.is_empty())
}

/// The data in a listing about a message beside its title and its type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageDetails {
    pub extra: TextExtra,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icons: Option<BTreeMap<String, String>>,
    /// Free-form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<BTreeMap<String, Value>>,
    /// Present if title, body, extra and icons are filled in for each reader. Readers do not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filling: Option<MessageFilling>,
}

/// How the texts of a message are filled in when somebody reads it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageFilling {
    /// What the push says about everybody.
    #[serde(default)]
    global: ValueMap,
    /// Of the template that the message was written as.
    #[serde(default)]
    defaults: ValueMap,
    /// A body that came in base64 need not be text, and is never filled in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    keeps_body: bool,
    /// Whether there is no message for a reader for whom the body cannot be filled in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    needs_body: bool,
}

impl MessageFilling {
    /// `None` if the message is the same for everybody.
    pub fn of(push: &Push, message: &Message) -> Option<Self> {
        let keeps_body = message.content_encoding == Some(ContentEncoding::Base64);
        let body = message.written_body().filter(|_| !keeps_body);
        let texts = [message.title(), body];
        let extra = message.extra.iter().flat_map(BTreeMap::values).map(String::as_str);
        let icon = message.icons.iter().map(|icons| icons.list_icon.as_str());
        let varies = texts.into_iter().flatten().chain(extra).chain(icon).any(has_tags);
        (varies && push.is_personalized()).then(|| Self {
            global: push.global_attributes.clone().unwrap_or_default(),
            defaults: message.variable_defaults(),
            keeps_body,
            needs_body: body.is_some_and(|body| body.contains("$required")),
        })
    }

    /// Whether the body has to be read to know whether there is a message for a reader.
    pub fn needs_body(&self) -> bool {
        self.needs_body
    }

    /// Whether the body is the same for everybody, whatever is in it.
    pub fn keeps_body(&self) -> bool {
        self.keeps_body
    }

    /// The names that a text asks for.
    pub fn names(text: &str) -> BTreeSet<String> {
        Template::parse(text).map(|template| template.names()).unwrap_or_default()
    }

    /// A text for a reader with these values. One that was no template when it was sent stays as it is.
    pub fn filled(&self, text: &str, is_html: bool, values: &ValueMap, now: UtcMillis) -> Result<String, Unrenderable> {
        self.filled_as(if is_html { Target::Html } else { Target::Text }, text, values, now)
    }

    /// As [`MessageFilling::filled`], of what names a picture. A message can be read without its pictures: one is left out if it is
    /// none with these values.
    pub fn filled_icons(
        &self,
        icons: &BTreeMap<String, String>,
        values: &ValueMap,
        now: UtcMillis,
    ) -> Result<BTreeMap<String, String>, Unrenderable> {
        let mut filled = BTreeMap::new();
        for (name, icon) in icons {
            let icon = self.filled_as(Target::WholeUrl, icon, values, now)?;
            if Form::Icon.judge(&icon).is_ok() {
                filled.insert(name.clone(), icon);
            }
        }
        Ok(filled)
    }

    fn filled_as(&self, target: Target, text: &str, values: &ValueMap, now: UtcMillis) -> Result<String, Unrenderable> {
        let Ok(template) = Template::parse(text) else { return Ok(text.to_owned()) };
        template.render(target, &Values { layers: &[values, &self.global, &self.defaults], now: now.0 })
    }
}

impl MessageDetails {
    pub fn of(push: &Push, message: &Message) -> Self {
        let icon = |icons: &Icons| BTreeMap::from([("list_icon".to_owned(), icons.list_icon.as_str().to_owned())]);
        Self {
            extra: message.extra.clone().unwrap_or_default(),
            icons: message.icons.as_ref().map(icon),
            options: message.options.clone(),
            filling: MessageFilling::of(push, message),
        }
    }
}

/// Which text of a message is for which device. Text 0 is that of the push, n that of its n-th localization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextChoice {
    /// Without one, only devices of certain languages and countries have the message at all.
    top: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    localized: Vec<LocalizedText>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LocalizedText {
    language: Option<String>,
    country: Option<String>,
    text: Option<u32>,
}

impl TextChoice {
    pub fn of(push: &Push) -> Self {
        let top = push.message.as_ref().map(|_| 0);
        let localized = |(place, one): (u32, &Localization)| LocalizedText {
            language: one.language.clone(),
            country: one.country.clone(),
            text: one.message.as_ref().map(|_| place).or(top),
        };
        Self { top, localized: (1..).zip(push.localizations.iter().flatten()).map(localized).collect() }
    }

    /// The text for a device; `None` when the message is not for it.
    pub fn choose(&self, language: Option<&str>, country: Option<&str>) -> Option<u32> {
        let wanted = self.localized.iter().map(|one| (one.language.as_deref(), one.country.as_deref()));
        match localization::closest(wanted, language, country) {
            Some(place) => self.localized[place].text,
            None => self.top,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn messages_are_named_by_the_path_of_their_url_or_by_their_report() {
        let url =
            |rest: &str| format!(r#"{{"mark_as_read": ["https://old.example/x/api/user/u/messages/message/{rest}"]}}"#);
        for (body, expected) in [
            (url("AbC_-1/"), vec!["AbC_-1"]),
            (url("AbC_-1"), vec!["AbC_-1"]),
            (url("AbC_-1/body/?a=b"), vec!["AbC_-1"]),
            (url(""), vec![]),
            (r#"{"mark_as_read": ["nonsense", "/message/a/"]}"#.to_owned(), vec!["a"]),
            (
                r#"{"messages": [{"message_id": "a", "x": 1}, {"group_id": "g"}, {"message_id": 1}]}"#.to_owned(),
                vec!["a"],
            ),
            (r#"{"mark_as_read": null, "messages": [], "sdk": "1"}"#.to_owned(), vec![]),
        ] {
            let ids = parse(body.as_bytes(), MessageIds::read).unwrap();
            assert_eq!(ids.0, expected, "{body}");
        }
        for body in [r#"{"mark_as_read": "a"}"#, r#"{"messages": ["a"]}"#, "[]"] {
            parse(body.as_bytes(), MessageIds::read).unwrap_err();
        }
    }

    #[test]
    fn texts_are_chosen_as_localizations_are() {
        let push = r#"{"audience": "all", "device_types": ["ios"], "message": {"title": "t", "body": "b"}, "localizations": [
            {"language": "de", "message": {"title": "d", "body": "b"}},
            {"language": "de", "country": "AT", "notification": {"alert": "a"}}]}"#;
        let push = parse(push.as_bytes(), Push::parse).unwrap();
        let texts = TextChoice::of(&push);
        for locale in [(None, None), (Some("de"), None), (Some("DE"), Some("at")), (Some("en"), Some("AT"))] {
            let chosen = texts.choose(locale.0, locale.1).map(|text| match text {
                0 => "t",
                _ => "d",
            });
            assert_eq!(chosen, push.content_for(locale.0, locale.1).message.and_then(Message::title), "{locale:?}");
        }
        let stored = serde_json::to_string(&texts).unwrap();
        assert_eq!(serde_json::from_str::<TextChoice>(&stored).unwrap(), texts);
    }
}
