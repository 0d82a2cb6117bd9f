//! The message of an in-app message: how it is shown, and what comes with it.

use serde_json::{Map, Value};

use super::display::{Banner, Fullscreen, Html, Modal};
use super::scene::Layout;
use crate::json::At;
use crate::json::body::{Body, Words};
use crate::limits;

/// What is shown.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(name = "ShownMessage", ignored = ["source"])]
pub struct Message {
    #[body(flatten)]
    pub shown: Shown,
    #[body(length = 0..=1024)]
    pub name: Option<String>,
    /// Values for the app, by name.
    pub extra: Option<Map<String, Value>>,
    /// Actions of the library that run when the message is shown.
    pub actions: Option<Map<String, Value>>,
    pub display_behavior: Option<DisplayBehavior>,
    /// Whether devices tell what becomes of it; they do, if nothing is said.
    pub reporting_enabled: Option<bool>,
    /// The language that the message is in; devices tell it in their events.
    pub rendered_locale: Option<MessageLocale>,
}

/// The form of the message, and its content.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(tag = "display_type")]
pub enum Shown {
    Banner {
        display: Banner,
    },
    Modal {
        display: Modal,
    },
    Fullscreen {
        display: Fullscreen,
    },
    Html {
        display: Html,
    },
    /// A scene.
    Layout {
        display: LayoutDisplay,
    },
    /// Something that the app draws by itself.
    Custom {
        display: Map<String, Value>,
    },
}

#[derive(Clone, Debug, PartialEq, Body)]
pub struct LayoutDisplay {
    pub layout: Layout,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum DisplayBehavior {
    /// One after the other.
    Default,
    /// Without waiting for others.
    Immediate,
}

/// A language, a country, or both.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Body)]
#[body(check = MessageLocale::check)]
pub struct MessageLocale {
    #[body(length = 2..=limits::REMOTE_DATA_NAME_CHARS)]
    pub language: Option<String>,
    #[body(length = 2..=limits::REMOTE_DATA_NAME_CHARS)]
    pub country: Option<String>,
}

impl MessageLocale {
    fn check(self, at: &At<'_>) -> Option<Self> {
        if self.language.is_none() && self.country.is_none() {
            return at.invalid("Give a 'language', a 'country', or both.");
        }
        Some(self)
    }
}
