//! What a device of a type shows of a push: the texts, the picture and the buttons, for previews.

use super::interactive::{Interactive, label};
use super::ios::IosAlert;
use super::localization::Content;
use super::notification::Notification;
use super::style::{Style, StyleContent};
use super::web::WebButton;
use super::wns::WnsContent;
use crate::device_type::DeviceType;

/// Everything that a notification shows; nothing of it is there when the push is silent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Appearance {
    pub title: Option<String>,
    /// Between the title and the text, on iOS.
    pub subtitle: Option<String>,
    pub body: Option<String>,
    /// Below the text.
    pub summary: Option<String>,
    /// The text when the notification is expanded, if it is another.
    pub expanded: Option<String>,
    /// The address of a picture.
    pub image: Option<String>,
    pub buttons: Vec<ShownButton>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownButton {
    pub id: String,
    /// In English; devices have the labels of built-in buttons in the language of the user. Only the app knows those of its own.
    pub label: Option<String>,
}

impl Content<'_> {
    /// What devices of a type show of this content.
    pub fn appearance_on(&self, device_type: &DeviceType) -> Appearance {
        self.notification.and_then(|notification| on(notification, device_type)).unwrap_or_default()
    }
}

fn on(notification: &Notification, device_type: &DeviceType) -> Option<Appearance> {
    Some(match device_type {
        DeviceType::Ios => {
            let ios = notification.for_ios()?;
            let texts = match ios.full_alert() {
                Some(IosAlert::Text(text)) => Appearance { body: Some(text), ..Appearance::default() },
                Some(IosAlert::Object(alert)) => Appearance {
                    title: alert.title,
                    subtitle: alert.subtitle,
                    body: alert.body,
                    ..Appearance::default()
                },
                None => Appearance::default(),
            };
            let image = ios.media_attachment.map(|media| media.url.as_str().to_owned());
            Appearance { image, buttons: buttons(ios.interactive.as_ref()), ..texts }
        }
        DeviceType::Android => {
            let android = notification.for_android()?;
            let plain = Appearance {
                title: android.title,
                body: android.alert,
                summary: android.summary,
                buttons: buttons(android.interactive.as_ref()),
                ..Appearance::default()
            };
            styled(plain, android.style.as_ref())
        }
        DeviceType::Amazon => {
            let amazon = notification.for_amazon()?;
            let plain = Appearance {
                title: amazon.title,
                body: amazon.alert,
                summary: amazon.summary,
                buttons: buttons(amazon.interactive.as_ref()),
                ..Appearance::default()
            };
            styled(plain, amazon.style.as_ref())
        }
        DeviceType::Web => {
            let web = notification.for_web()?;
            let button = |WebButton { id, label, .. }: WebButton| ShownButton { id, label: Some(label) };
            Appearance {
                title: web.title,
                body: web.alert,
                image: web.image.map(|image| image.url.as_str().to_owned()),
                buttons: web.buttons.into_iter().flatten().map(button).collect(),
                ..Appearance::default()
            }
        }
        DeviceType::Wns => windows(notification.for_wns()?.content),
        DeviceType::Open(platform) => {
            let content = notification.for_open(platform)?.content;
            Appearance {
                title: content.title,
                body: content.alert,
                summary: content.summary,
                image: content.media_attachment,
                buttons: buttons(content.interactive.as_ref()),
                ..Appearance::default()
            }
        }
        DeviceType::Sms | DeviceType::Mms | DeviceType::Email => return None,
    })
}

/// The expanded form replaces the text, or adds a picture.
fn styled(plain: Appearance, style: Option<&Style>) -> Appearance {
    match style.map(|style| &style.content) {
        Some(StyleContent::BigText { big_text }) => Appearance { expanded: Some(big_text.clone()), ..plain },
        Some(StyleContent::Inbox { lines }) => Appearance { expanded: Some(lines.join("\n")), ..plain },
        Some(StyleContent::BigPicture { big_picture }) => Appearance { image: Some(big_picture.clone()), ..plain },
        None => plain,
    }
}

/// Of the templates of Windows, most show the first text as a title when there are others.
fn windows(content: WnsContent) -> Appearance {
    let binding = match content {
        WnsContent::Alert(text) => return Appearance { body: Some(text), ..Appearance::default() },
        WnsContent::Toast(toast) => Some(toast.binding),
        WnsContent::Tile(tile) => tile.binding.into_vec().into_iter().next(),
        WnsContent::Badge(_) | WnsContent::Raw(_) => None,
    };
    let Some(binding) = binding else { return Appearance::default() };
    let mut texts = binding.text.map(|texts| texts.into_vec()).unwrap_or_default();
    let title = (texts.len() > 1).then(|| texts.remove(0));
    let image = binding.image.and_then(|images| images.into_vec().into_iter().next());
    Appearance { title, body: (!texts.is_empty()).then(|| texts.join("\n")), image, ..Appearance::default() }
}

