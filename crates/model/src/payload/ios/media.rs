//! A picture, sound or film that an iOS notification shows.

use crate::json::body::Body;
use crate::payload::decimal::Decimal;
use crate::payload::http_url::HttpUrl;

/// A picture, sound or film that the notification shows.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct MediaAttachment {
    pub url: HttpUrl,
    pub content: Option<MediaContent>,
    pub options: Option<MediaOptions>,
}

/// Texts that replace those of the notification once the media has been fetched.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct MediaContent {
    pub title: Option<String>,
    pub subtitle: Option<String>,
    pub body: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Body)]
pub struct MediaOptions {
    pub crop: Option<Crop>,
    /// Where in an animation the thumbnail is taken from.
    #[body(range = 0.0..=f64::from(i32::MAX))]
    pub time: Option<Decimal>,
    pub hidden: Option<bool>,
}

/// The part of the picture that makes the thumbnail; 1 is the whole width or height.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct Crop {
    #[body(range = 0.0..=1.0)]
    pub x: Option<Decimal>,
    #[body(range = 0.0..=1.0)]
    pub y: Option<Decimal>,
    #[body(range = 0.0..=1.0)]
    pub width: Option<Decimal>,
    #[body(range = 0.0..=1.0)]
    pub height: Option<Decimal>,
}
