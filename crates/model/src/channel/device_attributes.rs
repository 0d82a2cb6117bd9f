//! What a device has reported about itself, under the names that lookups of channels show it by. All values are texts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Profile;
use crate::device_type::DeviceType;

/// Some are of apps and some of browsers only.
const NAMES: [&str; 12] = [
    "ua_app_version",
    "ua_browser_name",
    "ua_browser_type",
    "ua_browser_version",
    "ua_carrier",
    "ua_country",
    "ua_device_model",
    "ua_device_os",
    "ua_language",
    "ua_local_tz",
    "ua_location_settings",
    "ua_sdk_version",
];

impl Profile {
    /// Only what is known.
    pub fn device_attributes(&self) -> BTreeMap<&'static str, String> {
        let known = |name| self.device_attribute(name).map(|value| (name, value.into_owned()));
        NAMES.into_iter().filter_map(known).collect()
    }

    pub fn device_attribute(&self, name: &str) -> Option<Cow<'_, str>> {
        let everywhere = match name {
            "ua_sdk_version" => self.of_page().or(self.sdk_version.as_deref()),
            "ua_country" => self.locale_country.as_deref(),
            "ua_language" => self.locale_language.as_deref(),
            "ua_local_tz" => self.timezone.as_deref(),
            _ => None,
        };
        everywhere.map(Cow::from).or_else(|| match self.device_type {
            DeviceType::Ios | DeviceType::Android | DeviceType::Amazon | DeviceType::Wns => self.of_app(name),
            DeviceType::Web => self.of_browser(name),
            DeviceType::Sms | DeviceType::Mms | DeviceType::Email | DeviceType::Open(_) => None,
        })
    }

    fn of_app(&self, name: &str) -> Option<Cow<'_, str>> {
        let text = match name {
            "ua_app_version" => &self.app_version,
            "ua_device_model" => &self.device_model,
            "ua_device_os" => &self.device_os,
            "ua_carrier" => &self.carrier,
            "ua_location_settings" => return Some(if self.location_settings? { "true" } else { "false" }.into()),
            _ => return None,
        };
        text.as_deref().map(Cow::from)
    }

    fn of_browser(&self, name: &str) -> Option<Cow<'_, str>> {
        let [browser, kind, version] = self.web.as_ref()?.browser();
        let text = match name {
            "ua_browser_name" => browser,
            "ua_browser_type" => kind,
            "ua_browser_version" => version,
            _ => None,
        };
        text.map(Cow::from)
    }

    /// The version of the library of a web page.
    fn of_page(&self) -> Option<&str> {
        self.web.as_ref().filter(|_| self.device_type == DeviceType::Web)?.web_sdk_version.as_deref()
    }
}
