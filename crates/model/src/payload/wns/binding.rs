//! Toasts and tiles: Windows templates and their content.

use serde::Serialize;

use super::{ToastDuration, ToastSound};
use crate::json::{At, OneOrMany};
use crate::limits;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Toast {
    pub binding: Binding,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<ToastDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<ToastAudio>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToastAudio {
    pub sound: ToastSound,
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub repeats: Option<bool>,
}

/// One binding for each size of the tile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tile {
    pub binding: OneOrMany<Binding>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Binding {
    /// The name of a Windows template, such as `ToastText01`.
    pub template: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// The template for devices that do not know the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub add_image_query: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<OneOrMany<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<OneOrMany<String>>,
}

impl Toast {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let binding = fields.required("binding", Binding::parse);
        let duration = fields.optional("duration", ToastDuration::parse);
        let audio = fields.optional("audio", ToastAudio::parse);
        fields.finish();
        Some(Self { binding: binding?, duration, audio })
    }
}

impl ToastAudio {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let sound = fields.required("sound", ToastSound::parse);
        let repeats = fields.optional("loop", At::boolean);
        fields.finish();
        Some(Self { sound: sound?, repeats })
    }
}

impl Tile {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let binding =
            fields.required("binding", |bindings| bindings.one_or_many(1..=limits::WNS_BINDINGS, Binding::parse));
        fields.finish();
        Some(Self { binding: binding? })
    }
}

impl Binding {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let texts = |at: &At<'_>| at.one_or_many(0..=usize::MAX, At::any_text);
        let template = fields.required("template", |name| name.text(1..=usize::MAX));
        let version = fields.optional("version", |version| version.integer(1..=i64::from(u16::MAX)));
        let fallback = fields.optional("fallback", At::any_text);
        let lang = fields.optional("lang", At::any_text);
        let base_uri = fields.optional("base_uri", At::any_text);
        let add_image_query = fields.optional("add_image_query", At::boolean);
        let image = fields.optional("image", texts);
        let text = fields.optional("text", texts);
        fields.finish();
        Some(Self { template: template?, version, fallback, lang, base_uri, add_image_query, image, text })
    }
}
