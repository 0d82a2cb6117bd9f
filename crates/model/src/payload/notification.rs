//! The content of a push: texts and actions for everybody, and overrides for each platform.

mod actions;
mod effective;
mod open_overrides;

use std::collections::BTreeMap;

use super::actions::Actions;
use super::amazon::AmazonOverride;
use super::android::AndroidOverride;
use super::email::EmailOverride;
use super::expiry::Expiry;
use super::in_app::InApp;
use super::interactive::Interactive;
use super::ios::IosOverride;
use super::mms::MmsOverride;
use super::sms::SmsOverride;
use super::template::TemplateReference;
use super::web::WebOverride;
use super::wns::WnsOverride;
use crate::device_type::DeviceType;
use crate::json::At;
use crate::json::body::Body;

pub(super) use actions::on_buttons;
pub use effective::OpenNotification;
pub use open_overrides::OpenOverrides;

/// Texts and actions for everybody, and overrides for each platform. An override inherits `alert`, `actions`
/// and `interactive` where it does not give its own. At least one key is given.
#[derive(Clone, Debug, Default, PartialEq, Body)]
#[body(not_empty = "A notification needs at least one key, such as 'alert'.", check = Notification::checked)]
pub struct Notification {
    /// The text. Overrides without an alert of their own show it.
    pub alert: Option<String>,
    /// What a tap does, unless an override says otherwise.
    pub actions: Option<Actions>,
    /// The buttons, unless an override says otherwise.
    pub interactive: Option<Interactive>,
    /// What differs on iOS devices.
    pub ios: Option<Box<IosOverride>>,
    /// What differs on Android devices.
    pub android: Option<Box<AndroidOverride>>,
    /// What differs on Amazon devices.
    pub amazon: Option<Box<AmazonOverride>>,
    /// What differs in browsers.
    pub web: Option<Box<WebOverride>>,
    /// What differs on Windows devices.
    pub wns: Option<Box<WnsOverride>>,
    /// The text message for telephones.
    pub sms: Option<Box<SmsOverride>>,
    /// The picture message for telephones.
    pub mms: Option<Box<MmsOverride>>,
    /// The email.
    pub email: Option<Box<EmailOverride>>,
    /// Old clients put it here; it means the same as the `in_app` of the push.
    pub in_app: Option<Box<InApp>>,
    // After all other keys, because it takes those that are left.
    #[body(flatten)]
    pub open: OpenOverrides,
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

    fn checked(self, at: &At<'_>) -> Option<Self> {
        if self.sms.is_some() && self.mms.is_some() {
            at.invalid_key::<()>(
                "mms",
                "A push is a text message or a picture message: give only 'sms' or only 'mms'.",
            );
        }
        self.note_extra_conflicts(at);
        Some(self)
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
        self.templates().filter(|(_, template)| template.is_stored()).map(|(device_type, _)| device_type).collect()
    }

    /// The templates of overrides that texts are shown of.
    pub fn templates(&self) -> impl Iterator<Item = (DeviceType, &TemplateReference)> {
        let named = [
            (DeviceType::Ios, self.ios.as_ref().and_then(|ios| ios.template.as_ref())),
            (DeviceType::Android, self.android.as_ref().and_then(|android| android.template.as_ref())),
            (DeviceType::Amazon, self.amazon.as_ref().and_then(|amazon| amazon.template.as_ref())),
            (DeviceType::Web, self.web.as_ref().and_then(|web| web.template.as_ref())),
        ];
        let open =
            self.open.iter().map(|(platform, open)| (DeviceType::Open(platform.clone()), open.template.as_ref()));
        named.into_iter().chain(open).filter_map(|(device_type, template)| Some((device_type, template?)))
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

#[cfg(test)]
mod tests;
