//! Atomic selectors: one key that names the kind of selector, its values, and the companions that some keys allow.

use schemars::json_schema;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{Activity, Attribute, Location, PastPush};
use crate::channel::name_text;
use crate::ids::{ChannelId, NamedUserId, SegmentId};
use crate::json::body::{Body, Read};
use crate::json::{At, Fields, OneOrMany};
use crate::limits;
use crate::tag::{Tag, TagGroup};

/// One property that devices either have or do not have.
#[derive(Clone, Debug, PartialEq)]
pub enum Atomic {
    /// Without a group the flat tags of a channel are meant. `tag_class` has no meaning any more and is only printed back.
    Tag {
        tags: OneOrMany<Tag>,
        group: Option<TagGroup>,
        tag_class: Option<String>,
    },
    Segment(OneOrMany<SegmentId>),
    NamedUser(OneOrMany<NamedUserId>),
    Alias(OneOrMany<String>),
    StaticList(OneOrMany<String>),
    /// One client library writes the key in the plural.
    SubscriptionList {
        ids: OneOrMany<String>,
        plural_key: bool,
    },
    /// A channel of any type.
    Channel(OneOrMany<ChannelId>),
    IosChannel(OneOrMany<ChannelId>),
    AndroidChannel(OneOrMany<ChannelId>),
    AmazonChannel(OneOrMany<ChannelId>),
    WebChannel(OneOrMany<ChannelId>),
    /// Addresses or channel ids; only a lookup shows which.
    OpenChannel(OneOrMany<String>),
    DeviceToken(OneOrMany<DeviceToken>),
    Apid(OneOrMany<String>),
    /// Addresses or channel ids.
    Wns(OneOrMany<String>),
    Mpns(OneOrMany<String>),
    DevicePin(OneOrMany<String>),
    SmsId(OneOrMany<SmsId>),
    SmsSender(OneOrMany<String>),
    Attribute(Box<Attribute>),
    Activity(Box<Activity>),
    Location(Box<Location>),
    Push(PastPush),
    /// Those that have a live connection at the time of asking.
    Live,
}

/// An address of Apple's push service: 64 hexadecimal digits.
// Kept in upper case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Read)]
#[body(schema = json_schema!({"type": "string", "pattern": "^[0-9a-fA-F]{64}$"}))]
pub struct DeviceToken(String);

/// A person's telephone number together with the sender's number.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct SmsId {
    #[body(length = 1..=limits::MSISDN_DIGITS, read = |at| digits(at, limits::MSISDN_DIGITS))]
    pub msisdn: String,
    #[body(length = 1..=limits::SMS_SENDER_CHARS, read = |at| digits(at, limits::SMS_SENDER_CHARS))]
    pub sender: String,
}

/// Reads the value under a key, and the companions next to it.
type ReadAtomic = for<'a> fn(&At<'a>, &mut Fields<'a>) -> Option<Atomic>;

const READERS: [(&str, ReadAtomic); 25] = [
    ("tag", tag),
    ("segment", |at, _| values(at, SegmentId::parse).map(Atomic::Segment)),
    ("named_user", |at, _| values(at, NamedUserId::parse).map(Atomic::NamedUser)),
    ("alias", |at, _| texts(at, limits::ALIAS_CHARS).map(Atomic::Alias)),
    ("static_list", |at, _| texts(at, limits::STATIC_LIST_NAME_CHARS).map(Atomic::StaticList)),
    ("subscription_list", |at, _| subscription_list(at, false)),
    ("subscription_lists", |at, _| subscription_list(at, true)),
    ("channel", |at, _| values(at, ChannelId::parse).map(Atomic::Channel)),
    ("ios_channel", |at, _| values(at, ChannelId::parse).map(Atomic::IosChannel)),
    ("android_channel", |at, _| values(at, ChannelId::parse).map(Atomic::AndroidChannel)),
    ("amazon_channel", |at, _| values(at, ChannelId::parse).map(Atomic::AmazonChannel)),
    ("web_channel", |at, _| values(at, ChannelId::parse).map(Atomic::WebChannel)),
    ("open_channel", |at, _| texts(at, limits::OPEN_ADDRESS_CHARS).map(Atomic::OpenChannel)),
    ("device_token", |at, _| values(at, DeviceToken::parse).map(Atomic::DeviceToken)),
    ("apid", |at, _| texts(at, limits::PUSH_ADDRESS_CHARS).map(Atomic::Apid)),
    ("wns", |at, _| texts(at, limits::PUSH_ADDRESS_CHARS).map(Atomic::Wns)),
    ("mpns", |at, _| texts(at, limits::PUSH_ADDRESS_CHARS).map(Atomic::Mpns)),
    ("device_pin", |at, _| texts(at, limits::PUSH_ADDRESS_CHARS).map(Atomic::DevicePin)),
    ("sms_id", |at, _| values(at, SmsId::parse).map(Atomic::SmsId)),
    ("sms_sender", |at, _| texts(at, limits::SMS_SENDER_CHARS).map(Atomic::SmsSender)),
    ("attribute", |at, companions| Attribute::parse(at, companions).map(|it| Atomic::Attribute(Box::new(it)))),
    ("activity", |at, companions| Activity::parse(at, companions).map(|it| Atomic::Activity(Box::new(it)))),
    ("location", |at, _| Location::parse(at).map(|it| Atomic::Location(Box::new(it)))),
    ("push", |at, _| PastPush::parse(at).map(Atomic::Push)),
    ("live", |at, _| live(at)),
];

