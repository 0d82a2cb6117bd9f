//! The body and headers of a change of a Live Activity. The library on the device never sees it, so it has no keys of ours.

use http::HeaderMap;
use model::payload::decimal::Decimal;
use model::payload::ios::{ApnsPriority, IosOverride, LiveActivity, LiveActivityAlert};
use model::payload::live_event::LiveEvent;
use serde::Serialize;
use serde_json::{Map, Value};

use super::common_headers;
use crate::form::Form;
use crate::rendering::Rendering;

/// Apple's word for such messages.
pub(super) const PUSH_TYPE: &str = "liveactivity";

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Aps<'a> {
    /// iOS ignores what is older than what it shows.
    timestamp: i64,
    event: LiveEvent,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_state: Option<&'a Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stale_date: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dismissal_date: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relevance_score: Option<&'a Decimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alert: Option<&'a LiveActivityAlert>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes: Option<&'a Map<String, Value>>,
}

pub(super) fn body(rendering: &Rendering<'_>, activity: &LiveActivity) -> Form {
    let aps = Aps {
        timestamp: activity.timestamp.unwrap_or(rendering.sent_at.seconds()),
        event: activity.event,
        content_state: activity.content_state.as_ref(),
        stale_date: activity.stale_date,
        dismissal_date: activity.dismissal_date,
        relevance_score: activity.relevance_score.as_ref(),
        alert: activity.alert.as_ref(),
        attributes_type: activity.attributes_type.as_deref(),
        attributes: activity.attributes.as_ref(),
    };
    Form::default().text("{\"aps\":{").members(&aps).text("}}")
}

/// No collapse id: each message replaces the content as a whole.
pub(super) fn headers(rendering: &Rendering<'_>, ios: &IosOverride, activity: &LiveActivity) -> HeaderMap {
    common_headers(rendering, ios, PUSH_TYPE, activity.priority.unwrap_or(ApnsPriority::Immediate))
}
