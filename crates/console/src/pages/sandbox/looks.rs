//! What a device would show of a request: read from the body that its provider would have got.

use maud::{Markup, html};
use serde_json::Value;

use crate::parts::devices::platform;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Looks {
    title: Option<String>,
    text: Option<String>,
    badge: Option<String>,
    sound: Option<String>,
    buttons: Vec<String>,
}

impl Looks {
    pub(crate) fn of(transport: &str, body: &Value) -> Self {
        match transport {
            "apns" => Self::of_apple(&body["aps"]),
            "fcm" => Self::of_data(&body["message"]["data"]),
            "adm" => Self::of_data(&body["data"]),
            "unifiedpush" => Self::of_data(body),
            "webpush" => Self::of_browser(body),
            "open" => Self::of_open(&body["values"][0]["payload"]),
            "wns" => Self { text: body.as_str().map(texts_of_markup), ..Self::default() },
            _ => Self::default(),
        }
    }

    fn of_apple(aps: &Value) -> Self {
        let alert = &aps["alert"];
        Self {
            title: text(&alert["title"]),
            text: text(alert).or_else(|| text(&alert["body"])),
            badge: aps["badge"].as_i64().map(|badge| badge.to_string()),
            sound: text(&aps["sound"]).or_else(|| text(&aps["sound"]["name"])),
            buttons: Vec::new(),
        }
    }

    fn of_data(data: &Value) -> Self {
        Self {
            title: text(&data["com.urbanairship.title"]),
            text: text(&data["com.urbanairship.push.ALERT"]),
            sound: text(&data["com.urbanairship.sound"]),
            ..Self::default()
        }
    }

    fn of_browser(body: &Value) -> Self {
        let buttons = body["buttons"].as_array().into_iter().flatten();
        Self {
            title: text(&body["title"]),
            text: text(&body["alert"]),
            buttons: buttons.filter_map(|button| text(&button["label"])).collect(),
            ..Self::default()
        }
    }

    fn of_open(payload: &Value) -> Self {
        Self { title: text(&payload["title"]), text: text(&payload["alert"]), ..Self::default() }
    }

    /// As a notification on the device, or a word that says that nothing is shown.
    pub(crate) fn show(&self, device_type: &str, app: &str) -> Markup {
        let family = device_type.split("::").next().unwrap_or_default();
        let look = match family {
            "ios" => "ios",
            "android" | "amazon" => "android",
            _ => "web",
        };
        html! {
            figure.device.(look) {
                figcaption { (platform(device_type)) }
                div.bubble {
                    p.quiet { (app) " · now" }
                    @if let Some(title) = &self.title { p { strong { (title) } } }
                    @if let Some(text) = &self.text { p { (text) } }
                    @if self.title.is_none() && self.text.is_none() { p.quiet { "Shows nothing: the app gets data only." } }
                    @if !self.buttons.is_empty() { p { @for button in &self.buttons { span.chip { (button) } " " } } }
                    @if self.badge.is_some() || self.sound.is_some() {
                        p.quiet {
                            @if let Some(badge) = &self.badge { "badge " (badge) " " }
                            @if let Some(sound) = &self.sound { "sound " (sound) }
                        }
                    }
                }
            }
        }
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The texts of a document for Windows, without its elements.
fn texts_of_markup(body: &str) -> String {
    let pieces = body.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text).trim());
    let text = pieces.filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join(" ");
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")]
        .into_iter()
        .fold(text, |text, (escaped, plain)| text.replace(escaped, plain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(transport: &str, body: &Value) -> (Option<String>, Option<String>) {
        let Looks { title, text, .. } = Looks::of(transport, body);
        (title, text)
    }

    #[test]
    fn bodies_of_all_providers_show_their_texts() {
        let (title, text) = (Some("T".to_owned()), Some("A".to_owned()));
        assert_eq!(shown("apns", &json!({"aps": {"alert": "A"}})), (None, text.clone()));
        assert_eq!(
            shown("apns", &json!({"aps": {"alert": {"title": "T", "body": "A"}}})),
            (title.clone(), text.clone())
        );
        let data = json!({"com.urbanairship.title": "T", "com.urbanairship.push.ALERT": "A"});
        assert_eq!(shown("fcm", &json!({"message": {"data": data}})), (title.clone(), text.clone()));
        assert_eq!(shown("adm", &json!({"data": data})), (title.clone(), text.clone()));
        assert_eq!(shown("webpush", &json!({"title": "T", "alert": "A"})), (title, text.clone()));
        assert_eq!(shown("open", &json!({"values": [{"payload": {"alert": "A"}}]})), (None, text));
        let toast = json!(
            "<toast><visual><binding><text>One</text><text>&lt;b&gt; &amp;amp; two</text></binding></visual></toast>"
        );
        assert_eq!(shown("wns", &toast), (None, Some("One <b> &amp; two".to_owned())));
        assert_eq!(shown("apns", &json!({"aps": {"content-available": 1}})), (None, None));
    }
}
