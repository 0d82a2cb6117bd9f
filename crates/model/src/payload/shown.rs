//! What a person sees of a push: in a listing the beginnings of its title and text, and in a timeline the text on one device.

use super::Push;
use super::ios::IosAlert;
use super::notification::Notification;
use super::wns::WnsContent;
use crate::device_type::DeviceType;
use crate::limits;

/// A title and a text of a push.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownTexts {
    pub title: Option<String>,
    pub alert: Option<String>,
}

impl Push {
    /// The beginnings of the first title and the first text, the text for everybody before those of single platforms.
    pub fn shown_texts(&self) -> ShownTexts {
        let ShownTexts { title, alert } = self.notification.as_ref().map(Notification::first_texts).unwrap_or_default();
        let message = self.message.as_ref().and_then(|message| message.title().map(str::to_owned));
        let banner = self.in_app().map(|banner| banner.alert.clone());
        ShownTexts {
            title: title.or(message).map(|text| beginning(&text)),
            alert: alert.or(banner).map(|text| beginning(&text)),
        }
    }

    /// The text by which a person recognizes the push: what devices of a type show, without localization; of a push that shows
    /// nothing, the title of its message.
    pub fn text_on(&self, device_type: &DeviceType) -> Option<String> {
        let ShownTexts { title, alert } =
            self.notification.as_ref().map(|notification| notification.texts_on(device_type)).unwrap_or_default();
        alert.or(title).or_else(|| self.message.as_ref()?.title().map(str::to_owned))
    }
}

impl Notification {
    fn first_texts(&self) -> ShownTexts {
        let mut shown = ShownTexts { title: None, alert: self.alert.clone() };
        let open = self.open.keys().cloned().map(DeviceType::Open);
        let named = [DeviceType::Ios, DeviceType::Android, DeviceType::Amazon, DeviceType::Web, DeviceType::Wns];
        let telephones = [DeviceType::Sms, DeviceType::Mms, DeviceType::Email];
        for device_type in named.into_iter().chain(open).chain(telephones) {
            let ShownTexts { title, alert } = self.texts_on(&device_type);
            shown.title = shown.title.take().or(title);
            shown.alert = shown.alert.take().or(alert);
        }
        shown
    }

    /// What devices of a type show.
    fn texts_on(&self, device_type: &DeviceType) -> ShownTexts {
        let own = match device_type {
            DeviceType::Ios => self.for_ios().map(|ios| match ios.alert {
                Some(IosAlert::Object(object)) => (ios.title.or(object.title), object.body),
                Some(IosAlert::Text(text)) => (ios.title, Some(text)),
                None => (ios.title, None),
            }),
            DeviceType::Android => self.for_android().map(|android| (android.title, android.alert)),
            DeviceType::Amazon => self.for_amazon().map(|amazon| (amazon.title, amazon.alert)),
            DeviceType::Web => self.for_web().map(|web| (web.title, web.alert)),
            DeviceType::Wns => self.for_wns().and_then(|wns| match wns.content {
                WnsContent::Alert(alert) => Some((None, Some(alert))),
                WnsContent::Toast(_) | WnsContent::Tile(_) | WnsContent::Badge(_) | WnsContent::Raw(_) => None,
            }),
            DeviceType::Sms => self.sms.as_ref().map(|sms| (None, sms.alert.clone())),
            DeviceType::Mms => self.mms.as_ref().map(|mms| (mms.subject.clone(), mms.fallback_text.clone())),
            DeviceType::Email => self.email.as_ref().map(|email| (email.subject.clone(), None)),
            DeviceType::Open(platform) => self.for_open(platform).map(|open| (open.content.title, open.content.alert)),
        };
        let (title, alert) = own.unwrap_or_default();
        ShownTexts { title, alert: alert.or_else(|| self.alert.clone()) }
    }
}

/// Databases cannot keep the character NUL.
fn beginning(text: &str) -> String {
    text.chars().filter(|c| *c != '\0').take(limits::SHOWN_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::json::parse;

    fn push(content: &Value) -> Push {
        let mut push = json!({"audience": "all", "device_types": "all"});
        push.as_object_mut().unwrap().extend(content.as_object().unwrap().clone());
        parse(push.to_string().as_bytes(), Push::parse).unwrap()
    }

    fn shown(content: &Value) -> (Option<String>, Option<String>) {
        let ShownTexts { title, alert } = push(content).shown_texts();
        (title, alert)
    }

    #[test]
    fn the_text_for_everybody_goes_first() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(shown(&json!({"notification": {"alert": "Hi"}})), (None, some("Hi")));
        let ios = json!({"alert": {"title": "T", "body": "B"}});
        assert_eq!(shown(&json!({"notification": {"ios": ios}})), (some("T"), some("B")));
        let both = json!({"alert": "Hi", "ios": {"title": "I"}, "android": {"title": "A", "alert": "B"}});
        assert_eq!(shown(&json!({"notification": both})), (some("I"), some("Hi")));
        let message = json!({"title": "Inbox", "body": "<p>"});
        assert_eq!(shown(&json!({"message": message})), (some("Inbox"), None));
        assert_eq!(shown(&json!({"notification": {"alert": "é\u{0}".repeat(300)}})), (None, some(&"é".repeat(200))));
    }

    #[test]
    fn a_push_is_recognized_by_what_a_device_shows() {
        let text = |content: &Value, device_type: DeviceType| push(content).text_on(&device_type);
        let overridden = json!({"notification": {"alert": "all", "ios": {"alert": {"title": "T", "body": "B"}},
                                                 "android": {"alert": "A"}, "open::kiosk": {"alert": "K"}}});
        let kiosk = DeviceType::from_name("open::kiosk").unwrap();
        let expected = [(DeviceType::Ios, "B"), (DeviceType::Android, "A"), (DeviceType::Web, "all"), (kiosk, "K")];
        for (device_type, shown) in expected {
            assert_eq!(text(&overridden, device_type).as_deref(), Some(shown));
        }
        let message = json!({"message": {"title": "News", "body": "<p>", "content_type": "text/html"}});
        assert_eq!(text(&message, DeviceType::Ios).as_deref(), Some("News"));
    }
}
