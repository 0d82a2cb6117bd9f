//! The way back from a push to the fields that would write it. What they cannot say is left to the JSON beside them.

use serde_json::{Map, Value, json};

use super::content::{Content, PLATFORMS, picture};
use super::fields::BUTTONS;
use super::more;
use crate::form::{Fields, encoded};

type Pairs = Vec<(String, String)>;

/// The fields that say what a push says, as far as there are fields for it.
pub(crate) fn fields_of(push: &Map<String, Value>) -> Pairs {
    let texts = texts(push);
    let localized: Pairs = texts.iter().cloned().chain(languages(push)).collect();
    let plain: Pairs = texts.iter().filter(|(name, _)| name == "text").cloned().collect();
    [localized, texts, plain].into_iter().find(|fields| say_nothing_else(push, fields)).unwrap_or_default()
}

/// Whether all that the fields say is in the push.
fn say_nothing_else(push: &Map<String, Value>, fields: &Pairs) -> bool {
    let parts = parts_of(fields);
    let languages = parts.get("localizations");
    // A list of languages cannot be completed by JSON, only replaced.
    languages.is_none_or(|languages| push.get("localizations") == Some(languages))
        && more::difference(push, &parts).is_some()
}

fn parts_of(fields: &Pairs) -> Map<String, Value> {
    let form = encoded(fields.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    Content::read(&Fields::parse(&form)).parts()
}

fn texts(push: &Map<String, Value>) -> Pairs {
    let empty = Value::Null;
    let notification = push.get("notification").unwrap_or(&empty);
    let text = |at: &Value| at.as_str().map(str::to_owned);
    let mut fields: Vec<(String, Option<String>)> = Vec::new();
    let title = common_title(notification);
    for (platform, _, has_sound) in PLATFORMS {
        let own = &notification[platform];
        let own_title = text(&own["title"]).filter(|own| Some(own) != title.as_ref());
        fields.push((format!("{platform}_title"), own_title));
        fields.push((format!("{platform}_text"), text(&own["alert"])));
        fields.push((format!("{platform}_sound"), text(&own["sound"]).filter(|_| has_sound)));
        fields.push((format!("{platform}_image"), image(platform, own)));
    }
    let open = &notification["actions"]["open"];
    let buttons = text(&notification["interactive"]["type"]);
    fields.push(("title".to_owned(), title));
    fields.push(("text".to_owned(), text(&notification["alert"])));
    fields.push(("url".to_owned(), text(&open["content"]).filter(|_| open["type"] == json!("url"))));
    fields.push(("buttons".to_owned(), buttons.filter(|set| BUTTONS.iter().any(|(known, _)| known == set))));
    let inbox = push.get("message").unwrap_or(&empty);
    if let (Some(title), Some(body)) = (text(&inbox["title"]), text(&inbox["body"])) {
        fields.push(("inbox_title".to_owned(), Some(title)));
        fields.push(("inbox_body".to_owned(), Some(body)));
    }
    fields.into_iter().filter_map(|(name, value)| Some((name, value.filter(|value| !value.is_empty())?))).collect()
}

/// The title that all platforms have; single ones may have another.
fn common_title(notification: &Value) -> Option<String> {
    let titles = ["amazon", "android", "ios", "web"].map(|platform| notification[platform]["title"].as_str());
    titles.iter().all(Option::is_some).then(|| titles[0].map(str::to_owned)).flatten()
}

fn image(platform: &str, own: &Value) -> Option<String> {
    let found = match platform {
        "ios" => &own["media_attachment"]["url"],
        "web" => &own["image"]["url"],
        _ => &own["style"]["big_picture"],
    };
    let url = found.as_str()?;
    let (key, value) = picture(platform, url);
    (own[&key] == value).then(|| url.to_owned())
}

fn languages(push: &Map<String, Value>) -> Pairs {
    let mut fields = Vec::new();
    let localizations = push.get("localizations").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (n, localization) in localizations.iter().enumerate() {
        let text = |at: &Value| at.as_str().unwrap_or_default().to_owned();
        let country = localization["country"].as_str().map_or_else(String::new, |country| format!("_{country}"));
        let notification = &localization["notification"];
        fields.push((format!("lang{n}"), format!("{}{country}", text(&localization["language"]))));
        fields.push((format!("ltitle{n}"), common_title(notification).unwrap_or_default()));
        fields.push((format!("ltext{n}"), text(&notification["alert"])));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fields_can_say_comes_back_as_fields() {
        let form = "title=Hi&text=There&url=https%3A%2F%2Fa.example&buttons=ua_shop_now&ios_title=Hello&ios_sound=bell\
                    &android_image=https%3A%2F%2Fa.example%2Fb.png&lang0=de&ltitle0=Hallo&ltext0=Dort&inbox_title=a&inbox_body=b";
        let written = Content::read(&Fields::parse(form)).parts();
        let mut fields = fields_of(&written);
        assert_eq!(parts_of(&fields), written);
        fields.sort();
        let mut expected: Pairs =
            Fields::parse(form).pairs().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        expected.sort();
        assert_eq!(fields, expected);
    }

    #[test]
    fn what_they_cannot_say_is_not_half_said() {
        for push in [
            json!({"notification": {"alert": "x", "ios": {"title": "only here"}}, "localizations": [{"language": "de", "in_app": {}}]}),
            json!({"notification": {"alert": " spaces ", "interactive": {"type": "own_buttons"}}}),
            json!({"notification": {"ios": {"alert": {"body": "an object"}}}, "message": {"title": "without a body"}}),
        ] {
            let push = push.as_object().unwrap();
            let mut parts = parts_of(&fields_of(push));
            let rest = more::difference(push, &parts).unwrap();
            more::lay_over(&mut parts, rest);
            assert_eq!(&parts, push);
        }
    }
}
