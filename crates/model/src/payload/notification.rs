//! The content of a push: texts and actions for everybody, and overrides for each platform.

mod actions;
mod effective;

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::actions::Actions;
use super::amazon::AmazonOverride;
use super::android::AndroidOverride;
use super::email::EmailOverride;
use super::expiry::Expiry;
use super::in_app::InApp;
use super::interactive::Interactive;
use super::ios::IosOverride;
use super::mms::MmsOverride;
use super::open::OpenOverride;
use super::sms::SmsOverride;
use super::template::{Template, TemplateSource};
use super::web::WebOverride;
use super::wns::WnsOverride;
use crate::device_type::{DeviceType, OpenPlatform};
use crate::json::{At, Fields, Json};

pub(super) use actions::on_buttons;
pub use effective::OpenNotification;

/// An override inherits `alert`, `actions` and `interactive` where it does not give its own. At least one key is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Notification {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alert: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<Actions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactive: Option<Interactive>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ios: Option<Box<IosOverride>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub android: Option<Box<AndroidOverride>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amazon: Option<Box<AmazonOverride>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web: Option<Box<WebOverride>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wns: Option<Box<WnsOverride>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sms: Option<Box<SmsOverride>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mms: Option<Box<MmsOverride>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<Box<EmailOverride>>,
    /// Under the keys `open::<platform name>`.
    #[serde(flatten, serialize_with = "print_open")]
    pub open: BTreeMap<OpenPlatform, OpenOverride>,
    /// Old clients put it here; it means the same as the `in_app` of the push.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_app: Option<Box<InApp>>,
}

impl Notification {
    /// The buttons that a platform shows.
    pub fn interactive_on(&self, device_type: &DeviceType) -> Option<&Interactive> {
        let own = match device_type {
            DeviceType::Ios => self.ios.as_ref().and_then(|ios| ios.interactive.as_ref()),
            DeviceType::Android => self.android.as_ref().and_then(|android| android.interactive.as_ref()),
            DeviceType::Amazon => self.amazon.as_ref().and_then(|amazon| amazon.interactive.as_ref()),
            DeviceType::Web => self.web.as_ref().and_then(|web| web.interactive.as_ref()),
            DeviceType::Wns | DeviceType::Sms | DeviceType::Mms | DeviceType::Email | DeviceType::Open(_) => None,
        };
        own.or(self.interactive.as_ref())
    }

    /// When devices of this type should no longer get it, which goes before the expiry of the push.
    pub fn expiry_on(&self, device_type: &DeviceType) -> Option<&Expiry> {
        match device_type {
            DeviceType::Ios => self.ios.as_ref()?.expiry.as_ref(),
            DeviceType::Android => self.android.as_ref()?.time_to_live.as_ref(),
            DeviceType::Amazon => self.amazon.as_ref()?.expires_after.as_ref(),
            DeviceType::Web => self.web.as_ref()?.time_to_live.as_ref(),
            DeviceType::Sms => self.sms.as_ref()?.expiry.as_ref(),
            DeviceType::Wns | DeviceType::Mms | DeviceType::Email | DeviceType::Open(_) => None,
        }
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        if matches!(at.json(), Json::Object(entries) if entries.is_empty()) {
            return at.invalid("A notification needs at least one key, such as 'alert'.");
        }
        let notification = Self {
            alert: fields.optional("alert", At::any_text),
            actions: fields.optional("actions", Actions::parse),
            interactive: fields.optional("interactive", Interactive::parse),
            ios: fields.optional("ios", IosOverride::parse).map(Box::new),
            android: fields.optional("android", AndroidOverride::parse).map(Box::new),
            amazon: fields.optional("amazon", AmazonOverride::parse).map(Box::new),
            web: fields.optional("web", WebOverride::parse).map(Box::new),
            wns: fields.optional("wns", WnsOverride::parse).map(Box::new),
            sms: fields.optional("sms", SmsOverride::parse).map(Box::new),
            mms: fields.optional("mms", MmsOverride::parse).map(Box::new),
            email: fields.optional("email", EmailOverride::parse).map(Box::new),
            in_app: fields.optional("in_app", InApp::parse).map(Box::new),
            open: open_overrides(&mut fields),
        };
        if notification.sms.is_some() && notification.mms.is_some() {
            at.invalid_key::<()>(
                "mms",
                "A push is a text message or a picture message: give only 'sms' or only 'mms'.",
            );
        }
        notification.note_extra_conflicts(at);
        Some(notification)
    }

