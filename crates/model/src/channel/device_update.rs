//! The part of an update about the locale of a device, the device itself and the software on it.

use std::collections::BTreeMap;

use super::unproven::{Property, Text};
use super::{Change, PermissionStatus, Profile, name_text, string_map};
use crate::json::{At, Fields};
use crate::limits;

/// Where and in which language a channel lives. Names are kept as given: their meaning is decided when device
/// properties are derived, so that a device with an odd setting can still register.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LocaleUpdate {
    timezone: Change<String>,
    language: Change<String>,
    country: Change<String>,
}

impl LocaleUpdate {
    pub(super) fn read(fields: &mut Fields<'_>) -> Self {
        Self {
            timezone: Change::read(fields, "timezone", device_text),
            language: Change::read(fields, "locale_language", device_text),
            country: Change::read(fields, "locale_country", device_text),
        }
    }

    pub(super) fn update(&self, profile: &mut Profile) {
        let unproven = &mut profile.usage.unproven;
        unproven.register(Property::Text(Text::Timezone), &self.timezone, &mut profile.timezone);
        unproven.register(Property::Text(Text::Language), &self.language, &mut profile.locale_language);
        unproven.register(Property::Text(Text::Country), &self.country, &mut profile.locale_country);
    }
}

/// The data of a device about itself and the app on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeviceUpdate {
    app_version: Change<String>,
    sdk_version: Change<String>,
    device_model: Change<String>,
    device_os: Change<String>,
    android_api_version: Change<u32>,
    carrier: Change<String>,
    location_settings: Change<bool>,
    contact_id: Change<String>,
    permissions: Change<BTreeMap<String, PermissionStatus>>,
}

impl DeviceUpdate {
    pub(super) fn read(fields: &mut Fields<'_>) -> Self {
        Self {
            app_version: Change::read(fields, "app_version", device_text),
            sdk_version: Change::read(fields, "sdk_version", device_text),
            device_model: Change::read(fields, "device_model", device_text),
            device_os: Change::read(fields, "device_os", device_text),
            android_api_version: Change::read(fields, "android_api_version", |at| {
                at.integer(1..=10_000).and_then(|level| u32::try_from(level).ok())
            }),
            carrier: Change::read(fields, "carrier", device_text),
            location_settings: Change::read(fields, "location_settings", At::boolean),
            contact_id: Change::read(fields, "contact_id", |at| name_text(at, limits::DEVICE_HINT_CHARS)),
            permissions: Change::read(fields, "permissions", |at| {
                string_map(at, limits::PERMISSIONS, PermissionStatus::parse)
            }),
        }
    }

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
