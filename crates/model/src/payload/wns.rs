//! The WNS override: exactly one of the kinds of Windows notification.

mod binding;
mod values;

use crate::json::body::Body;

pub use binding::{Binding, Tile, Toast, ToastAudio};
pub use values::{CachePolicy, Glyph, ToastDuration, ToastSound, WnsBadge};

/// Content for Windows devices: exactly one kind of notification.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct WnsOverride {
    #[body(flatten)]
    pub content: WnsContent,
    /// Whether it waits for a device that is off.
    pub cache_policy: Option<CachePolicy>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(one_of = "Exactly one of 'alert', 'toast', 'tile', 'badge' and 'raw' must be given.")]
pub enum WnsContent {
    /// A text, shown as a toast.
    Alert(String),
    /// A toast with pictures and sound.
    Toast(Toast),
    /// Changes the tile of the app.
    Tile(Tile),
    /// Changes the badge of the app.
    Badge(WnsBadge),
    /// Data for the app; Windows hands it over without showing anything.
    #[body(length = 1..=usize::MAX)]
    Raw(String),
}

#[cfg(test)]
mod tests;