    /// Whether devices of this type get more than the alert for everybody. An empty override does not count.
    pub fn has_override(&self, device_type: &DeviceType) -> bool {
        match device_type {
            DeviceType::Ios => says_something(self.ios.as_deref()),
            DeviceType::Android => says_something(self.android.as_deref()),
            DeviceType::Amazon => says_something(self.amazon.as_deref()),
            DeviceType::Web => says_something(self.web.as_deref()),
            DeviceType::Wns => self.wns.is_some(),
            // Picture messages go to the same telephones.
            DeviceType::Sms => says_something(self.sms.as_deref()) || self.mms.is_some(),
            DeviceType::Mms => self.mms.is_some(),
            DeviceType::Email => self.email.is_some(),
            DeviceType::Open(platform) => says_something(self.open.get(platform)),
        }
    }

    /// The platforms whose override names a template that is stored elsewhere instead of giving texts.
    pub fn platforms_with_stored_texts(&self) -> Vec<DeviceType> {
        let named = [
            (DeviceType::Ios, self.ios.as_ref().and_then(|ios| ios.template.as_ref())),
            (DeviceType::Android, self.android.as_ref().and_then(|android| android.template.as_ref())),
            (DeviceType::Amazon, self.amazon.as_ref().and_then(|amazon| amazon.template.as_ref())),
            (DeviceType::Web, self.web.as_ref().and_then(|web| web.template.as_ref())),
        ];
        let open =
            self.open.iter().map(|(platform, open)| (DeviceType::Open(platform.clone()), open.template.as_ref()));
        let is_stored = |template: &Template| match template.source {
            TemplateSource::TemplateId(_) | TemplateSource::ExternalId(_) => true,
            TemplateSource::Fields(_) => false,
        };
        let all = named.into_iter().chain(open);
        all.filter(|(_, template)| template.is_some_and(is_stored)).map(|(device_type, _)| device_type).collect()
    }

    /// On iOS, actions and `extra` end up in one object, so no name may be in both.
    fn note_extra_conflicts(&self, at: &At<'_>) {
        let Some(ios) = &self.ios else { return };
        let Some(actions) = ios.actions.as_ref().or(self.actions.as_ref()) else { return };
        let keys = ios.extra.iter().flat_map(BTreeMap::keys);
        for key in keys.filter(|key| actions.uses_device_name(key)) {
            let message = format!("The key '{key}' stands for an action of this notification; choose another one.");
            at.invalid_key::<()>(&format!("ios.extra.{key}"), message);
        }
    }
}

fn says_something<Override: Default + PartialEq>(given: Option<&Override>) -> bool {
    given.is_some_and(|given| *given != Override::default())
}

fn open_overrides(fields: &mut Fields<'_>) -> BTreeMap<OpenPlatform, OpenOverride> {
    let mut overrides = BTreeMap::new();
    for (key, at) in fields.rest() {
        match key.strip_prefix("open::").map(OpenPlatform::new) {
            Some(Ok(platform)) => {
                if let Some(open) = OpenOverride::parse(&at) {
                    overrides.insert(platform, open);
                }
            }
            Some(Err(message)) => drop(at.invalid::<()>(message)),
            None => drop(at.invalid::<()>(format!("The key '{key}' is not allowed in this context."))),
        }
    }
    overrides
}

fn print_open<S: Serializer>(
    overrides: &BTreeMap<OpenPlatform, OpenOverride>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(overrides.iter().map(|(platform, open)| (format!("open::{}", platform.as_str()), open)))
}

#[cfg(test)]
mod tests;
