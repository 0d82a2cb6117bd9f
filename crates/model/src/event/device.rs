//! The part of an event about its channel: its id, the data that the device reported, all of it as text, and its user.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::channel::{Profile, WebDetails};
use crate::device_type::DeviceType;
use crate::ids::{ChannelId, ContactId, NamedUserId};
use crate::time::UtcMillis;

/// The `device` of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EventDevice<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    ios_channel: Option<ChannelId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    android_channel: Option<ChannelId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    amazon_channel: Option<ChannelId>,
    channel: ChannelId,
    device_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    open_platform_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    named_user_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identifiers: Option<&'a BTreeMap<String, String>>,
    attributes: Attributes<'a>,
}

/// The `user` of an event: the user of the device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EventUser<'a> {
    contact_id: ContactId,
    #[serde(skip_serializing_if = "Option::is_none")]
    named_user_id: Option<&'a NamedUserId>,
}

impl<'a> EventUser<'a> {
    pub const fn named(contact_id: ContactId, user: &'a NamedUserId) -> Self {
        Self { contact_id, named_user_id: Some(user) }
    }

    /// The unknown user of a channel without a named user; `None` if its id could be a named user's.
    pub fn unknown(contact_id: ContactId) -> Option<Self> {
        (!contact_id.is_of_named_user()).then_some(Self { contact_id, named_user_id: None })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Attributes<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    app_package_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device_model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device_os: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ua_sdk_version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iana_timezone: Option<&'a str>,
    /// Seconds east of Greenwich, with the daylight saving time of the moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    locale_timezone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    locale_language_code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    locale_country_code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    locale_variant: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connection_type: Option<&'a str>,
    push_opt_in: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    background_push_enabled: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location_enabled: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location_permission: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    web_browser_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    web_browser_type: Option<String>,
    /// With the name, such as `chrome-73`.
    #[serde(skip_serializing_if = "Option::is_none")]
    web_browser_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    web_user_agent_string: Option<&'a str>,
}

impl<'a> EventDevice<'a> {
    pub fn new(id: ChannelId, profile: &'a Profile, named_user: Option<&'a str>, now: UtcMillis) -> Self {
        let is_of = |device_type: DeviceType| (profile.device_type == device_type).then_some(id);
        let of_open = profile.open.as_ref().map(|open| &open.identifiers);
        let mut identifiers = of_open.into_iter().chain([&profile.identifiers]);
        Self {
            ios_channel: is_of(DeviceType::Ios),
            android_channel: is_of(DeviceType::Android),
            amazon_channel: is_of(DeviceType::Amazon),
            channel: id,
            device_type: device_type_name(&profile.device_type),
            open_platform_name: match &profile.device_type {
                DeviceType::Open(platform) => Some(platform.as_str()),
                DeviceType::Ios
                | DeviceType::Android
                | DeviceType::Amazon
                | DeviceType::Web
                | DeviceType::Wns
                | DeviceType::Sms
                | DeviceType::Mms
                | DeviceType::Email => None,
            },
            named_user_id: named_user,
            identifiers: identifiers.find(|identifiers| !identifiers.is_empty()),
            attributes: Attributes::new(profile, now),
        }
    }
}

impl<'a> Attributes<'a> {
    fn new(profile: &'a Profile, now: UtcMillis) -> Self {
        let usage = &profile.usage;
        let sdk_of_page = profile.web.as_ref().and_then(|web| web.web_sdk_version.as_deref());
        let user_agent = profile.web.as_ref().and_then(|web| web.user_agent_string.as_deref());
        let [name, kind, version] = profile.web.as_ref().map(WebDetails::browser).unwrap_or_default();
        Self {
            app_package_name: usage.package_name.as_deref(),
            app_version: profile.app_version.as_deref(),
            device_model: profile.device_model.as_deref(),
            device_os: profile.device_os.as_deref(),
            ua_sdk_version: sdk_of_page.or(profile.sdk_version.as_deref()),
            iana_timezone: profile.timezone.as_deref(),
            locale_timezone: profile.utc_offset_seconds(now).map(|seconds| seconds.to_string()),
            locale_language_code: profile.locale_language.as_deref(),
            locale_country_code: profile.locale_country.as_deref(),
            locale_variant: usage.locale_variant.as_deref(),
            connection_type: usage.connection_type.as_deref(),
            push_opt_in: flag(profile.opt_in),
            background_push_enabled: profile.background.map(flag),
            location_enabled: profile.location_settings.map(flag),
            location_permission: usage.location_permission.as_deref(),
            web_browser_name: name,
            web_browser_type: kind,
            web_browser_version: version,
            web_user_agent_string: user_agent,
        }
    }
}

/// The type of a device as events write it.
pub const fn device_type_name(device_type: &DeviceType) -> &'static str {
    match device_type {
        DeviceType::Ios => "IOS",
        DeviceType::Android => "ANDROID",
        DeviceType::Amazon => "AMAZON",
        DeviceType::Web => "WEB",
        DeviceType::Wns => "WNS",
        DeviceType::Sms => "SMS",
        DeviceType::Mms => "MMS",
        DeviceType::Email => "EMAIL",
        DeviceType::Open(_) => "OPEN",
    }
}

