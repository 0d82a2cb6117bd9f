//! The WNS override: exactly one of the kinds of Windows notification.

mod binding;
mod values;

use serde::Serialize;

use crate::json::At;

pub use binding::{Binding, Tile, Toast, ToastAudio};
pub use values::{CachePolicy, Glyph, ToastDuration, ToastSound, WnsBadge};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WnsOverride {
    #[serde(flatten)]
    pub content: WnsContent,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_policy: Option<CachePolicy>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WnsContent {
    Alert(String),
    Toast(Toast),
    Tile(Tile),
    Badge(WnsBadge),
    /// Data for the app; Windows hands it over without showing anything.
    Raw(String),
}

impl WnsOverride {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let kinds = ["alert", "toast", "tile", "badge", "raw"].iter().filter(|key| fields.has(key)).count();
        let alert = fields.optional("alert", At::any_text).map(WnsContent::Alert);
        let toast = fields.optional("toast", Toast::parse).map(WnsContent::Toast);
        let tile = fields.optional("tile", Tile::parse).map(WnsContent::Tile);
        let badge = fields.optional("badge", WnsBadge::parse).map(WnsContent::Badge);
        let raw = fields.optional("raw", |raw| raw.text(1..=usize::MAX)).map(WnsContent::Raw);
        let cache_policy = fields.optional("cache_policy", CachePolicy::parse);
        fields.finish();
        if kinds != 1 {
            return at.invalid("Exactly one of 'alert', 'toast', 'tile', 'badge' and 'raw' must be given.");
        }
        Some(Self { content: alert.or(toast).or(tile).or(badge).or(raw)?, cache_policy })
    }
}

#[cfg(test)]
mod tests;
