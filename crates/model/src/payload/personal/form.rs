//! The form that a text must have once it is filled in.

use personalization::{Target, Unrenderable};

use crate::payload::http_url::HttpUrl;
use crate::payload::message::Icon;
use crate::template::Surroundings;

/// What a text has to be. Such a text varies as a whole, so that it can be judged for each device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    Any,
    HttpUrl,
    Icon,
}

/// Keys whose text is a URL of the type [`HttpUrl`].
const HTTP_URLS: [&str; 2] = ["url", "fallback_url"];
/// Keys whose text is a URL, if it looks like one; of actions also by their names on devices.
const URLS: [&str; 10] = [
    "url",
    "content",
    "media_attachment",
    "icon",
    "big_picture",
    "background_image",
    "^u",
    "open_external_url_action",
    "^d",
    "deep_link_action",
];

impl Form {
    /// By the place of the text.
    pub(super) fn of(key: &str, around: Surroundings) -> Self {
        match key {
            _ if around.is_free_form() => Self::Any,
            "list_icon" => Self::Icon,
            key if HTTP_URLS.contains(&key) => Self::HttpUrl,
            _ => Self::Any,
        }
    }

    /// What a text of this form is filled in as.
    pub(super) fn target(self, text: &str, key: &str, around: Surroundings) -> Target {
        let looks_like_url = || text.split("{{").next().is_some_and(|beginning| beginning.contains("://"));
        match self {
            Self::HttpUrl | Self::Icon => Target::WholeUrl,
            Self::Any if around.is_html(key) => Target::Html,
            Self::Any if URLS.contains(&key) && looks_like_url() => Target::Url,
            Self::Any => Target::Text,
        }
    }

    /// Refuses a text that was filled in and is not of this form.
    pub(crate) fn judge(self, text: &str) -> Result<(), Unrenderable> {
        let complaint = match self {
            Self::Any => None,
            Self::HttpUrl => HttpUrl::complaint(text),
            Self::Icon => Icon::complaint(text),
        };
        complaint.map_or(Ok(()), |why| Err(Unrenderable::NotAUrl(why)))
    }
}
