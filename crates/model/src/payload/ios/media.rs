//! A picture, sound or film that an iOS notification shows.

use crate::json::body::Body;
use crate::payload::decimal::Decimal;
use crate::payload::http_url::HttpUrl;

/// A picture, sound or film that the notification shows.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct MediaAttachment {
    /// Where the file is fetched.
    pub url: HttpUrl,
    /// Texts to show with it.
    pub content: Option<MediaContent>,
    /// How it is shown.
    pub options: Option<MediaOptions>,
}

/// Texts that replace those of the notification once the media has been fetched.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct MediaContent {
    /// In place of the title.
    pub title: Option<String>,
    /// In place of the subtitle.
    pub subtitle: Option<String>,
    /// In place of the text.
    pub body: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Body)]
pub struct MediaOptions {
    /// The part that makes the thumbnail.
    pub crop: Option<Crop>,
    /// Where in an animation the thumbnail is taken from.
    #[body(range = 0.0..=f64::from(i32::MAX))]
    pub time: Option<Decimal>,
    /// Whether the thumbnail is hidden.
    pub hidden: Option<bool>,
}

/// The part of the picture that makes the thumbnail; 1 is the whole width or height.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct Crop {
    /// The left edge.
    #[body(range = 0.0..=1.0)]
    pub x: Option<Decimal>,
    /// The top edge.
    #[body(range = 0.0..=1.0)]
    pub y: Option<Decimal>,
    /// The width of the part.
    #[body(range = 0.0..=1.0)]
    pub width: Option<Decimal>,
    /// The height of the part.
    #[body(range = 0.0..=1.0)]
    pub height: Option<Decimal>,
}
