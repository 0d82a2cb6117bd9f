//! A picture, sound or film that an iOS notification shows.

use serde::Serialize;

use crate::json::At;
use crate::payload::decimal::Decimal;
use crate::payload::http_url::HttpUrl;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MediaAttachment {
    pub url: HttpUrl,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<MediaContent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<MediaOptions>,
}

/// Texts that replace those of the notification once the media has been fetched.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MediaContent {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subtitle: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MediaOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crop: Option<Crop>,
    /// Where in an animation the thumbnail is taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Decimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden: Option<bool>,
}

/// The part of the picture that makes the thumbnail; 1 is the whole width or height.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crop {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<Decimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<Decimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<Decimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<Decimal>,
}

impl MediaAttachment {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let url = fields.required("url", HttpUrl::parse);
        let content = fields.optional("content", MediaContent::parse);
        let options = fields.optional("options", MediaOptions::parse);
        fields.finish();
        Some(Self { url: url?, content, options })
    }
}

impl MediaContent {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let content = Self {
            title: fields.optional("title", At::any_text),
            subtitle: fields.optional("subtitle", At::any_text),
            body: fields.optional("body", At::any_text),
        };
        fields.finish();
        Some(content)
    }
}

impl MediaOptions {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let options = Self {
            crop: fields.optional("crop", Crop::parse),
            time: fields.optional("time", |time| Decimal::parse(time, 0.0..=f64::from(i32::MAX))),
            hidden: fields.optional("hidden", At::boolean),
        };
        fields.finish();
        Some(options)
    }
}

impl Crop {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let crop = Self {
            x: fields.optional("x", Decimal::parse_fraction),
            y: fields.optional("y", Decimal::parse_fraction),
            width: fields.optional("width", Decimal::parse_fraction),
            height: fields.optional("height", Decimal::parse_fraction),
        };
        fields.finish();
        Some(crop)
    }
}
