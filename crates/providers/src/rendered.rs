//! A push rendered for one platform: everything that is the same for all its devices, done once.

use model::device_type::DeviceType;
use model::payload::amazon::AmazonOverride;
use model::payload::android::AndroidOverride;
use model::payload::notification::Notification;

use crate::adm::AdmPush;
use crate::apns::ApnsPush;
use crate::fcm::FcmPush;
use crate::form::Form;
use crate::open::OpenPush;
use crate::recipient::Recipient;
use crate::rendering::Rendering;
use crate::request::PreparedRequest;
use crate::webpush::WebPush;
use crate::wns::WnsPush;

#[derive(Clone, Debug)]
pub enum RenderedPush {
    Apns(ApnsPush),
    Fcm(FcmPush),
    Adm(AdmPush),
    Wns(WnsPush),
    WebPush(WebPush),
    /// For Android devices, encrypted and sent as to browsers.
    UnifiedPush(WebPush),
    Open(OpenPush),
}

/// Why a platform's devices get nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSendable {
    #[error("The push has nothing to say on this platform.")]
    NothingToSend,
    #[error("There is no way to deliver to this platform.")]
    NoTransport,
}

impl RenderedPush {
    pub fn new(rendering: &Rendering<'_>, device_type: &DeviceType) -> Result<Self, NotSendable> {
        let content = &rendering.content;
        let notification = content.notification;
        // A message or a banner without a notification still has to reach the app, silently.
        let (has_message, has_banner) = (content.message.is_some(), content.in_app.is_some());
        let rendered = match device_type {
            DeviceType::Ios => {
                let ios = or_silent(notification.and_then(Notification::for_ios), has_message || has_banner);
                ios.map(|ios| RenderedPush::Apns(ApnsPush::new(rendering, &ios)))
            }
            DeviceType::Android => {
                let android = for_android(rendering).ok();
                android.map(|android| RenderedPush::Fcm(FcmPush::new(rendering, &android)))
            }
            DeviceType::Amazon => {
                let amazon = or_silent(notification.and_then(Notification::for_amazon), has_message || has_banner);
                amazon.map(|amazon| RenderedPush::Adm(AdmPush::new(rendering, &amazon)))
            }
            DeviceType::Web => {
                let web = or_silent(notification.and_then(Notification::for_web), has_message);
                web.map(|web| RenderedPush::WebPush(WebPush::for_browsers(rendering, &web)))
            }
            DeviceType::Wns => {
                let wns = notification.and_then(Notification::for_wns);
                wns.map(|wns| RenderedPush::Wns(WnsPush::new(rendering, &wns)))
            }
            DeviceType::Open(platform) => {
                let open = notification.and_then(|notification| notification.for_open(platform));
                open.map(|open| RenderedPush::Open(OpenPush::new(rendering, &open)))
            }
            DeviceType::Sms | DeviceType::Mms | DeviceType::Email => return Err(NotSendable::NoTransport),
        };
        rendered.ok_or(NotSendable::NothingToSend)
    }

    /// For Android devices reached through Amazon: the Android notification, as far as Amazon's messages can express it.
    pub fn for_android_by_amazon(rendering: &Rendering<'_>) -> Result<Self, NotSendable> {
        let android = for_android(rendering)?;
        let amazon = AmazonOverride {
            alert: android.alert,
            title: android.title,
            summary: android.summary,
            sound: android.sound,
            icon: android.icon,
            icon_color: android.icon_color,
            notification_channel: android.notification_channel,
            notification_tag: android.notification_tag,
            consolidation_key: android.collapse_key,
            expires_after: android.time_to_live,
            extra: android.extra,
            style: android.style,
            interactive: android.interactive,
            actions: android.actions,
            template: None,
        };
        Ok(RenderedPush::Adm(AdmPush::new(rendering, &amazon)))
    }

    /// For Android devices reached by UnifiedPush.
    pub fn for_android_by_unified_push(rendering: &Rendering<'_>) -> Result<Self, NotSendable> {
        Ok(RenderedPush::UnifiedPush(WebPush::for_android(rendering, &for_android(rendering)?)))
    }

    /// The exact request for one device.
    pub fn request(&self, recipient: &Recipient<'_>) -> PreparedRequest {
        match self {
            RenderedPush::Apns(push) => push.request(recipient),
            RenderedPush::Fcm(push) => push.request(recipient),
            RenderedPush::Adm(push) => push.request(recipient),
            RenderedPush::Wns(push) => push.request(recipient),
            RenderedPush::WebPush(push) | RenderedPush::UnifiedPush(push) => push.request(recipient),
            RenderedPush::Open(push) => push.request(recipient),
        }
    }

    /// The numbers of the marks in it, some perhaps several times.
    pub fn text_numbers(&self) -> impl Iterator<Item = usize> + '_ {
        self.form().text_numbers()
    }

    pub(crate) fn form(&self) -> &Form {
        match self {
            RenderedPush::Apns(push) => push.form(),
            RenderedPush::Fcm(push) => push.form(),
            RenderedPush::Adm(push) => push.form(),
            RenderedPush::Wns(push) => push.form(),
            RenderedPush::WebPush(push) | RenderedPush::UnifiedPush(push) => push.form(),
            RenderedPush::Open(push) => push.form(),
        }
    }

    /// The name of the transport that such requests are for.
    pub const fn transport(&self) -> &'static str {
        match self {
            RenderedPush::Apns(_) => "apns",
            RenderedPush::Fcm(_) => "fcm",
            RenderedPush::Adm(_) => "adm",
            RenderedPush::Wns(_) => "wns",
            RenderedPush::WebPush(_) => "webpush",
            RenderedPush::UnifiedPush(_) => "unifiedpush",
            RenderedPush::Open(_) => "open",
        }
    }
}

fn for_android(rendering: &Rendering<'_>) -> Result<AndroidOverride, NotSendable> {
    let content = &rendering.content;
    let has_more = content.message.is_some() || content.in_app.is_some();
    or_silent(content.notification.and_then(Notification::for_android), has_more).ok_or(NotSendable::NothingToSend)
}

fn or_silent<Override: Default>(own: Option<Override>, has_more: bool) -> Option<Override> {
    own.or_else(|| has_more.then(Override::default))
}
