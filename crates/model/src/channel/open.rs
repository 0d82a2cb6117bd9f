//! Channels of open platforms: registration, and naming one by its address.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::device_update::LocaleUpdate;
use super::registration::tag_set;
use super::{Profile, TagOperation, name_text, string_map};
use crate::device_type::{DeviceType, OpenPlatform};
use crate::ids::ChannelId;
use crate::json::body::{Body, Read, Words};
use crate::json::{At, Fields, Json};
use crate::limits;
use crate::tag::Tag;

/// The fields that only channels of open platforms have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct OpenDetails {
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub identifiers: BTreeMap<String, String>,
    /// The address before the last rename.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub old_address: Option<String>,
}

/// Creates or updates the channel of an address. At least one of `address` and `channel_id` is given, the address
/// always if the channel is opted in.
#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(schema = OpenRegistrationBody::json_schema(schemas))]
pub struct OpenRegistration {
    pub platform: OpenPlatform,
    pub address: Option<String>,
    pub channel_id: Option<ChannelId>,
    /// The current address of the channel, if it is to be renamed to `address`.
    pub old_address: Option<String>,
    pub opt_in: bool,
    live: Option<bool>,
    identifiers: Option<BTreeMap<String, String>>,
    locale: LocaleUpdate,
    tags: Option<BTreeSet<Tag>>,
    set_tags: Option<bool>,
}

impl OpenRegistration {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        OpenRegistrationBody::parse(at).map(|body| body.channel.into())
    }

    /// The registration of an address to send to, of which nothing else is known.
    pub fn of_address(platform: OpenPlatform, address: String) -> Self {
        Self {
            platform,
            address: Some(address),
            channel_id: None,
            old_address: None,
            opt_in: true,
            live: None,
            identifiers: None,
            locale: LocaleUpdate::default(),
            tags: None,
            set_tags: None,
        }
    }

    /// The whole state of the channel after this registration. Applying it once more changes nothing.
    pub fn apply(&self, previous: Option<&Profile>) -> Profile {
        let mut profile = Profile::before_update(previous, &DeviceType::Open(self.platform.clone()));
        profile.opt_in = self.opt_in;
        profile.live = self.live.unwrap_or(profile.live);
        if self.address.is_some() {
            profile.address.clone_from(&self.address);
        }
        self.locale.update(&mut profile);
        let details = profile.open.get_or_insert_default();
        if let Some(identifiers) = &self.identifiers {
            details.identifiers.clone_from(identifiers);
        }
        if self.old_address.is_some() {
            details.old_address.clone_from(&self.old_address);
        }
        profile
    }

    /// The device tags of the channel after this registration: those given, together with the present ones if
    /// `set_tags` is false; the present ones if none are given.
    pub fn device_tags(&self, current: &BTreeSet<Tag>) -> BTreeSet<Tag> {
        match (&self.tags, self.set_tags) {
            (None, _) => current.clone(),
            (Some(tags), Some(false)) => tags | current,
            (Some(tags), Some(true) | None) => tags.clone(),
        }
    }
}

impl From<OpenChannel> for OpenRegistration {
    fn from(channel: OpenChannel) -> Self {
        let OpenChannel { opt_in, live, address, channel_id, locale, tags, set_tags, open, .. } = channel;
        let OpenUpdate { platform, identifiers, old_address } = open;
        Self { platform, address, channel_id, old_address, opt_in, live, identifiers, locale, tags, set_tags }
    }
}

/// Creates or updates the channel of an address on an open platform.
#[derive(Body)]
#[body(not_printed)]
struct OpenRegistrationBody {
    channel: OpenChannel,
}

/// The channel of an address. Keys that are not given leave it as it is.
#[derive(Body)]
#[body(not_printed, keys = |fields| require_address(fields, opt_in, open.as_ref()))]
pub(super) struct OpenChannel {
    #[body(rename = "type")]
    _kind: OpenWord,
    opt_in: bool,
    /// Whether it takes messages over live connections (`GET /live`) where the platform has no endpoint.
    #[body(nullable)]
    live: Option<bool>,
    /// Required if the channel is opted in, if it is renamed, and if there is no `channel_id`.
    #[body(length = 1..=limits::OPEN_ADDRESS_CHARS, read = open_address, nullable)]
    address: Option<String>,
    #[body(nullable)]
    channel_id: Option<ChannelId>,
    #[body(flatten)]
    locale: LocaleUpdate,
    #[body(length = 0..=limits::TAGS_PER_CHANNEL, read = tag_set, nullable)]
    tags: Option<BTreeSet<Tag>>,
    #[body(nullable)]
    set_tags: Option<bool>,
    open: OpenUpdate,
}

#[derive(Clone, Copy, Words)]
#[words(not_printed)]
enum OpenWord {
    Open,
}

fn require_address(fields: &Fields<'_>, opt_in: Option<bool>, open: Option<&OpenUpdate>) {
    let is_given = |key| fields.at().json().get(key).is_some_and(|given| *given != Json::Null);
    let is_rename = open.is_some_and(|open| open.old_address.is_some());
    if !is_given("address") && (opt_in == Some(true) || !is_given("channel_id") || is_rename) {
        fields.at().missing::<()>("address");
    }
}

/// What only channels of open platforms have.
#[derive(Body)]
#[body(not_printed)]
struct OpenUpdate {
    #[body(rename = "open_platform_name")]
    platform: OpenPlatform,
    #[body(length = 0..=limits::OPEN_IDENTIFIERS, read = identifiers, nullable)]
    identifiers: Option<BTreeMap<String, String>>,
    /// The current address of the channel, if it is to be renamed.
    #[body(length = 1..=limits::OPEN_ADDRESS_CHARS, read = open_address, nullable)]
    old_address: Option<String>,
}

fn identifiers(at: &At<'_>) -> Option<BTreeMap<String, String>> {
    string_map(at, limits::OPEN_IDENTIFIERS, |at| at.text(0..=limits::OPEN_IDENTIFIER_VALUE_CHARS))
}

pub(crate) fn open_address(at: &At<'_>) -> Option<String> {
    name_text(at, limits::OPEN_ADDRESS_CHARS)
}

/// One channel of an open platform, by its address.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct OpenAddress {
    #[body(rename = "open_platform_name")]
    pub platform: OpenPlatform,
    #[body(first, length = 1..=limits::OPEN_ADDRESS_CHARS, read = open_address)]
    pub address: String,
}

/// A change of the tags of one channel of an open platform.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct OpenTags {
    pub audience: OpenAddress,
    #[body(flatten, take = TagOperation::read)]
    pub operation: TagOperation,
}
