//! The alert of an iOS notification: a text, or Apple's object of texts and localization keys.

use serde::Serialize;

use crate::json::{At, Json};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum IosAlert {
    Text(String),
    Object(Box<AlertObject>),
}

/// At least one of the keys is given. The names are Apple's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct AlertObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subtitle: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title_loc_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title_loc_args: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subtitle_loc_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subtitle_loc_args: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loc_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loc_args: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action_loc_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launch_image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_arg: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
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
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let args = |at: &At<'_>| at.array(0..=usize::MAX, At::any_text);
        // Apple documents null for some of these keys, with the meaning of leaving them out.
        let object = Self {
            title: fields.nullable("title", At::any_text),
            subtitle: fields.nullable("subtitle", At::any_text),
            body: fields.optional("body", At::any_text),
            title_loc_key: fields.nullable("title-loc-key", At::any_text),
            title_loc_args: fields.nullable("title-loc-args", args),
            subtitle_loc_key: fields.nullable("subtitle-loc-key", At::any_text),
            subtitle_loc_args: fields.nullable("subtitle-loc-args", args),
            loc_key: fields.optional("loc-key", At::any_text),
            loc_args: fields.optional("loc-args", args),
            action_loc_key: fields.nullable("action-loc-key", At::any_text),
            launch_image: fields.optional("launch-image", At::any_text),
            summary_arg: fields.optional("summary-arg", At::any_text),
            summary_arg_count: fields.optional("summary-arg-count", |count| count.integer(0..=i64::from(i32::MAX))),
        };
        fields.finish();
        if object == Self::default() {
            return at.invalid("An alert object needs at least one key, such as 'body'.");
        }
        Some(object)
    }
}
