//! Live Activities: content that stays on the lock screen and changes by push.

use serde::Serialize;
use serde_json::{Map, Value};

use super::ApnsPriority;
use crate::json::At;
use crate::payload::decimal::Decimal;
use crate::payload::live_event::{LiveEvent, app_object, epoch_seconds};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveActivity {
    pub name: String,
    pub event: LiveEvent,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alert: Option<LiveActivityAlert>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_state: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<ApnsPriority>,
    /// Unlike the score of a notification, this may exceed 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance_score: Option<Decimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale_date: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dismissal_date: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes_type: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LiveActivityAlert {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sound: Option<String>,
}

impl LiveActivity {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let name = fields.required("name", |name| name.text(1..=usize::MAX));
        let event = fields.required("event", LiveEvent::parse);
        let alert = fields.optional("alert", LiveActivityAlert::parse);
        let content_state = fields.optional("content_state", app_object);
        let priority = fields.optional("priority", ApnsPriority::parse);
        let relevance_score =
            fields.optional("relevance_score", |score| Decimal::parse(score, 0.0..=f64::from(i32::MAX)));
        let stale_date = fields.optional("stale_date", epoch_seconds);
        let dismissal_date = fields.optional("dismissal_date", epoch_seconds);
        let timestamp = fields.optional("timestamp", epoch_seconds);
        let attributes = fields.optional("attributes", app_object);
        let attributes_type = fields.optional("attributes_type", |name| name.text(1..=usize::MAX));
        fields.finish();
        Some(Self {
            name: name?,
            event: event?,
            alert,
            content_state,
            priority,
            relevance_score,
            stale_date,
            dismissal_date,
            timestamp,
            attributes,
            attributes_type,
        })
    }
}

impl LiveActivityAlert {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let alert = Self {
            title: fields.optional("title", At::any_text),
            body: fields.optional("body", At::any_text),
            sound: fields.optional("sound", At::any_text),
        };
        fields.finish();
        Some(alert)
    }
}
