//! The in-app messages that libraries draw by themselves: banners, modals, full screens and pages of HTML.

use schemars::json_schema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::json::At;
use crate::json::body::{Body, Read, Words};
use crate::limits;
use crate::payload::http_url::HttpUrl;

/// Seconds that a banner is shown for if nothing is said. Libraries have defaults of their own, each another one.
const BANNER_SECONDS: f64 = 15.0;

/// A text with its looks.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct TextInfo {
    #[body(length = 0..=limits::IN_APP_TEXT_CHARS)]
    pub text: String,
    pub color: Option<DisplayColor>,
    #[body(range = 1.0..=1000.0)]
    pub size: Option<f64>,
    pub alignment: Option<Alignment>,
    #[body(length = 0..=3)]
    pub style: Option<Vec<TextStyle>>,
    #[body(length = 0..=limits::REMOTE_DATA_ITEMS, each = 1..=limits::REMOTE_DATA_NAME_CHARS)]
    pub font_family: Option<Vec<String>>,
    #[body(length = 1..=limits::REMOTE_DATA_NAME_CHARS)]
    pub android_drawable_res_name: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Alignment {
    Left,
    Center,
    Right,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum TextStyle {
    Bold,
    Italic,
    Underline,
}

/// A color in the form `#rrggbb` or `#aarrggbb`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Read)]
#[body(schema = json_schema!({"type": "string", "pattern": "^#([0-9a-fA-F]{6}|[0-9a-fA-F]{8})$"}))]
pub struct DisplayColor(String);

#[derive(Clone, Debug, PartialEq, Body)]
pub struct InAppButton {
    #[body(length = 1..=100)]
    pub id: String,
    pub label: TextInfo,
    pub behavior: Option<ButtonBehavior>,
    /// Actions of the library by their names: `{"^u": "https://example.com"}`.
    pub actions: Option<Map<String, Value>>,
    pub background_color: Option<DisplayColor>,
    pub border_color: Option<DisplayColor>,
    #[body(range = 0.0..=1000.0)]
    pub border_radius: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum ButtonBehavior {
    Dismiss,
    /// The message is never shown again.
    Cancel,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct Media {
    pub url: HttpUrl,
    #[body(rename = "type")]
    pub kind: MediaType,
    /// For people who cannot see it.
    // Libraries before version 18 do not show a message without it.
    #[body(default, always)]
    pub description: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
#[words(name = "InAppMediaType")]
pub enum MediaType {
    Image,
    Video,
    Youtube,
    Vimeo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum ButtonLayout {
    Stacked,
    Joined,
    Separate,
}

#[derive(Clone, Debug, PartialEq, Body)]
#[body(check = Banner::check)]
pub struct Banner {
    pub heading: Option<TextInfo>,
    pub body: Option<TextInfo>,
    pub media: Option<Media>,
    #[body(length = 0..=2)]
    pub buttons: Option<Vec<InAppButton>>,
    pub button_layout: Option<ButtonLayout>,
    pub template: Option<BannerTemplate>,
    pub placement: Option<BannerPlacement>,
    pub background_color: Option<DisplayColor>,
    pub dismiss_button_color: Option<DisplayColor>,
    #[body(range = 0.0..=1000.0)]
    pub border_radius: Option<f64>,
    /// What a tap does.
    pub actions: Option<Map<String, Value>>,
    /// Seconds. Devices are sent it in the unit that their library counts in.
    #[body(range = 1.0..=120.0, default = BANNER_SECONDS, always)]
    pub duration: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum BannerTemplate {
    MediaLeft,
    MediaRight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum BannerPlacement {
    Top,
    Bottom,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum MediaTemplate {
    HeaderMediaBody,
    MediaHeaderBody,
    HeaderBodyMedia,
}

#[derive(Clone, Debug, PartialEq, Body)]
#[body(check = Modal::check)]
pub struct Modal {
    pub heading: Option<TextInfo>,
    pub body: Option<TextInfo>,
    pub media: Option<Media>,
    pub footer: Option<InAppButton>,
    #[body(length = 0..=2)]
    pub buttons: Option<Vec<InAppButton>>,
    pub button_layout: Option<ButtonLayout>,
    pub template: Option<MediaTemplate>,
    pub background_color: Option<DisplayColor>,
    pub dismiss_button_color: Option<DisplayColor>,
    #[body(range = 0.0..=1000.0)]
    pub border_radius: Option<f64>,
    pub allow_fullscreen_display: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Body)]
#[body(check = Fullscreen::check)]
pub struct Fullscreen {
    pub heading: Option<TextInfo>,
    pub body: Option<TextInfo>,
    pub media: Option<Media>,
    pub footer: Option<InAppButton>,
    /// More than two are stacked.
    #[body(length = 0..=5)]
    pub buttons: Option<Vec<InAppButton>>,
    pub button_layout: Option<ButtonLayout>,
    pub template: Option<MediaTemplate>,
    pub background_color: Option<DisplayColor>,
    pub dismiss_button_color: Option<DisplayColor>,
}

/// A page, which can call the app.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct Html {
    #[body(read = secure_url, like = HttpUrl)]
    pub url: HttpUrl,
    #[body(range = 0..=u32::MAX)]
    pub width: Option<u32>,
    #[body(range = 0..=u32::MAX)]
    pub height: Option<u32>,
    pub aspect_lock: Option<bool>,
    pub require_connectivity: Option<bool>,
    pub background_color: Option<DisplayColor>,
    pub dismiss_button_color: Option<DisplayColor>,
    #[body(range = 0.0..=1000.0)]
    pub border_radius: Option<f64>,
    pub allow_fullscreen_display: Option<bool>,
    pub force_fullscreen_display: Option<bool>,
}

impl DisplayColor {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let text = at.string()?;
        let digits = text.strip_prefix('#').unwrap_or_default();
        if [6, 8].contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Some(Self(text.to_owned()));
        }
        at.invalid("A color has the form #rrggbb or #aarrggbb, such as #0a6fb3.")
    }
}

impl Banner {
    fn check(self, at: &At<'_>) -> Option<Self> {
        has_text(at, [&self.heading, &self.body])?;
        Some(self)
    }
}

impl Modal {
    fn check(self, at: &At<'_>) -> Option<Self> {
        has_text(at, [&self.heading, &self.body])?;
        Some(self)
    }
}

impl Fullscreen {
    fn check(self, at: &At<'_>) -> Option<Self> {
        has_text(at, [&self.heading, &self.body])?;
        Some(self)
    }
}

/// Libraries do not show a message without any text.
fn has_text(at: &At<'_>, texts: [&Option<TextInfo>; 2]) -> Option<()> {
    if texts.iter().any(|text| text.as_ref().is_some_and(|text| !text.text.is_empty())) {
        return Some(());
    }
    at.invalid("Devices show this only with a 'heading' or a 'body' whose text is not empty.")
}

fn secure_url(at: &At<'_>) -> Option<HttpUrl> {
    let url = HttpUrl::parse(at)?;
    let is_secure = url.as_str().get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
    if is_secure { Some(url) } else { at.invalid("Devices open only pages whose URL begins with https://.") }
}