impl Atomic {
    /// The keys with which selectors begin.
    pub(super) fn keys() -> impl Iterator<Item = &'static str> {
        READERS.iter().map(|(key, _)| *key)
    }

    /// How to read the selector that begins with this key, if there is one.
    pub(super) fn reader(key: &str) -> Option<ReadAtomic> {
        READERS.iter().find(|(known, _)| *known == key).map(|(_, read)| *read)
    }

    /// The segments it refers to.
    pub fn segments(&self) -> &[SegmentId] {
        if let Atomic::Segment(ids) = self { ids.as_slice() } else { &[] }
    }

    /// The place where devices have to have been.
    pub fn location(&self) -> Option<&Location> {
        if let Atomic::Location(location) = self { Some(location) } else { None }
    }
}

impl DeviceToken {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let text = at.string()?;
        if text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Some(Self(text.to_ascii_uppercase()));
        }
        at.invalid("A device token has exactly 64 hexadecimal digits.")
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn tag<'a>(at: &At<'a>, companions: &mut Fields<'a>) -> Option<Atomic> {
    let tags = values(at, Tag::parse);
    let group = companions.optional("group", TagGroup::parse);
    let tag_class = companions.optional("tag_class", At::any_text);
    Some(Atomic::Tag { tags: tags?, group, tag_class })
}

fn subscription_list(at: &At<'_>, plural_key: bool) -> Option<Atomic> {
    let ids = texts(at, limits::SUBSCRIPTION_LIST_ID_CHARS)?;
    Some(Atomic::SubscriptionList { ids, plural_key })
}

fn live(at: &At<'_>) -> Option<Atomic> {
    match at.boolean()? {
        true => Some(Atomic::Live),
        false => at.invalid(r#"This must be true; {"not": {"live": true}} selects those that are not connected."#),
    }
}

fn values<'a, T>(at: &At<'a>, read: impl FnMut(&At<'a>) -> Option<T>) -> Option<OneOrMany<T>> {
    at.one_or_many(1..=limits::VALUES_PER_SELECTOR, read)
}

fn texts(at: &At<'_>, most_chars: usize) -> Option<OneOrMany<String>> {
    values(at, |at| name_text(at, most_chars))
}

fn digits(at: &At<'_>, most: usize) -> Option<String> {
    let text = at.text(1..=most)?;
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return Some(text);
    }
    at.invalid("This must consist of digits only, without a plus sign or spaces.")
}

impl Serialize for Atomic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Atomic::Tag { tags, group, tag_class } => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("tag", tags)?;
                if let Some(group) = group {
                    map.serialize_entry("group", group)?;
                }
                if let Some(tag_class) = tag_class {
                    map.serialize_entry("tag_class", tag_class)?;
                }
                map.end()
            }
            Atomic::Segment(ids) => entry(serializer, "segment", ids),
            Atomic::NamedUser(ids) => entry(serializer, "named_user", ids),
            Atomic::Alias(aliases) => entry(serializer, "alias", aliases),
            Atomic::StaticList(names) => entry(serializer, "static_list", names),
            Atomic::SubscriptionList { ids, plural_key: false } => entry(serializer, "subscription_list", ids),
            Atomic::SubscriptionList { ids, plural_key: true } => entry(serializer, "subscription_lists", ids),
            Atomic::Channel(ids) => entry(serializer, "channel", ids),
            Atomic::IosChannel(ids) => entry(serializer, "ios_channel", ids),
            Atomic::AndroidChannel(ids) => entry(serializer, "android_channel", ids),
            Atomic::AmazonChannel(ids) => entry(serializer, "amazon_channel", ids),
            Atomic::WebChannel(ids) => entry(serializer, "web_channel", ids),
            Atomic::OpenChannel(targets) => entry(serializer, "open_channel", targets),
            Atomic::DeviceToken(tokens) => entry(serializer, "device_token", tokens),
            Atomic::Apid(ids) => entry(serializer, "apid", ids),
            Atomic::Wns(ids) => entry(serializer, "wns", ids),
            Atomic::Mpns(ids) => entry(serializer, "mpns", ids),
            Atomic::DevicePin(pins) => entry(serializer, "device_pin", pins),
            Atomic::SmsId(ids) => entry(serializer, "sms_id", ids),
            Atomic::SmsSender(senders) => entry(serializer, "sms_sender", senders),
            Atomic::Attribute(attribute) => attribute.serialize(serializer),
            Atomic::Activity(activity) => activity.serialize(serializer),
            Atomic::Location(location) => entry(serializer, "location", location),
            Atomic::Push(past) => entry(serializer, "push", past),
            Atomic::Live => entry(serializer, "live", &true),
        }
    }
}

fn entry<S: Serializer>(serializer: S, key: &str, value: &impl Serialize) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(key, value)?;
    map.end()
}
