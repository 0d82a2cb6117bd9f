//! Toasts and tiles: Windows templates and their content.

use super::{ToastDuration, ToastSound};
use crate::json::OneOrMany;
use crate::json::body::Body;
use crate::limits;

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct Toast {
    pub binding: Binding,
    pub duration: Option<ToastDuration>,
    pub audio: Option<ToastAudio>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct ToastAudio {
    pub sound: ToastSound,
    #[body(rename = "loop")]
    pub repeats: Option<bool>,
}

/// One binding for each size of the tile.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct Tile {
    #[body(length = 1..=limits::WNS_BINDINGS)]
    pub binding: OneOrMany<Binding>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct Binding {
    /// The name of a Windows template, such as `ToastText01`.
    #[body(length = 1..=usize::MAX)]
    pub template: String,
    #[body(range = 1..=i64::from(u16::MAX))]
    pub version: Option<i64>,
    /// The template for devices that do not know the first.
    pub fallback: Option<String>,
    pub lang: Option<String>,
    pub base_uri: Option<String>,
    pub add_image_query: Option<bool>,
    pub image: Option<OneOrMany<String>>,
    pub text: Option<OneOrMany<String>>,
}
