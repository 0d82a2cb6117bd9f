//! The alert of an iOS notification: a text, or Apple's object of texts and localization keys.

use schemars::JsonSchema;
use serde::Serialize;

use crate::json::body::{Body, Read};
use crate::json::{At, Json};

/// A text, or an object of texts and localization keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Read, JsonSchema)]
#[serde(untagged)]
pub enum IosAlert {
    Text(String),
    Object(Box<AlertObject>),
}

/// At least one of the keys is given. The names are Apple's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Body)]
#[body(rename_all = "kebab-case", check = AlertObject::refuse_empty)]
pub struct AlertObject {
    // Apple documents null for some of these keys, with the meaning of leaving them out.
    /// Shown above the text.
    #[body(nullable)]
    pub title: Option<String>,
    /// Shown between the title and the text.
    #[body(nullable)]
    pub subtitle: Option<String>,
    /// The text.
    pub body: Option<String>,
    /// The key of the title in the localized texts of the app.
    #[body(nullable)]
    pub title_loc_key: Option<String>,
    /// What fills the gaps of that title.
    #[body(nullable)]
    pub title_loc_args: Option<Vec<String>>,
    /// The key of the subtitle in the localized texts of the app.
    #[body(nullable)]
    pub subtitle_loc_key: Option<String>,
    /// What fills the gaps of that subtitle.
    #[body(nullable)]
    pub subtitle_loc_args: Option<Vec<String>>,
    /// The key of the text in the localized texts of the app.
    pub loc_key: Option<String>,
    /// What fills the gaps of that text.
    pub loc_args: Option<Vec<String>>,
    /// The key of the label of the button that opens the app.
    #[body(nullable)]
    pub action_loc_key: Option<String>,
    /// The file that is shown while the app starts.
    pub launch_image: Option<String>,
    /// The text for the summary of a group of notifications.
    pub summary_arg: Option<String>,
    /// By how much the notification raises the count in that summary.
    #[body(range = 0..=i64::from(i32::MAX))]
    pub summary_arg_count: Option<i64>,
}

impl IosAlert {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        match at.json() {
            Json::String(text) => Some(IosAlert::Text(text.clone())),
            Json::Object(_) => AlertObject::parse(at).map(|object| IosAlert::Object(Box::new(object))),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => {
                at.invalid("An alert is a string, or an object with keys such as 'title' and 'body'.")
            }
        }
    }

    /// Adds a title and a subtitle unless the alert has its own.
    pub(super) fn with_titles(self, title: Option<&str>, subtitle: Option<&str>) -> Self {
        if title.is_none() && subtitle.is_none() {
            return self;
        }
        let mut object = match self {
            IosAlert::Text(body) => Box::new(AlertObject { body: Some(body), ..AlertObject::default() }),
            IosAlert::Object(object) => object,
        };
        if object.title.is_none() && object.title_loc_key.is_none() {
            object.title = title.map(str::to_owned);
        }
        if object.subtitle.is_none() && object.subtitle_loc_key.is_none() {
            object.subtitle = subtitle.map(str::to_owned);
        }
        IosAlert::Object(object)
    }
}

impl AlertObject {
    fn refuse_empty(self, at: &At<'_>) -> Option<Self> {
        match self == Self::default() {
            true => at.invalid("An alert object needs at least one key, such as 'body'."),
            false => Some(self),
        }
    }
}
