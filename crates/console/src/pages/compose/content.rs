//! What a message says: its texts, in several languages and with a few things that are different on some platforms, and the page
//! for the inbox.

use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::form::Fields;

/// Platforms whose notifications have a title of their own.
const TITLED: [&str; 4] = ["ios", "android", "amazon", "web"];

/// Enough for people.
const MOST_LANGUAGES: usize = 40;

/// The platforms on which something can be different: the name in the API and for people, and whether there are sounds.
pub(super) const PLATFORMS: [(&str, &str, bool); 3] =
    [("ios", "iOS", true), ("android", "Android", true), ("web", "Web", false)];

#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub(super) title: Option<String>,
    pub(super) text: Option<String>,
    url: Option<String>,
    /// A built-in set of buttons.
    buttons: Option<String>,
    platforms: Vec<Different>,
    pub(super) languages: Vec<Language>,
    pub(super) inbox_title: Option<String>,
    pub(super) inbox_body: Option<String>,
}

/// What is different on a platform.
#[derive(Clone, Debug)]
struct Different {
    platform: &'static str,
    title: Option<String>,
    text: Option<String>,
    sound: Option<String>,
    image: Option<String>,
}

/// The texts in another language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Language {
    /// `de` or `de_AT`.
    pub(super) code: String,
    pub(super) title: String,
    pub(super) text: String,
}

impl Content {
    pub(crate) fn read(fields: &Fields) -> Self {
        let text = |name: &str| fields.text(name).map(str::to_owned);
        let different = |(platform, ..): (&'static str, &str, bool)| Different {
            platform,
            title: text(&format!("{platform}_title")),
            text: text(&format!("{platform}_text")),
            sound: text(&format!("{platform}_sound")),
            image: text(&format!("{platform}_image")),
        };
        let language = |n: usize| {
            let value = |name: &str| fields.exact(&format!("{name}{n}")).unwrap_or_default().to_owned();
            fields.exact(&format!("lang{n}"))?;
            Some(Language { code: value("lang"), title: value("ltitle"), text: value("ltext") })
        };
        Self {
            title: text("title"),
            text: text("text"),
            url: text("url"),
            buttons: text("buttons"),
            platforms: PLATFORMS.map(different).into(),
            languages: (0..MOST_LANGUAGES).map_while(language).collect(),
            inbox_title: text("inbox_title"),
            inbox_body: text("inbox_body"),
        }
    }

    /// Does what a button says: adds a language, or removes one. Other buttons do nothing here.
    pub(crate) fn change(&mut self, action: &str) {
        let removed = action.strip_prefix("remove-language-").and_then(|n| n.parse::<usize>().ok());
        if action == "add-language" && self.languages.len() < MOST_LANGUAGES {
            self.languages.push(Language::default());
        } else if let Some(n) = removed.filter(|n| *n < self.languages.len()) {
            self.languages.remove(n);
        }
    }

    pub(super) fn has_inbox(&self) -> bool {
        self.inbox_title.is_some() || self.inbox_body.is_some()
    }

    /// What keeps it from being sent.
    pub(crate) fn check(&self) -> Result<()> {
        if self.text.is_none() && !self.has_inbox() {
            return Err(Error::invalid("text", "Write the text of the message."));
        }
        for (n, language) in self.languages.iter().enumerate() {
            if language.code.trim().is_empty() || language.text.trim().is_empty() {
                let words =
                    format!("Language {} is not complete: fill in what it is and the text, or remove it.", n + 1);
                return Err(Error::invalid("text", &words));
            }
        }
        if self.has_inbox() && (self.inbox_title.is_none() || self.inbox_body.is_none()) {
            return Err(Error::invalid("inbox_body", "A message for the inbox has a title and a body."));
        }
        Ok(())
    }

    /// The keys of a push that hold the content, as far as it is written.
    pub(crate) fn parts(&self) -> Map<String, Value> {
        let mut parts = Map::new();
        let notification = self.notification(self.title.as_deref(), self.text.as_deref(), true);
        if !notification.is_empty() {
            parts.insert("notification".to_owned(), notification.into());
        }
        let localizations: Vec<Value> =
            self.languages.iter().filter_map(|language| self.localization(language)).collect();
        if !localizations.is_empty() {
            parts.insert("localizations".to_owned(), localizations.into());
        }
        if let (Some(title), Some(body)) = (&self.inbox_title, &self.inbox_body) {
            parts.insert("message".to_owned(), json!({"title": title, "body": body}));
        }
        parts
    }

    /// The notification with other texts, as a variant has it.
    pub(super) fn notification_with(&self, title: Option<&str>, text: &str) -> Map<String, Value> {
        self.notification(title, Some(text), false)
    }

