//! What a device has reported about itself, under the names that lookups of channels show it by. All values are texts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Profile, WebDetails};
use crate::device_type::DeviceType;

/// Some are of apps only. Those of browsers are apart.
const NAMES: [&str; 9] = [
    "ua_app_version",
    "ua_carrier",
    "ua_country",
    "ua_device_model",
    "ua_device_os",
    "ua_language",
    "ua_local_tz",
    "ua_location_settings",
    "ua_sdk_version",
];
/// In the order in which [`WebDetails::browser`] has them.
const OF_BROWSERS: [&str; 3] = ["ua_browser_name", "ua_browser_type", "ua_browser_version"];

impl Profile {
    /// Only what is known.
    pub fn device_attributes(&self) -> BTreeMap<&'static str, String> {
        self.all_with(WebDetails::browser)
    }

    /// `browser` parses what a browser says of itself, which takes longer than everything else; it is called once.
    fn all_with(&self, browser: impl Fn(&WebDetails) -> [Option<String>; 3]) -> BTreeMap<&'static str, String> {
        let known = |name| self.one_with(name, &browser).map(|value| (name, value.into_owned()));
        let of_browser = self.page().map(&browser).unwrap_or_default();
        let of_browser = OF_BROWSERS.into_iter().zip(of_browser).filter_map(|(name, value)| Some((name, value?)));
        NAMES.into_iter().filter_map(known).chain(of_browser).collect()
    }

    pub fn device_attribute(&self, name: &str) -> Option<Cow<'_, str>> {
        self.one_with(name, WebDetails::browser)
    }

    fn one_with(&self, name: &str, browser: impl FnOnce(&WebDetails) -> [Option<String>; 3]) -> Option<Cow<'_, str>> {
        let everywhere = match name {
            "ua_sdk_version" => self.of_page().or(self.sdk_version.as_deref()),
            "ua_country" => self.locale_country.as_deref(),
            "ua_language" => self.locale_language.as_deref(),
            "ua_local_tz" => self.timezone.as_deref(),
            _ => None,
        };
        everywhere.map(Cow::from).or_else(|| match self.device_type {
            DeviceType::Ios | DeviceType::Android | DeviceType::Amazon | DeviceType::Wns => self.of_app(name),
            DeviceType::Web => {
                let number = OF_BROWSERS.iter().position(|own| *own == name)?;
                browser(self.page()?)[number].take().map(Cow::from)
            }
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

    /// The version of the library of a web page.
    fn of_page(&self) -> Option<&str> {
        self.page()?.web_sdk_version.as_deref()
    }

    fn page(&self) -> Option<&WebDetails> {
        self.web.as_ref().filter(|_| self.device_type == DeviceType::Web)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn what_a_browser_says_of_itself_is_parsed_once_if_it_is_asked_for() {
        let agent = "Mozilla/5.0 (X11; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0".to_owned();
        let mut profile = Profile::new(DeviceType::Web);
        profile.timezone = Some("Europe/Oslo".to_owned());
        profile.web = Some(WebDetails { user_agent_string: Some(agent), ..WebDetails::default() });
        let n_parsed = Cell::new(0);
        let parse = |web: &WebDetails| {
            n_parsed.set(n_parsed.get() + 1);
            web.browser()
        };
        let all = profile.all_with(parse);
        assert_eq!(n_parsed.take(), 1);
        let told =
            [("ua_browser_name", "firefox"), ("ua_browser_type", "desktop"), ("ua_browser_version", "firefox-126")];
        let expected: BTreeMap<&str, String> = told
            .into_iter()
            .chain([("ua_local_tz", "Europe/Oslo")])
            .map(|(name, value)| (name, value.to_owned()))
            .collect();
        assert_eq!(all, expected);
        for (name, expected) in NAMES.map(|name| (name, 0)).into_iter().chain(OF_BROWSERS.map(|name| (name, 1))) {
            assert_eq!(profile.one_with(name, parse).as_deref(), all.get(name).map(String::as_str), "{name}");
            assert_eq!(n_parsed.take(), expected, "{name}");
        }
        profile.device_type = DeviceType::Ios;
        assert_eq!(profile.all_with(parse).len(), 1);
        assert_eq!(n_parsed.get(), 0, "an app is no browser");
    }
}
