//! Which properties of a channel were only reported by uploads that did not prove to come from the device.

use serde::{Deserialize, Serialize};

use super::{Change, Profile};

/// A set of properties. One bit each, because most devices prove themselves, and there are very many devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Unproven(u16);

/// Whether an upload proves to come from the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Proof {
    Proven,
    /// Anybody who knows the key of the app could have sent the upload.
    #[default]
    Claimed,
}

/// The properties of a device that uploads report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Property {
    Text(Text),
    AndroidApiVersion,
    LocationSettings,
    UtcOffset,
    Identifiers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
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

impl Unproven {
    pub(super) fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// Whether a property takes the reported value; if so, how well the value is proven is noted.
    pub(super) fn takes(&mut self, property: Property, is_set: bool, proof: Proof) -> bool {
        match proof {
            Proof::Proven => {
                self.0 &= !property.bit();
                true
            }
            Proof::Claimed => {
                let takes = !is_set || self.0 & property.bit() != 0;
                if takes {
                    self.0 |= property.bit();
                }
                takes
            }
        }
    }

    /// Applies the part of a registration about a property.
    pub(super) fn register<T: Clone>(&mut self, property: Property, change: &Change<T>, slot: &mut Option<T>) {
        match change {
            Change::Keep => {}
            Change::Clear | Change::Set(_) => self.0 &= !property.bit(),
        }
        change.update(slot);
    }
}

impl Property {
    /// Stored: never change one.
    const fn bit(self) -> u16 {
        let place = match self {
            Property::Text(Text::PackageName) => 0,
            Property::Text(Text::AppVersion) => 1,
            Property::Text(Text::DeviceModel) => 2,
            Property::Text(Text::DeviceOs) => 3,
            Property::Text(Text::SdkVersion) => 4,
            Property::Text(Text::Timezone) => 5,
            Property::Text(Text::Language) => 6,
            Property::Text(Text::Country) => 7,
            Property::Text(Text::Variant) => 8,
            Property::Text(Text::LocationPermission) => 9,
            Property::Text(Text::ConnectionType) => 10,
            Property::Text(Text::Carrier) => 11,
            Property::AndroidApiVersion => 12,
            Property::LocationSettings => 13,
            Property::UtcOffset => 14,
            Property::Identifiers => 15,
        };
        1 << place
    }
}

impl Text {
    pub(super) fn slot(self, profile: &mut Profile) -> &mut Option<String> {
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
