//! The fields that only web channels have.

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use schemars::json_schema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Browser, Change};
use crate::json::body::{Body, Read};
use crate::json::{At, Fields};
use crate::limits;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebDetails {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subscription: Option<WebSubscription>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user_agent_string: Option<String>,
    /// What the library of the page says about its browser; others leave it to the user agent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub browser_name: Option<String>,
    /// `desktop` or `mobile`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub browser_type: Option<String>,
    /// With the name, such as `chrome-141`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub browser_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub web_sdk_version: Option<String>,
}

/// The keys a browser made for its subscription, in base64url without padding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Read)]
#[body(schema = {
    let keys = json!({"p256dh": {"type": "string"}, "auth": {"type": "string"}});
    let below = json!({"type": "object", "properties": keys, "required": ["p256dh", "auth"]});
    let kind = json!({"type": "string", "enum": ["vapid"]});
    let beside = json!({"keys": below, "subscription_type": kind});
    json_schema!({"anyOf": [below, {"type": "object", "properties": beside, "required": ["keys"]}]})
})]
pub struct WebSubscription {
    pub p256dh: String,
    pub auth: String,
}

/// The part of a registration about a browser.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub(super) struct WebUpdate {
    subscription: Change<WebSubscription>,
    #[body(length = 0..=limits::USER_AGENT_CHARS)]
    user_agent_string: Change<String>,
    #[body(length = 0..=limits::DEVICE_TEXT_CHARS)]
    browser_name: Change<String>,
    #[body(length = 0..=limits::DEVICE_TEXT_CHARS)]
    browser_type: Change<String>,
    #[body(length = 0..=limits::DEVICE_TEXT_CHARS)]
    browser_version: Change<String>,
    #[body(length = 0..=limits::DEVICE_TEXT_CHARS)]
    web_sdk_version: Change<String>,
}

impl WebUpdate {
    pub(super) fn subscription(&self) -> Option<&WebSubscription> {
        match &self.subscription {
            Change::Set(subscription) => Some(subscription),
            Change::Keep | Change::Clear => None,
        }
    }

    pub(super) fn update(&self, slot: &mut Option<WebDetails>) {
        let details = slot.get_or_insert_default();
        self.subscription.update(&mut details.subscription);
        self.user_agent_string.update(&mut details.user_agent_string);
        self.browser_name.update(&mut details.browser_name);
        self.browser_type.update(&mut details.browser_type);
        self.browser_version.update(&mut details.browser_version);
        self.web_sdk_version.update(&mut details.web_sdk_version);
    }
}

impl WebDetails {
    /// The name, the type and the version of the browser, as far as they are known.
    pub fn browser(&self) -> [Option<String>; 3] {
        let told = self.user_agent_string.as_deref().and_then(Browser::of);
        let of_agent = |text: fn(&Browser<'_>) -> String| told.as_ref().map(text);
        let or = |own: &Option<String>, told: Option<String>| own.clone().filter(|own| !own.is_empty()).or(told);
        [
            or(&self.browser_name, of_agent(|browser| browser.name.to_owned())),
            or(&self.browser_type, of_agent(|browser| if browser.is_mobile { "mobile" } else { "desktop" }.to_owned())),
            or(&self.browser_version, of_agent(|browser| format!("{}-{}", browser.name, browser.version))),
        ]
    }
}

const OLD_SAFARI: &str = "Safari's own push, which Safari before version 16 has, is not served; newer ones have Web Push, whose \
                          'subscription_type' is 'vapid'.";

impl WebSubscription {
    /// The keys may be below `keys`, where browsers put them, or beside it, as lookups show them.
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let kind = fields.optional("subscription_type", |at| at.choice(&[("vapid", true), ("apns", false)]));
        if kind == Some(false) {
            // It has no keys, which nobody need be told.
            fields.pass_over_rest::<()>();
            return at.invalid_key("subscription_type", OLD_SAFARI);
        }
        let keys = match fields.take("keys") {
            None => Self::read(&mut fields),
            Some(keys) => keys.object().and_then(|mut keys| {
                let subscription = Self::read(&mut keys);
                keys.finish();
                subscription
            }),
        };
        fields.finish();
        keys
    }

    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let p256dh = fields.required("p256dh", |at| {
            base64url(at, |bytes| bytes.len() == 65 && bytes[0] == 4, "the 65 bytes of a point on the curve P-256")
        });
        let auth = fields.required("auth", |at| base64url(at, |bytes| bytes.len() == 16, "16 bytes"));
        Some(Self { p256dh: p256dh?, auth: auth? })
    }
}

/// Some browsers' libraries pad, some do not; the stored form is never padded.
fn base64url(at: &At<'_>, is_right: impl FnOnce(&[u8]) -> bool, wanted: &str) -> Option<String> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &URL_SAFE,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent).with_encode_padding(false),
    );
    match LENIENT.decode(at.string()?) {
        Ok(bytes) if is_right(&bytes) => Some(LENIENT.encode(bytes)),
        Ok(_) | Err(_) => at.invalid(format!("This must be {wanted} in base64url.")),
    }
}