    /// A localization replaces the whole notification, so everything but the texts is in it again.
    fn localization(&self, language: &Language) -> Option<Value> {
        let filled = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let (code, text) = (filled(&language.code)?, filled(&language.text)?);
        let title = filled(&language.title).or_else(|| self.title.clone());
        let (language, country) = match code.split_once(['_', '-']) {
            Some((language, country)) => (language, Some(country)),
            None => (code.as_str(), None),
        };
        let notification = self.notification(title.as_deref(), Some(&text), false);
        let mut localization = json!({"language": language.to_ascii_lowercase(), "notification": notification});
        if let Some(country) = country {
            localization["country"] = json!(country.to_ascii_uppercase());
        }
        Some(localization)
    }

    fn notification(&self, title: Option<&str>, text: Option<&str>, has_own_texts: bool) -> Map<String, Value> {
        let mut notification = Map::new();
        notification.extend(text.map(|text| ("alert".to_owned(), json!(text))));
        for platform in TITLED {
            let own = self.platforms.iter().find(|different| different.platform == platform);
            let own_text = |text: fn(&Different) -> Option<&String>| own.filter(|_| has_own_texts).and_then(text);
            let mut keys = Map::new();
            let title = own_text(|own| own.title.as_ref()).map(String::as_str).or(title);
            keys.extend(title.map(|title| ("title".to_owned(), json!(title))));
            keys.extend(own_text(|own| own.text.as_ref()).map(|text| ("alert".to_owned(), json!(text))));
            if let Some(own) = own {
                keys.extend(own.sound.as_ref().map(|sound| ("sound".to_owned(), json!(sound))));
                keys.extend(own.image.as_ref().map(|image| picture(platform, image)));
            }
            if !keys.is_empty() {
                notification.insert(platform.to_owned(), keys.into());
            }
        }
        if let Some(url) = &self.url {
            notification.insert("actions".to_owned(), json!({"open": {"type": "url", "content": url}}));
        }
        if let Some(buttons) = &self.buttons {
            notification.insert("interactive".to_owned(), json!({"type": buttons}));
        }
        notification
    }
}

/// Where a platform has its picture.
pub(super) fn picture(platform: &str, url: &str) -> (String, Value) {
    let (key, value) = match platform {
        "ios" => ("media_attachment", json!({"url": url})),
        "web" => ("image", json!({"url": url})),
        _ => ("style", json!({"type": "big_picture", "big_picture": url})),
    };
    (key.to_owned(), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(form: &str) -> Value {
        Content::read(&Fields::parse(form)).parts().into()
    }

    #[test]
    fn platforms_differ_and_languages_repeat_what_is_no_text() {
        let form = "title=Hi&text=There&ios_title=Hello&ios_sound=bell&web_image=https%3A%2F%2Fa.example%2Fb.png\
                    &buttons=ua_shop_now&lang0=de-at&ltitle0=&ltext0=Dort&lang1=&ltext1=x";
        let web = json!({"title": "Hi", "image": {"url": "https://a.example/b.png"}});
        let titled = |ios: &str| {
            json!({
                "ios": {"title": ios, "sound": "bell"}, "android": {"title": "Hi"}, "amazon": {"title": "Hi"}, "web": web,
                "interactive": {"type": "ua_shop_now"},
            })
        };
        let (mut plain, mut german) = (titled("Hello"), titled("Hi"));
        (plain["alert"], german["alert"]) = (json!("There"), json!("Dort"));
        let localization = json!({"language": "de", "country": "AT", "notification": german});
        assert_eq!(parts(form), json!({"notification": plain, "localizations": [localization]}));
    }

    #[test]
    fn pictures_are_where_each_platform_has_them() {
        let image = |platform: &str| parts(&format!("{platform}_image=u"))["notification"][platform].clone();
        assert_eq!(image("ios"), json!({"media_attachment": {"url": "u"}}));
        assert_eq!(image("android"), json!({"style": {"type": "big_picture", "big_picture": "u"}}));
        assert_eq!(image("web"), json!({"image": {"url": "u"}}));
    }

    #[test]
    fn what_is_missing_is_said() {
        let check = |form: &str| Content::read(&Fields::parse(form)).check().is_ok();
        assert!(check("text=x") && check("inbox_title=a&inbox_body=b") && check("text=x&lang0=de&ltext0=y"));
        assert!(!check("") && !check("text=x&lang0=de&ltext0=") && !check("text=x&inbox_title=a"));
        assert_eq!(parts("inbox_title=a&inbox_body=b"), json!({"message": {"title": "a", "body": "b"}}));
    }
}