fn buttons(interactive: Option<&Interactive>) -> Vec<ShownButton> {
    let Some(interactive) = interactive else { return Vec::new() };
    match interactive.kind.buttons() {
        Some(known) => {
            let button = |id: &&str| ShownButton { id: (*id).to_owned(), label: label(id).map(str::to_owned) };
            known.iter().map(button).collect()
        }
        None => {
            let named = interactive.button_actions.iter().flatten();
            named.map(|(id, _)| ShownButton { id: id.clone(), label: None }).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::json::parse;
    use crate::payload::Push;

    fn shown(notification: &Value, device_type: &str) -> Appearance {
        let push = json!({"audience": "all", "device_types": "all", "notification": notification});
        let push = parse(push.to_string().as_bytes(), Push::parse).unwrap();
        push.content_for(None, None).appearance_on(&DeviceType::from_name(device_type).unwrap())
    }

    fn texts(appearance: &Appearance) -> [Option<&str>; 6] {
        let Appearance { title, subtitle, body, summary, expanded, image, .. } = appearance;
        [title, subtitle, body, summary, expanded, image].map(Option::as_deref)
    }

    #[test]
    fn every_platform_shows_its_own() {
        let push = json!({
            "alert": "A", "interactive": {"type": "ua_yes_no_foreground"},
            "ios": {"title": "T", "subtitle": "S", "media_attachment": {"url": "https://example.com/a.png"}},
            "android": {"title": "D", "summary": "below", "style": {"type": "big_text", "big_text": "long"}},
            "amazon": {"alert": "Z", "style": {"type": "big_picture", "big_picture": "https://example.com/b.png"}},
            "web": {"title": "W", "image": {"url": "https://example.com/c.png"}, "buttons": [{"id": "1", "label": "Go"}]},
            "open::tv": {"title": "O", "media_attachment": "https://example.com/d.png"},
        });
        let ios = shown(&push, "ios");
        assert_eq!(texts(&ios), [Some("T"), Some("S"), Some("A"), None, None, Some("https://example.com/a.png")]);
        let yes = ShownButton { id: "yes".to_owned(), label: Some("Yes".to_owned()) };
        assert_eq!(ios.buttons.first(), Some(&yes));
        let android = shown(&push, "android");
        assert_eq!(texts(&android), [Some("D"), None, Some("A"), Some("below"), Some("long"), None]);
        let amazon = shown(&push, "amazon");
        assert_eq!(texts(&amazon), [None, None, Some("Z"), None, None, Some("https://example.com/b.png")]);
        let web = shown(&push, "web");
        assert_eq!(texts(&web), [Some("W"), None, Some("A"), None, None, Some("https://example.com/c.png")]);
        assert_eq!(web.buttons, [ShownButton { id: "1".to_owned(), label: Some("Go".to_owned()) }]);
        assert_eq!(texts(&shown(&push, "wns")), [None, None, Some("A"), None, None, None]);
        assert_eq!(shown(&push, "open::tv").title.as_deref(), Some("O"));
        assert_eq!(shown(&push, "sms"), Appearance::default());
    }

    #[test]
    fn a_silent_push_shows_nothing_and_the_texts_of_a_toast_are_its_title_and_body() {
        assert_eq!(shown(&json!({"ios": {"content_available": true}}), "ios"), Appearance::default());
        let binding = json!({"template": "ToastText02", "text": ["T", "B"], "image": "https://example.com/e.png"});
        let toast = shown(&json!({"wns": {"toast": {"binding": binding}}}), "wns");
        assert_eq!(texts(&toast), [Some("T"), None, Some("B"), None, None, Some("https://example.com/e.png")]);
        assert_eq!(shown(&json!({"wns": {"badge": {"value": 3}}}), "wns"), Appearance::default());
        let own = json!({"type": "rate", "button_actions": {"five": {"add_tag": "fan"}}});
        let buttons = shown(&json!({"alert": "A", "interactive": own}), "android").buttons;
        assert_eq!(buttons, [ShownButton { id: "five".to_owned(), label: None }]);
    }
}
