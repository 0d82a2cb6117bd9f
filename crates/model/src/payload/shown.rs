//! What a person sees of a push in a listing: the title and the beginning of the text that a device would show.

use super::Push;
use super::ios::IosAlert;
use super::message::MessageContent;
use super::notification::Notification;
use crate::limits;

/// The first title and the first text of a push, the texts for everybody before those of single platforms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownTexts {
    pub title: Option<String>,
    pub alert: Option<String>,
}

impl Push {
    pub fn shown_texts(&self) -> ShownTexts {
        let ShownTexts { title, alert } = self.notification.as_ref().map(of_notification).unwrap_or_default();
        let message = self.message.as_ref().and_then(|message| match &message.content {
            MessageContent::Text { title, .. } => Some(title.clone()),
            MessageContent::Template { template } => template.for_everybody("title"),
        });
        let banner = self.in_app().map(|banner| banner.alert.clone());
        ShownTexts {
            title: title.or(message).map(|text| beginning(&text)),
            alert: alert.or(banner).map(|text| beginning(&text)),
        }
    }
}

fn of_notification(notification: &Notification) -> ShownTexts {
    let mut shown = ShownTexts { title: None, alert: notification.alert.clone() };
    let mut add = |title: Option<String>, alert: Option<String>| {
        shown.title = shown.title.take().or(title);
        shown.alert = shown.alert.take().or(alert);
    };
    if let Some(ios) = notification.ios.as_ref().and_then(|_| notification.for_ios()) {
        let (title, alert) = match ios.alert {
            Some(IosAlert::Text(text)) => (None, Some(text)),
            Some(IosAlert::Object(object)) => (object.title, object.body),
            None => (None, None),
        };
        add(ios.title.or(title), alert);
    }
    if let Some(android) = notification.android.as_ref().and_then(|_| notification.for_android()) {
        add(android.title, android.alert);
    }
    if let Some(amazon) = notification.amazon.as_ref().and_then(|_| notification.for_amazon()) {
        add(amazon.title, amazon.alert);
    }
    if let Some(web) = notification.web.as_ref().and_then(|_| notification.for_web()) {
        add(web.title, web.alert);
    }
    for (platform, _) in notification.open.iter() {
        if let Some(open) = notification.for_open(platform) {
            add(open.content.title, open.content.alert);
        }
    }
    if let Some(sms) = &notification.sms {
        add(None, sms.alert.clone());
    }
    if let Some(email) = &notification.email {
        add(email.subject.clone(), None);
    }
    shown
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

    fn shown(content: &Value) -> (Option<String>, Option<String>) {
        let mut push = json!({"audience": "all", "device_types": "all"});
        push.as_object_mut().unwrap().extend(content.as_object().unwrap().clone());
        let push = parse(push.to_string().as_bytes(), Push::parse).unwrap();
        let ShownTexts { title, alert } = push.shown_texts();
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
}
