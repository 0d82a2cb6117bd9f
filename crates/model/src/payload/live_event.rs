//! Events of content that lives on a device's screen: iOS Live Activities and Android Live Updates share them.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::json::At;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LiveEvent {
    Start,
    Update,
    End,
}

impl LiveEvent {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        at.choice(&[("start", LiveEvent::Start), ("update", LiveEvent::Update), ("end", LiveEvent::End)])
    }
}

/// Seconds since 1970.
pub(super) fn epoch_seconds(at: &At<'_>) -> Option<i64> {
    at.integer(0..=i64::from(u32::MAX))
}

/// An object whose keys only the app understands.
pub(super) fn app_object(at: &At<'_>) -> Option<Map<String, Value>> {
    at.object()?;
    match at.json().to_value() {
        Value::Object(object) => Some(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}
