//! What a device has reported about itself, under the names that lookups of channels show it by. All values are texts.

use std::collections::BTreeMap;

use super::Profile;
use crate::device_type::DeviceType;

impl Profile {
    /// Only what is known.
    pub fn device_attributes(&self) -> BTreeMap<&'static str, String> {
        let everywhere = [
            ("ua_sdk_version", self.sdk_version.clone()),
            ("ua_country", self.locale_country.clone()),
            ("ua_language", self.locale_language.clone()),
            ("ua_local_tz", self.timezone.clone()),
        ];
        let of_kind = match self.device_type {
            DeviceType::Ios | DeviceType::Android | DeviceType::Amazon | DeviceType::Wns => self.of_app(),
            DeviceType::Web => self.of_browser(),
            DeviceType::Sms | DeviceType::Mms | DeviceType::Email | DeviceType::Open(_) => Vec::new(),
        };
        let known = |(name, value): (&'static str, Option<String>)| value.map(|value| (name, value));
        everywhere.into_iter().chain(of_kind).filter_map(known).collect()
    }

    fn of_app(&self) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("ua_app_version", self.app_version.clone()),
            ("ua_device_model", self.device_model.clone()),
            ("ua_device_os", self.device_os.clone()),
            ("ua_carrier", self.carrier.clone()),
            ("ua_location_settings", self.location_settings.map(|are_on| are_on.to_string())),
        ]
    }

    fn of_browser(&self) -> Vec<(&'static str, Option<String>)> {
        let Some(web) = &self.web else { return Vec::new() };
        let [name, kind, version] = web.browser();
        vec![
            ("ua_browser_name", name),
            ("ua_browser_type", kind),
            ("ua_browser_version", version),
            ("ua_sdk_version", web.web_sdk_version.clone().or_else(|| self.sdk_version.clone())),
        ]
    }
}
