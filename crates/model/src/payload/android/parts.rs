//! The objects inside an Android override: lock screen, watch and Live Update.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::json::At;
use crate::limits;
use crate::payload::interactive::Interactive;
use crate::payload::live_event::{LiveEvent, app_object, epoch_seconds};

/// The text that a locked screen shows instead of the notification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PublicNotification {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alert: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// The content for a watch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wearable {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_pages: Option<Vec<WearablePage>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactive: Option<Interactive>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WearablePage {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alert: Option<String>,
}

/// Content that stays on the screen and changes by push.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveUpdate {
    pub name: String,
    pub event: LiveEvent,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_state: Option<Map<String, Value>>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dismissal_date: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
}

impl PublicNotification {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let public = Self {
            title: fields.optional("title", At::any_text),
            alert: fields.optional("alert", At::any_text),
            summary: fields.optional("summary", At::any_text),
        };
        fields.finish();
        Some(public)
    }
}

impl Wearable {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let wearable = Self {
            background_image: fields.optional("background_image", |url| url.text(1..=usize::MAX)),
            extra_pages: fields
                .optional("extra_pages", |pages| pages.array(0..=limits::WEARABLE_PAGES, WearablePage::parse)),
            interactive: fields.optional("interactive", Interactive::parse),
        };
        fields.finish();
        Some(wearable)
    }
}

impl WearablePage {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let page =
            Self { title: fields.optional("title", At::any_text), alert: fields.optional("alert", At::any_text) };
        fields.finish();
        Some(page)
    }
}

impl LiveUpdate {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let name = fields.required("name", |name| name.text(1..=usize::MAX));
        let event = fields.required("event", LiveEvent::parse);
        let content_state = fields.optional("content_state", app_object);
        let kind = fields.optional("type", |kind| kind.text(1..=usize::MAX));
        let dismissal_date = fields.optional("dismissal_date", epoch_seconds);
        let timestamp = fields.optional("timestamp", epoch_seconds);
        fields.finish();
        Some(Self { name: name?, event: event?, content_state, kind, dismissal_date, timestamp })
    }
}
