//! The in-app message of a push: a banner shown the next time the app is open.

use serde::Serialize;

use super::actions::Actions;
use super::color::Color;
use super::expiry::Expiry;
use super::extra::{self, JsonExtra};
use super::interactive::Interactive;
use super::notification::on_buttons;
use crate::json::At;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InApp {
    pub alert: String,
    pub display_type: DisplayType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<Display>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiry: Option<Expiry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<Actions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactive: Option<Interactive>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<JsonExtra>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DisplayType {
    Banner,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Display {
    /// At the bottom when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// Seconds; 15 when not given, 0 for a banner that stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_color: Option<Color>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secondary_color: Option<Color>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    Top,
    Bottom,
}

impl InApp {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let alert = fields.required("alert", At::any_text);
        let display_type = fields.required("display_type", |at| at.choice(&[("banner", DisplayType::Banner)]));
        let display = fields.optional("display", Display::parse);
        let expiry = fields.optional("expiry", Expiry::parse);
        let actions = fields.optional("actions", Actions::parse);
        let interactive = fields.optional("interactive", Interactive::parse);
        let extra = fields.optional("extra", extra::json);
        fields.finish();
        Some(Self { alert: alert?, display_type: display_type?, display, expiry, actions, interactive, extra })
    }
}

impl InApp {
    /// Its actions with their paths below it.
    pub(super) fn all_actions(&self) -> Vec<(String, &Actions)> {
        let on_tap = self.actions.iter().map(|actions| ("actions".to_owned(), actions));
        let buttons = self.interactive.iter().flat_map(|interactive| on_buttons("interactive", interactive));
        on_tap.chain(buttons).collect()
    }
}

impl Display {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let position =
            fields.optional("position", |at| at.choice(&[("top", Position::Top), ("bottom", Position::Bottom)]));
        let duration = fields.optional("duration", |at| at.integer(0..=i64::from(u32::MAX)));
        let primary_color = fields.optional("primary_color", Color::parse);
        let secondary_color = fields.optional("secondary_color", Color::parse);
        fields.finish();
        let duration = duration.and_then(|seconds| u32::try_from(seconds).ok());
        Some(Self { position, duration, primary_color, secondary_color })
    }
}
