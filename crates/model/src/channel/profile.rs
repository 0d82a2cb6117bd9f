//! The state of a channel apart from its tags: the source of lookups and of device properties.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize};

use super::{AndroidDetails, IosDetails, OpenDetails, UsageDetails, WebDetails};
use crate::device_type::DeviceType;
use crate::ids::{ChannelId, ContactId, NamedUserId};
use crate::json::At;
use crate::json::body::{Body, Words};
use crate::limits;
use crate::time::{UTC_OFFSETS, UtcMillis};

/// Written as JSON; unknown fields take no room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    #[serde(deserialize_with = "device_type")]
    pub device_type: DeviceType,
    pub opt_in: bool,
    /// Whether the channel, which cannot be shown notifications now, could be once. False for all other channels: those that can
    /// be shown them need no note, and those that never could are as they came.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub was_opted_in: bool,
    /// Whether the device can receive silent pushes; not every device reports it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub background: Option<bool>,
    /// Where the platform delivers to: a token, a registration id, a URL, an address of an open platform.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub address: Option<String>,
    /// Whether it takes messages over connections of its own: where it has no address, or its platform no credentials.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub live: bool,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub alias: Option<String>,

    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timezone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub locale_language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub locale_country: Option<String>,

    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub app_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sdk_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub device_model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub device_os: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub android_api_version: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub carrier: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub location_settings: Option<bool>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub permissions: BTreeMap<String, PermissionStatus>,

    /// The named user the device believes it belongs to. The association itself is stored elsewhere.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub named_user_hint: Option<NamedUserId>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub contact_id: Option<String>,
    /// The contact id of the unknown user of the channel, if that is not the first one, whose id is the channel's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unknown_contact: Option<ContactId>,
    /// The id under which the device knows its named user, once it has asked. It lets its holder speak for the user, and ends when
    /// the channel gets another user or none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub named_contact: Option<ContactId>,
    /// When the channel last got another user, known by name or not, if ever.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub associated: Option<UtcMillis>,
    #[serde(skip_serializing_if = "IdentityHints::is_empty", default)]
    pub identity_hints: IdentityHints,

    /// The data that the device sends only along with its events.
    #[serde(skip_serializing_if = "UsageDetails::is_empty", default)]
    pub usage: UsageDetails,
    /// Ids of the device in other systems, by names of the app's choice.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub identifiers: BTreeMap<String, String>,

    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ios: Option<IosDetails>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub android: Option<AndroidDetails>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub web: Option<WebDetails>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub open: Option<OpenDetails>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Words)]
#[serde(rename_all = "snake_case")]
pub enum PermissionStatus {
    Granted,
    Denied,
    NotDetermined,
}

/// Ids under which a device was known before it had a channel, or before it lost it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Body)]
#[serde(default)]
pub struct IdentityHints {
    /// The user of the device's message inbox.
    #[body(length = 1..=limits::DEVICE_HINT_CHARS, read = hint, nullable)]
    pub user_id: Option<String>,
    #[body(length = 1..=limits::DEVICE_HINT_CHARS, read = hint, nullable)]
    pub device_id: Option<String>,
    #[body(length = 1..=limits::DEVICE_HINT_CHARS, read = hint, nullable)]
    pub apid: Option<String>,
    #[body(length = 1..=limits::DEVICE_HINT_CHARS, read = hint, nullable)]
    pub accengage_device_id: Option<String>,
}

impl Profile {
    /// Whether the channel can be shown notifications.
    pub const fn is_opted_in(&self) -> bool {
        self.opt_in && (self.address.is_some() || self.live)
    }

    /// The contact id of the unknown user of a channel with this profile.
    pub fn unknown_contact_of(&self, channel: ChannelId) -> ContactId {
        self.unknown_contact.unwrap_or_else(|| ContactId::of_channel(channel))
    }

    /// A channel of which only the type is known: not opted in, not reachable.
    pub fn new(device_type: DeviceType) -> Self {
        Self {
            device_type,
            opt_in: false,
            was_opted_in: false,
            background: None,
            address: None,
            live: false,
            alias: None,
            timezone: None,
            locale_language: None,
            locale_country: None,
            app_version: None,
            sdk_version: None,
            device_model: None,
            device_os: None,
            android_api_version: None,
            carrier: None,
            location_settings: None,
            permissions: BTreeMap::new(),
            named_user_hint: None,
            contact_id: None,
            unknown_contact: None,
            named_contact: None,
            associated: None,
            identity_hints: IdentityHints::default(),
            usage: UsageDetails::default(),
            identifiers: BTreeMap::new(),
            ios: None,
            android: None,
            web: None,
            open: None,
        }
    }

    /// By how many seconds the device's clock is ahead of UTC at an instant: by its time zone, or as the device reported it.
    pub fn utc_offset_seconds(&self, instant: UtcMillis) -> Option<i32> {
        let zone = self.timezone.as_deref().and_then(|name| TimeZone::get(name).ok());
        let by_zone = zone.map(|zone| zone.to_offset(instant.timestamp()).seconds());
        by_zone.or(self.usage.utc_offset_seconds.filter(|offset| UTC_OFFSETS.contains(offset)))
    }

    /// The state that an update starts from. A channel that changes its type keeps nothing of its old state.
    pub(super) fn before_update(previous: Option<&Profile>, device_type: &DeviceType) -> Profile {
        match previous {
            Some(previous) if previous.device_type == *device_type => previous.clone(),
            Some(_) | None => Profile::new(device_type.clone()),
        }
    }
}

impl IdentityHints {
    /// A hint that is given replaces the one before it; devices leave hints out once they are known.
    pub(super) fn update(&self, known: &mut IdentityHints) {
        for (new, known) in [
            (&self.user_id, &mut known.user_id),
            (&self.device_id, &mut known.device_id),
            (&self.apid, &mut known.apid),
            (&self.accengage_device_id, &mut known.accengage_device_id),
        ] {
            if new.is_some() {
                known.clone_from(new);
            }
        }
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn hint(at: &At<'_>) -> Option<String> {
    super::name_text(at, limits::DEVICE_HINT_CHARS)
}

fn device_type<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DeviceType, D::Error> {
    let name = String::deserialize(deserializer)?;
    DeviceType::from_name(&name).ok_or_else(|| serde::de::Error::custom(format!("'{name}' is not a device type")))
}
