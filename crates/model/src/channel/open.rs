//! Channels of open platforms: registration, and naming one by its address.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::device_update::LocaleUpdate;
use super::registration::tag_set;
use super::{Profile, TagOperation, name_text, string_map};
use crate::device_type::{DeviceType, OpenPlatform};
use crate::ids::ChannelId;
use crate::json::At;
use crate::limits;
use crate::tag::Tag;

/// The fields that only channels of open platforms have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenDetails {
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub identifiers: BTreeMap<String, String>,
    /// The address before the last rename.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub old_address: Option<String>,
}

/// Creates or updates the channel of an address. At least one of `address` and `channel_id` is given, the address
/// always if the channel is opted in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRegistration {
    pub platform: OpenPlatform,
    pub address: Option<String>,
    pub channel_id: Option<ChannelId>,
    /// The current address of the channel, if it is to be renamed to `address`.
    pub old_address: Option<String>,
    pub opt_in: bool,
    identifiers: Option<BTreeMap<String, String>>,
    locale: LocaleUpdate,
    tags: Option<BTreeSet<Tag>>,
    set_tags: Option<bool>,
}

impl OpenRegistration {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let registration = fields.required("channel", Self::parse_channel);
        fields.finish();
        registration
    }

    fn parse_channel(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        fields.required("type", |at| at.choice(&[("open", ())]));
        let opt_in = fields.required("opt_in", At::boolean);
        let [address_at, channel_id_at] =
            ["address", "channel_id"].map(|key| fields.take(key).filter(|at| !at.is_null()));
        let address = address_at.as_ref().and_then(open_address);
        let channel_id = channel_id_at.as_ref().and_then(ChannelId::parse);
        let locale = LocaleUpdate::read(&mut fields);
        let tags = fields.nullable("tags", tag_set);
        let set_tags = fields.nullable("set_tags", At::boolean);
        let open = fields.required("open", OpenUpdate::parse);
        let is_rename = open.as_ref().is_some_and(|open| open.old_address.is_some());
        if address_at.is_none() && (opt_in == Some(true) || channel_id_at.is_none() || is_rename) {
            at.missing::<()>("address");
        }
        fields.finish();
        let OpenUpdate { platform, identifiers, old_address } = open?;
        Some(Self { platform, address, channel_id, old_address, opt_in: opt_in?, identifiers, locale, tags, set_tags })
    }

    /// The registration of an address to send to, of which nothing else is known.
    pub fn of_address(platform: OpenPlatform, address: String) -> Self {
        Self {
            platform,
            address: Some(address),
            channel_id: None,
            old_address: None,
            opt_in: true,
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

/// The keys below `open` in a registration.
struct OpenUpdate {
    platform: OpenPlatform,
    identifiers: Option<BTreeMap<String, String>>,
    old_address: Option<String>,
}

impl OpenUpdate {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let platform = fields.required("open_platform_name", OpenPlatform::parse);
        let identifiers = fields.nullable("identifiers", |at| {
            string_map(at, limits::OPEN_IDENTIFIERS, |at| at.text(0..=limits::OPEN_IDENTIFIER_VALUE_CHARS))
        });
        let old_address = fields.nullable("old_address", open_address);
        fields.finish();
        Some(Self { platform: platform?, identifiers, old_address })
    }
}

pub(crate) fn open_address(at: &At<'_>) -> Option<String> {
    name_text(at, limits::OPEN_ADDRESS_CHARS)
}

/// One channel of an open platform, by its address: the body of an uninstall, and the target of a tag operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenAddress {
    pub platform: OpenPlatform,
    pub address: String,
}

impl OpenAddress {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let address = fields.required("address", open_address);
        let platform = fields.required("open_platform_name", OpenPlatform::parse);
        fields.finish();
        Some(Self { platform: platform?, address: address? })
    }
}

/// A change of the tags of one channel of an open platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenTags {
    pub audience: OpenAddress,
    pub operation: TagOperation,
}

impl OpenTags {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let audience = fields.required("audience", OpenAddress::parse);
        let operation = TagOperation::read(&mut fields);
        fields.finish();
        Some(Self { audience: audience?, operation: operation? })
    }
}
