//! The part of an update about the locale of a device, the device itself and the software on it.

use std::collections::BTreeMap;

use super::unproven::{Property, Text};
use super::{Change, PermissionStatus, Profile, name_text, string_map};
use crate::json::At;
use crate::json::body::Body;
use crate::limits;

/// Where and in which language a channel lives.
// Names are kept as given: their meaning is decided when device properties are derived, so that a device with
// an odd setting can still register.
#[derive(Clone, Debug, Default, PartialEq, Eq, Body)]
#[body(not_printed)]
pub(super) struct LocaleUpdate {
    /// The time zone of the device, such as Europe/Berlin.
    #[body(read = device_text)]
    timezone: Change<String>,
    /// The language of the device, as a code of ISO 639.
    #[body(rename = "locale_language", read = device_text)]
    language: Change<String>,
    /// The country of the device, as a code of ISO 3166.
    #[body(rename = "locale_country", read = device_text)]
    country: Change<String>,
}

impl LocaleUpdate {
    pub(super) fn update(&self, profile: &mut Profile) {
        let unproven = &mut profile.usage.unproven;
        unproven.register(Property::Text(Text::Timezone), &self.timezone, &mut profile.timezone);
        unproven.register(Property::Text(Text::Language), &self.language, &mut profile.locale_language);
        unproven.register(Property::Text(Text::Country), &self.country, &mut profile.locale_country);
    }
}

/// The data of a device about itself and the app on it.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub(super) struct DeviceUpdate {
    /// The version of the app.
    #[body(read = device_text)]
    app_version: Change<String>,
    /// The version of the client library.
    #[body(read = device_text)]
    sdk_version: Change<String>,
    /// The model of the device.
    #[body(read = device_text)]
    device_model: Change<String>,
    /// The version of its operating system.
    #[body(read = device_text)]
    device_os: Change<String>,
    /// The API level of Android.
    #[body(range = 1..=10_000)]
    android_api_version: Change<u32>,
    /// The mobile network.
    #[body(read = device_text)]
    carrier: Change<String>,
    /// Whether the device may report where it is.
    location_settings: Change<bool>,
    /// The contact that the device takes for its own.
    #[body(length = 1..=limits::DEVICE_HINT_CHARS, read = |at| name_text(at, limits::DEVICE_HINT_CHARS))]
    contact_id: Change<String>,
    /// What the user allows, by the name of the permission.
    #[body(
        length = 0..=limits::PERMISSIONS,
        read = |at| string_map(at, limits::PERMISSIONS, PermissionStatus::parse)
    )]
    permissions: Change<BTreeMap<String, PermissionStatus>>,
}

impl DeviceUpdate {
    pub(super) fn update(&self, profile: &mut Profile) {
        let unproven = &mut profile.usage.unproven;
        unproven.register(Property::Text(Text::AppVersion), &self.app_version, &mut profile.app_version);
        unproven.register(Property::Text(Text::SdkVersion), &self.sdk_version, &mut profile.sdk_version);
        unproven.register(Property::Text(Text::DeviceModel), &self.device_model, &mut profile.device_model);
        unproven.register(Property::Text(Text::DeviceOs), &self.device_os, &mut profile.device_os);
        let level = &mut profile.android_api_version;
        unproven.register(Property::AndroidApiVersion, &self.android_api_version, level);
        unproven.register(Property::Text(Text::Carrier), &self.carrier, &mut profile.carrier);
        unproven.register(Property::LocationSettings, &self.location_settings, &mut profile.location_settings);
        self.contact_id.update(&mut profile.contact_id);
        match &self.permissions {
            Change::Keep => {}
            Change::Clear => profile.permissions.clear(),
            Change::Set(permissions) => profile.permissions.clone_from(permissions),
        }
    }
}

/// A name from a device. Names come from app stores, carriers and manufacturers, who never see a refusal, so an odd one is
/// cleaned up: databases choke on NUL, and a long one is cut.
pub(super) fn device_text(at: &At<'_>) -> Option<String> {
    let text: String = at.string()?.chars().filter(|c| !c.is_control()).collect();
    Some(text.trim().chars().take(limits::DEVICE_TEXT_CHARS).collect())
}