const fn flag(is_set: bool) -> &'static str {
    if is_set { "true" } else { "false" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SUMMER: UtcMillis = UtcMillis(1_782_864_000_000);

    #[test]
    fn attributes_are_text_and_what_is_not_known_is_left_out() {
        let id: ChannelId = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5".parse().unwrap();
        let mut profile = Profile::new(DeviceType::Ios);
        let bare = serde_json::to_value(EventDevice::new(id, &profile, None, SUMMER)).unwrap();
        assert_eq!(
            bare,
            json!({ "ios_channel": id, "channel": id, "device_type": "IOS", "attributes": { "push_opt_in": "false" } })
        );
        profile.opt_in = true;
        profile.timezone = Some("America/Los_Angeles".to_owned());
        profile.location_settings = Some(false);
        let known = serde_json::to_value(EventDevice::new(id, &profile, Some("ann"), SUMMER)).unwrap();
        assert_eq!(known["named_user_id"], "ann");
        assert_eq!(
            known["attributes"],
            json!({
                "push_opt_in": "true", "location_enabled": "false",
                "iana_timezone": "America/Los_Angeles", "locale_timezone": "-25200",
            })
        );
    }

    #[test]
    fn browsers_are_told_by_what_they_say_of_themselves() {
        let mut profile = Profile::new(DeviceType::Web);
        let attributes = |profile: &Profile| serde_json::to_value(Attributes::new(profile, SUMMER)).unwrap();
        let text = "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0";
        profile.web = Some(WebDetails { user_agent_string: Some(text.to_owned()), ..WebDetails::default() });
        assert_eq!(
            attributes(&profile),
            json!({
                "push_opt_in": "false", "web_user_agent_string": text, "web_browser_name": "firefox",
                "web_browser_type": "desktop", "web_browser_version": "firefox-127",
            })
        );
        profile.web = Some(WebDetails { user_agent_string: Some("x".to_owned()), ..WebDetails::default() });
        assert_eq!(attributes(&profile), json!({"push_opt_in": "false", "web_user_agent_string": "x"}));
    }

    #[test]
    fn a_time_zone_that_nobody_knows_has_no_offset() {
        let mut profile = Profile::new(DeviceType::Android);
        profile.timezone = Some("Asia/Kolkata".to_owned());
        assert_eq!(profile.utc_offset_seconds(SUMMER), Some(19_800));
        profile.timezone = Some("Middle/Earth".to_owned());
        assert_eq!(profile.utc_offset_seconds(SUMMER), None);
        profile.usage.utc_offset_seconds = Some(-3600);
        assert_eq!(Attributes::new(&profile, SUMMER).locale_timezone.as_deref(), Some("-3600"), "what the device said");
        profile.usage.utc_offset_seconds = Some(86_400);
        assert_eq!(profile.utc_offset_seconds(SUMMER), None, "no clock on earth shows that");
    }
}
