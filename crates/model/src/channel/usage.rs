//! What devices tell about themselves in the headers of every upload of events. Old devices tell it nowhere else.

use serde::{Deserialize, Serialize};

use super::Profile;
use crate::limits;

/// What no registration tells. Shown with events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageDetails {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub package_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub locale_variant: Option<String>,
    /// Such as `ALWAYS_ALLOWED`; kept as the device says it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub location_permission: Option<String>,
    /// Such as `wifi`; kept as the device says it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub connection_type: Option<String>,
    /// By how many seconds the device's clock is ahead of UTC.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub utc_offset_seconds: Option<i32>,
}

impl UsageDetails {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What one upload tells. What it does not tell stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageUpdate {
    texts: Vec<(Text, String)>,
    android_api_version: Option<u32>,
    location_enabled: Option<bool>,
    pub utc_offset_seconds: Option<i32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    PackageName,
    AppVersion,
    DeviceModel,
    DeviceOs,
    SdkVersion,
    Timezone,
    Language,
    Country,
    Variant,
    LocationPermission,
    ConnectionType,
    Carrier,
}

const TEXT_HEADERS: [(&str, Text); 10] = [
    ("x-ua-package-name", Text::PackageName),
    ("x-ua-package-version", Text::AppVersion),
    ("x-ua-device-model", Text::DeviceModel),
    ("x-ua-os-version", Text::DeviceOs),
    ("x-ua-lib-version", Text::SdkVersion),
    ("x-ua-timezone", Text::Timezone),
    ("x-ua-locale-language", Text::Language),
    ("x-ua-locale-country", Text::Country),
    ("x-ua-locale-variant", Text::Variant),
    ("x-ua-location-permission", Text::LocationPermission),
];

impl UsageUpdate {
    /// Reads the headers of an upload. One that makes no sense is passed over: no event is lost for it.
    pub fn from_headers<'h>(header: impl Fn(&'static str) -> Option<&'h str>) -> Self {
        let mut update = Self::default();
        for (name, text) in TEXT_HEADERS {
            update.note(text, header(name));
        }
        let level = header("x-ua-android-version-code").and_then(|level| level.trim().parse().ok());
        update.android_api_version = level.filter(|level| (1..=10_000).contains(level));
        update.location_enabled = header("x-ua-location-service-enabled").and_then(|flag| flag.trim().parse().ok());
        update
    }

    pub fn connection_type(&mut self, text: Option<&str>) {
        self.note(Text::ConnectionType, text);
    }

    pub fn carrier(&mut self, text: Option<&str>) {
        self.note(Text::Carrier, text);
    }

    fn note(&mut self, text: Text, value: Option<&str>) {
        let Some(value) = value.map(str::trim) else { return };
        let fits = (1..=limits::DEVICE_TEXT_CHARS).contains(&value.chars().count());
        if fits && !value.contains(char::is_control) {
            self.texts.retain(|(known, _)| *known != text);
            self.texts.push((text, value.to_owned()));
        }
    }

    /// Whether the profile says all of it already, which is almost always so.
    pub fn is_known(&self, profile: &Profile) -> bool {
        self.texts.iter().all(|(text, value)| text.of(profile) == Some(value))
            && self.android_api_version.is_none_or(|level| profile.android_api_version == Some(level))
            && self.location_enabled.is_none_or(|enabled| profile.location_settings == Some(enabled))
            && self.utc_offset_seconds.is_none_or(|offset| profile.usage.utc_offset_seconds == Some(offset))
    }

    pub fn update(&self, profile: &mut Profile) {
        for (text, value) in &self.texts {
            *text.slot(profile) = Some(value.clone());
        }
        profile.android_api_version = self.android_api_version.or(profile.android_api_version);
        profile.location_settings = self.location_enabled.or(profile.location_settings);
        profile.usage.utc_offset_seconds = self.utc_offset_seconds.or(profile.usage.utc_offset_seconds);
    }
}

impl Text {
    fn of(self, profile: &Profile) -> Option<&String> {
        match self {
            Text::PackageName => profile.usage.package_name.as_ref(),
            Text::AppVersion => profile.app_version.as_ref(),
            Text::DeviceModel => profile.device_model.as_ref(),
            Text::DeviceOs => profile.device_os.as_ref(),
            Text::SdkVersion => profile.sdk_version.as_ref(),
            Text::Timezone => profile.timezone.as_ref(),
            Text::Language => profile.locale_language.as_ref(),
            Text::Country => profile.locale_country.as_ref(),
            Text::Variant => profile.usage.locale_variant.as_ref(),
            Text::LocationPermission => profile.usage.location_permission.as_ref(),
            Text::ConnectionType => profile.usage.connection_type.as_ref(),
            Text::Carrier => profile.carrier.as_ref(),
        }
    }

    fn slot(self, profile: &mut Profile) -> &mut Option<String> {
        match self {
            Text::PackageName => &mut profile.usage.package_name,
            Text::AppVersion => &mut profile.app_version,
            Text::DeviceModel => &mut profile.device_model,
            Text::DeviceOs => &mut profile.device_os,
            Text::SdkVersion => &mut profile.sdk_version,
            Text::Timezone => &mut profile.timezone,
            Text::Language => &mut profile.locale_language,
            Text::Country => &mut profile.locale_country,
            Text::Variant => &mut profile.usage.locale_variant,
            Text::LocationPermission => &mut profile.usage.location_permission,
            Text::ConnectionType => &mut profile.usage.connection_type,
            Text::Carrier => &mut profile.carrier,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::DeviceType;

    #[test]
    fn headers_become_a_profile_and_are_then_known() {
        let headers = [
            ("x-ua-package-name", "com.example.app"),
            ("x-ua-lib-version", "9.7.3"),
            ("x-ua-timezone", "America/Los_Angeles"),
            ("x-ua-locale-language", " en "),
            ("x-ua-locale-variant", ""),
            ("x-ua-android-version-code", "28"),
            ("x-ua-location-service-enabled", "maybe"),
        ];
        let header = |wanted: &str| headers.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
        let mut update = UsageUpdate::from_headers(header);
        update.connection_type(Some("cell"));
        update.connection_type(Some("wifi"));
        let mut profile = Profile::new(DeviceType::Android);
        profile.device_model = Some("Pixel".to_owned());
        assert!(!update.is_known(&profile));
        update.update(&mut profile);
        assert!(update.is_known(&profile));
        assert_eq!(profile.usage.package_name.as_deref(), Some("com.example.app"));
        assert_eq!(profile.usage.connection_type.as_deref(), Some("wifi"));
        assert_eq!(profile.usage.locale_variant, None);
        assert_eq!((profile.android_api_version, profile.location_settings), (Some(28), None));
        assert_eq!(profile.locale_language.as_deref(), Some("en"));
        assert_eq!(profile.device_model.as_deref(), Some("Pixel"), "nothing was said about it");
        assert!(UsageUpdate::default().is_known(&profile));
    }
}
