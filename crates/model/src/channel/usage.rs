//! The data about themselves that devices send in the headers of every upload of events. Old devices send it nowhere else, and
//! with no more proof of their identity than the ids of the app and the channel: so such data gives way to everything that is
//! better proven, and never replaces it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Profile;
use super::unproven::{Proof, Property, Text, Unproven};
use crate::limits;

/// The data that no registration contains. Shown with events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageDetails {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub package_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub locale_variant: Option<String>,
    /// Such as `ALWAYS_ALLOWED`; kept as the device sends it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub location_permission: Option<String>,
    /// Such as `wifi`; kept as the device sends it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub connection_type: Option<String>,
    /// By how many seconds the device's clock is ahead of UTC.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub utc_offset_seconds: Option<i32>,
    /// Which fields, of these and of those that registrations fill as well, were set only by uploads without credentials.
    #[serde(skip_serializing_if = "Unproven::is_empty", default)]
    pub(super) unproven: Unproven,
}

impl UsageDetails {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The data of one upload. Fields that it leaves out stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageUpdate {
    proof: Proof,
    texts: Vec<(Text, String)>,
    android_api_version: Option<u32>,
    location_enabled: Option<bool>,
    pub utc_offset_seconds: Option<i32>,
    identifiers: Option<BTreeMap<String, String>>,
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
    /// Reads the headers of an upload, with how well its sender has proven to be the device. A header that makes no sense is
    /// skipped: no event is lost for it.
    pub fn from_headers<'h>(proof: Proof, header: impl Fn(&'static str) -> Option<&'h str>) -> Self {
        let mut update = Self { proof, ..Self::default() };
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

    pub fn identifiers(&mut self, identifiers: BTreeMap<String, String>) {
        self.identifiers = Some(identifiers);
    }

    /// The profile with this update; `None` if nothing changes, which is almost always so.
    pub fn apply(&self, profile: &Profile) -> Option<Profile> {
        let mut after = profile.clone();
        for (text, value) in &self.texts {
            self.tell(&mut after, Property::Text(*text), |profile| text.slot(profile), Some(value));
        }
        let level = self.android_api_version.as_ref();
        self.tell(&mut after, Property::AndroidApiVersion, |profile| &mut profile.android_api_version, level);
        let location = self.location_enabled.as_ref();
        self.tell(&mut after, Property::LocationSettings, |profile| &mut profile.location_settings, location);
        let offset = self.utc_offset_seconds.as_ref();
        self.tell(&mut after, Property::UtcOffset, |profile| &mut profile.usage.utc_offset_seconds, offset);
        if let Some(identifiers) = &self.identifiers {
            let is_set = !after.identifiers.is_empty();
            if after.usage.unproven.takes(Property::Identifiers, is_set, self.proof) {
                after.identifiers.clone_from(identifiers);
            }
        }
        (after != *profile).then_some(after)
    }

    fn tell<T: Clone>(
        &self,
        profile: &mut Profile,
        property: Property,
        slot: impl for<'p> Fn(&'p mut Profile) -> &'p mut Option<T>,
        value: Option<&T>,
    ) {
        let Some(value) = value else { return };
        let is_set = slot(profile).is_some();
        if profile.usage.unproven.takes(property, is_set, self.proof) {
            *slot(profile) = Some(value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device_type::DeviceType;

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
        let mut update = UsageUpdate::from_headers(Proof::Proven, header);
        update.connection_type(Some("cell"));
        update.connection_type(Some("wifi"));
        let mut profile = Profile::new(DeviceType::Android);
        profile.device_model = Some("Pixel".to_owned());
        profile = update.apply(&profile).expect("there is something new");
        assert_eq!(update.apply(&profile), None);
        assert_eq!(profile.usage.package_name.as_deref(), Some("com.example.app"));
        assert_eq!(profile.usage.connection_type.as_deref(), Some("wifi"));
        assert_eq!(profile.usage.locale_variant, None);
        assert_eq!((profile.android_api_version, profile.location_settings), (Some(28), None));
        assert_eq!(profile.locale_language.as_deref(), Some("en"));
        assert_eq!(profile.device_model.as_deref(), Some("Pixel"), "nothing was said about it");
        assert_eq!(UsageUpdate::default().apply(&profile), None);
    }

    fn told(proof: Proof, version: &str) -> UsageUpdate {
        let mut update = UsageUpdate { proof, ..UsageUpdate::default() };
        update.note(Text::AppVersion, Some(version));
        update.identifiers(BTreeMap::from([("crm".to_owned(), version.to_owned())]));
        update
    }

    #[test]
    fn what_nobody_proved_gives_way_and_replaces_nothing_better() {
        let mut profile = Profile::new(DeviceType::Android);
        let mut tell = |proof, version: &str| {
            profile = told(proof, version).apply(&profile).unwrap_or_else(|| profile.clone());
            // It is stored as JSON.
            profile = serde_json::from_str(&serde_json::to_string(&profile).unwrap()).unwrap();
            let crm = profile.identifiers["crm"].clone();
            assert_eq!(profile.app_version.as_ref(), Some(&crm));
            crm
        };
        assert_eq!(tell(Proof::Claimed, "1"), "1", "nothing was known");
        assert_eq!(tell(Proof::Claimed, "2"), "2", "nobody else tells");
        assert_eq!(tell(Proof::Proven, "3"), "3");
        assert_eq!(tell(Proof::Claimed, "4"), "3");
        assert_eq!(tell(Proof::Proven, "5"), "5");
    }
}
