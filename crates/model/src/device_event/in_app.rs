//! Uploaded events about in-app messages.

use serde_json::Value;

use super::echo::Echo;
use super::loose::{self, Loose};
use crate::event::{Campaign, Expiration, ExpirationKind, Resolution, ResolutionKind};
use crate::limits;
use crate::time::UtcMillis;

/// Which in-app message an event is about.
#[derive(Clone, Debug, PartialEq)]
pub struct UploadedInApp {
    /// The id of the push that it came with, or the app's own name for it.
    pub id: String,
    pub campaigns: Option<Campaign>,
    /// Free-form: where in the app's messages this one stands.
    pub context: Option<Value>,
    pub echo: Echo,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq)]
pub enum InAppEnd {
    Resolved(Resolution),
    /// Without the push that took its place, which is named here if there is one.
    Expired(Expiration, Option<String>),
}

impl UploadedInApp {
    pub(super) fn read(data: &Loose<'_>) -> Option<Self> {
        let id = data.get("id")?;
        let campaigns = id.get("campaigns").and_then(campaign);
        let id = loose::text(&id).or_else(|| loose::text(id.get("message_id")?))?;
        Some(Self {
            id: loose::name(&id, limits::IN_APP_ID_CHARS)?,
            campaigns,
            context: data.get("context").filter(|context| !context.is_null()),
            echo: Echo::read(data, "conversion_metadata", "conversion_send_id"),
        })
    }
}

fn campaign(campaigns: &Value) -> Option<Campaign> {
    let categories = campaigns.get("categories")?.as_array()?;
    Some(Campaign { categories: categories.iter().filter_map(loose::text).collect() })
}

impl InAppEnd {
    /// `None` for an end that only newer libraries know.
    pub(super) fn read(data: &Loose<'_>) -> Option<Self> {
        let data = data.within("resolution")?;
        let resolved = |kind| {
            Some(InAppEnd::Resolved(Resolution {
                kind,
                duration: data.millis("display_time").unwrap_or(0),
                time_sent: None,
                button_id: data.text("button_id"),
                button_group: data.text("button_group"),
                button_description: data.text("button_description"),
            }))
        };
        let expired = |kind| {
            let time_expired = data.text("expiry").and_then(|text| UtcMillis::parse_api(&text)).map(UtcMillis::to_iso);
            let expiration = Expiration { kind, replacing_push: None, time_sent: None, time_expired };
            Some(InAppEnd::Expired(expiration, data.text("replacement_id")))
        };
        match data.text("type")?.as_str() {
            "button_click" => resolved(ResolutionKind::ButtonClick),
            "message_click" => resolved(ResolutionKind::MessageClick),
            "user_dismissed" => resolved(ResolutionKind::UserDismissed),
            "timed_out" => resolved(ResolutionKind::TimedOut),
            "replaced" => expired(ExpirationKind::Replaced),
            "expired" => expired(ExpirationKind::Expired),
            "direct_open" => expired(ExpirationKind::AlreadyDisplayed),
            _ => None,
        }
    }
}
