//! In-app messages as the device libraries of version 20 read them: a schedule that lacks what one of them demands is never shown
//! there.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::answers::Date;

#[derive(Deserialize)]
pub(in crate::sdk) struct Schedules {
    pub(in crate::sdk) in_app_messages: Vec<Schedule>,
    pub(in crate::sdk) frequency_constraints: Vec<Constraint>,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Schedule {
    pub(in crate::sdk) id: String,
    #[serde(rename = "created")]
    _created: Date,
    pub(in crate::sdk) triggers: Vec<Trigger>,
    #[serde(flatten)]
    pub(in crate::sdk) content: Content,
    #[serde(default)]
    pub(in crate::sdk) frequency_constraint_ids: Vec<String>,
    #[serde(rename = "limit")]
    _limit: Option<u32>,
    #[serde(rename = "priority")]
    _priority: Option<i32>,
    #[serde(rename = "interval")]
    _interval_seconds: Option<u64>,
    #[serde(rename = "start")]
    _start: Option<Date>,
    #[serde(rename = "end")]
    _end: Option<Date>,
    #[serde(rename = "delay")]
    _delay: Option<Delay>,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Trigger {
    #[serde(rename = "id")]
    _id: String,
    #[serde(rename = "type")]
    _kind: TriggerKind,
    #[serde(rename = "goal")]
    _goal: f64,
}

/// Those of all generations and the compound ones.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum TriggerKind {
    Foreground,
    Background,
    AppInit,
    Screen,
    Version,
    ActiveSession,
    RegionEnter,
    RegionExit,
    CustomEventCount,
    CustomEventValue,
    FeatureFlagInteraction,
    And,
    Or,
    Chain,
}

#[derive(Deserialize)]
struct Delay {
    #[serde(rename = "seconds")]
    _seconds: Option<f64>,
    #[serde(rename = "app_state")]
    _state: Option<AppState>,
    /// Apple's library demands an array.
    #[serde(rename = "screen")]
    _screen: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum AppState {
    Foreground,
    Background,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::sdk) enum Content {
    InAppMessage {
        message: Message,
    },
    Actions {
        actions: Map<String, Value>,
    },
    Deferred {
        #[serde(rename = "deferred")]
        _deferred: Deferred,
    },
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Deferred {
    #[serde(rename = "url")]
    _url: String,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Message {
    #[serde(flatten)]
    pub(in crate::sdk) display: Display,
}

#[derive(Deserialize)]
#[serde(tag = "display_type", content = "display", rename_all = "snake_case")]
pub(in crate::sdk) enum Display {
    Banner(Banner),
    Modal(Parts),
    Fullscreen(Parts),
    Layout { layout: Layout },
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Banner {
    #[serde(flatten)]
    pub(in crate::sdk) parts: Parts,
    /// Seconds for Apple's library, milliseconds for Android's.
    pub(in crate::sdk) duration: f64,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Parts {
    heading: Option<Text>,
    body: Option<Text>,
    #[serde(default)]
    pub(in crate::sdk) buttons: Vec<Button>,
}

impl Parts {
    /// A message without any text is not shown.
    pub(in crate::sdk) fn has_text(&self) -> bool {
        [&self.heading, &self.body].into_iter().flatten().any(|text| !text.text.is_empty())
    }
}

#[derive(Deserialize)]
struct Text {
    text: String,
    #[serde(rename = "size")]
    _size: Option<f64>,
    #[serde(default, rename = "style")]
    _style: Vec<TextStyle>,
    #[serde(default, rename = "font_family")]
    _fonts: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum TextStyle {
    Bold,
    Italic,
    Underline,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Button {
    pub(in crate::sdk) id: String,
    #[serde(rename = "label")]
    _label: Text,
    #[serde(rename = "behavior")]
    _behavior: Option<Behavior>,
    #[serde(rename = "actions")]
    _actions: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Behavior {
    Dismiss,
    Cancel,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Layout {
    pub(in crate::sdk) version: u32,
    #[serde(rename = "presentation")]
    _presentation: Map<String, Value>,
    #[serde(rename = "view")]
    _view: Map<String, Value>,
}

#[derive(Deserialize)]
pub(in crate::sdk) struct Constraint {
    pub(in crate::sdk) id: String,
    #[serde(rename = "range")]
    _range: u32,
    #[serde(rename = "boundary")]
    _boundary: u32,
    #[serde(rename = "period")]
    _period: Period,
}

/// Apple's library takes a week for six days, so there is none.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Period {
    Seconds,
    Minutes,
    Hours,
    Days,
    Months,
    Years,
}
