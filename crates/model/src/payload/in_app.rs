//! The in-app message of a push: a banner shown the next time the app is open.

use super::actions::Actions;
use super::color::Color;
use super::expiry::Expiry;
use super::extra::JsonExtra;
use super::interactive::Interactive;
use super::notification::on_buttons;
use crate::json::body::{Body, Words};

/// A banner that is shown the next time the app is open.
#[derive(Clone, Debug, PartialEq, Body)]
pub struct InApp {
    /// The text of the banner.
    pub alert: String,
    /// How it is shown.
    pub display_type: DisplayType,
    /// Where it is shown, for how long, and in which colors.
    pub display: Option<Display>,
    /// When the app should no longer show it.
    pub expiry: Option<Expiry>,
    /// What a tap does.
    pub actions: Option<Actions>,
    /// The buttons.
    pub interactive: Option<Interactive>,
    /// Values for the app, by name.
    pub extra: Option<JsonExtra>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum DisplayType {
    Banner,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct Display {
    /// At the bottom when not given.
    pub position: Option<Position>,
    /// Seconds; 15 when not given, 0 for a banner that stays.
    #[body(range = 0..=u32::MAX)]
    pub duration: Option<u32>,
    /// The color of the banner.
    pub primary_color: Option<Color>,
    /// The color of the text.
    pub secondary_color: Option<Color>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Position {
    Top,
    Bottom,
}

impl InApp {
    /// Its actions with their paths below it.
    pub(super) fn all_actions(&self) -> Vec<(String, &Actions)> {
        let on_tap = self.actions.iter().map(|actions| ("actions".to_owned(), actions));
        let buttons = self.interactive.iter().flat_map(|interactive| on_buttons("interactive", interactive));
        on_tap.chain(buttons).collect()
    }
}
