//! The text by which a person recognizes a push.

use super::Push;
use super::ios::IosAlert;
use super::notification::Notification;
use crate::device_type::DeviceType;

impl Push {
    /// The text that devices of a type show, without localization; of a push that shows none, the title of its message.
    pub fn text_on(&self, device_type: &DeviceType) -> Option<String> {
        let shown = self.notification.as_ref().and_then(|notification| notification.text_on(device_type));
        shown.map(str::to_owned).or_else(|| self.message.as_ref()?.title())
    }
}

impl Notification {
    fn text_on(&self, device_type: &DeviceType) -> Option<&str> {
        let own = match device_type {
            DeviceType::Ios => self.ios.as_ref().and_then(|ios| ios.alert.as_ref()).and_then(text_of),
            DeviceType::Android => self.android.as_ref().and_then(|android| android.alert.as_deref()),
            DeviceType::Amazon => self.amazon.as_ref().and_then(|amazon| amazon.alert.as_deref()),
            DeviceType::Web => self.web.as_ref().and_then(|web| web.alert.as_deref()),
            DeviceType::Sms => self.sms.as_ref().and_then(|sms| sms.alert.as_deref()),
            DeviceType::Wns | DeviceType::Mms | DeviceType::Email | DeviceType::Open(_) => None,
        };
        own.or(self.alert.as_deref())
    }
}

fn text_of(alert: &IosAlert) -> Option<&str> {
    match alert {
        IosAlert::Text(text) => Some(text),
        IosAlert::Object(object) => object.body.as_deref().or(object.title.as_deref()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use crate::selector::Purpose;
    use serde_json::json;

    #[test]
    fn a_push_is_recognized_by_what_a_device_shows() {
        let text = |rest: serde_json::Value, device_type: DeviceType| {
            let mut push = json!({"audience": "all", "device_types": "all"});
            push.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            let push = json::parse(push.to_string().as_bytes(), |at| Push::parse_with(at, Purpose::Stored)).unwrap();
            push.text_on(&device_type)
        };
        let overridden = json!({"notification": {"alert": "all", "ios": {"alert": {"title": "T", "body": "B"}},
                                                 "android": {"alert": "A"}}});
        for (device_type, shown) in [(DeviceType::Ios, "B"), (DeviceType::Android, "A"), (DeviceType::Web, "all")] {
            assert_eq!(text(overridden.clone(), device_type).as_deref(), Some(shown));
        }
        let message = json!({"message": {"title": "News", "body": "<p>", "content_type": "text/html"}});
        assert_eq!(text(message, DeviceType::Ios).as_deref(), Some("News"));
    }
}
