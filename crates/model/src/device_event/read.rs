//! From the JSON of one event to its content.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::data::{Data, Text};
use super::echo::Echo;
use super::in_app::{InAppEnd, UploadedInApp};
use super::interaction::{self, UploadedInteraction};
use super::loose::{self, Loose};
use super::{AppOpening, Button, Content, DeviceEvent, PushReceipt, ReceiptKind, UploadedCustom, UploadedLocation};
use crate::event::{Custom, CustomSource, Region, RegionAction, RegionSource, ScreenViewed, Unrecognized};
use crate::ids::{EventId, Id};
use crate::limits;
use crate::place::Point;
use crate::problem::Problems;
use crate::time::{UTC_OFFSETS, UtcMillis};

/// The events of an upload, each still unread: a bad event does not keep others from being read.
pub(super) fn split(body: &[u8]) -> Result<Vec<&RawValue>, Problems> {
    let invalid = |error| Problems::one("", format!("The body is not valid JSON: {error}."));
    match body.trim_ascii_start().first() {
        Some(b'[') => serde_json::from_slice(body).map_err(invalid),
        Some(b'{') => Ok(vec![serde_json::from_slice(body).map_err(invalid)?]),
        _ => {
            serde_json::from_slice::<&RawValue>(body).map_err(invalid)?;
            Err(Problems::one("", "The body must be an array of events, or one event."))
        }
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    event_id: Option<Text<'a>>,
    /// Seconds, mostly as a text.
    #[serde(borrow, default)]
    time: Option<&'a RawValue>,
    #[serde(borrow, default)]
    data: Option<Data<'a>>,
}

pub(super) fn event(text: &str) -> Option<DeviceEvent> {
    if text.len() > limits::EVENT_BYTES || loose::is_deep(text) {
        return None;
    }
    let Envelope { kind, event_id, time, data } = serde_json::from_str(text).ok()?;
    let kind = loose::name(&kind, limits::EVENT_NAME_CHARS)?;
    // An event without an id gets one that depends on nothing but itself, so that it is recognized when it comes again from the
    // same device.
    let id: Option<EventId> = event_id.and_then(|Text(id)| id.trim().parse().ok());
    let is_id_of_text = id.is_none();
    let id = id.unwrap_or_else(|| Id::from_uuid(Uuid::new_v5(&Uuid::nil(), text.as_bytes())));
    let time = time.and_then(loose::number_in).and_then(loose::millis).map(UtcMillis);
    let data = match data {
        Some(Data::Fields(data)) => data,
        Some(Data::Other(data)) => {
            let content = Content::Other(Unrecognized { kind, data });
            return Some(DeviceEvent { id, is_id_of_text, time, session: None, content });
        }
        None => Loose::empty(),
    };
    let session = data.name("session_id", limits::SESSION_ID_CHARS);
    let content = content(kind, &data, session.as_ref())?;
    Some(DeviceEvent { id, is_id_of_text, time, session, content })
}

/// `None` for an event that lacks a key its type requires.
fn content(kind: String, data: &Loose<'_>, session: Option<&String>) -> Option<Content> {
    Some(match kind.as_str() {
        "app_foreground" => Content::Opened(opened(data)),
        // A process may also begin in the background.
        "app_init" if data.flag("foreground") == Some(true) => Content::Opened(opened(data)),
        "app_background" | "app_exit" => Content::Closed,
        "custom_event" => Content::Custom(custom(data, session, unwrapped)?),
        "enhanced_custom_event" => Content::Custom(custom(data, session, |value| value)?),
        "screen_tracking" => Content::Screen(screen(data, session)?),
        "region_event" => Content::Region(region(data, session)?),
        "location" => Content::Location(location(data)?),
        "in_app_display" => Content::InAppDisplay(UploadedInApp::read(data)?),
        "in_app_resolution" => match InAppEnd::read(data) {
            Some(end) => Content::InAppEnd(UploadedInApp::read(data)?, end),
            None => interaction(kind, data)?,
        },
        "feature_flag_interaction" => match interaction::flag(data) {
            Some(flag) => Content::FlagInteraction(flag),
            None => Content::Other(whole(kind, data)?),
        },
        "interactive_notification_action" => Content::Button(Button {
            echo: Echo::read(data, "metadata", "send_id"),
            button: data.text("button_id")?,
            foreground: data.flag("foreground").unwrap_or(false),
            whole: whole(kind, data)?,
        }),
        "push_received" | "push_arrived" => Content::Receipt(receipt(ReceiptKind::Received, kind, data)?),
        "push_click" => Content::Receipt(receipt(ReceiptKind::Clicked, kind, data)?),
        "push_dismiss" => Content::Receipt(receipt(ReceiptKind::Dismissed, kind, data)?),
        "associate_identifiers" => Content::Identifiers(identifiers(data)),
        _ => interaction(kind, data)?,
    })
}

/// An event about an in-app message, or any other.
fn interaction(kind: String, data: &Loose<'_>) -> Option<Content> {
    match UploadedInteraction::read(&kind, data) {
        Some(interaction) => Some(Content::InAppInteraction(interaction)),
        None => whole(kind, data).map(Content::Other),
    }
}

fn whole(kind: String, data: &Loose<'_>) -> Option<Unrecognized> {
    Some(Unrecognized { kind, data: data.whole()? })
}

fn receipt(kind: ReceiptKind, name: String, data: &Loose<'_>) -> Option<PushReceipt> {
    let push = Echo::read(data, "metadata", "push_id").tapped;
    Some(PushReceipt { kind, push, button: data.text("button_id"), whole: whole(name, data)? })
}

#[expect(clippy::cast_possible_truncation, reason = "clocks differ by a day at most")]
fn opened(data: &Loose<'_>) -> AppOpening {
    let possible = f64::from(*UTC_OFFSETS.start())..=f64::from(*UTC_OFFSETS.end());
    let offset = data.number("time_zone").filter(|offset| possible.contains(offset));
    AppOpening {
        echo: Echo::read(data, "metadata", "push_id"),
        connection_type: data.text("connection_type"),
        carrier: data.text("carrier"),
        utc_offset_seconds: offset.map(|offset| offset as i32),
    }
}

fn custom(data: &Loose<'_>, session: Option<&String>, property: fn(Value) -> Value) -> Option<UploadedCustom> {
    const MILLION: f64 = 1_000_000.0;
    let value = data.number("event_value").map(|millionths| millionths.round() / MILLION);
    let mut properties = data.object("properties").unwrap_or_default();
    properties.values_mut().for_each(|value| *value = property(value.take()));
    let event = Custom {
        name: data.name("event_name", limits::EVENT_NAME_CHARS)?,
        source: CustomSource::Sdk,
        session_id: session.cloned(),
        value: value.filter(|value| value.abs() <= limits::EVENT_VALUE),
        transaction: data.text("transaction_id"),
        interaction_id: data.text("interaction_id"),
        interaction_type: data.text("interaction_type"),
        customer_id: None,
        properties,
        last_delivered: None,
        triggering_push: None,
    };
    Some(UploadedCustom { event, echo: Echo::read(data, "conversion_metadata", "conversion_send_id") })
}

/// Old libraries write every property that is not an array as JSON, in a text.
fn unwrapped(value: Value) -> Value {
    match value {
        Value::String(text) if loose::is_deep(&text) => Value::String(text),
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value,
    }
}

fn screen(data: &Loose<'_>, session: Option<&String>) -> Option<ScreenViewed> {
    Some(ScreenViewed {
        viewed_screen: data.text("screen")?,
        previous_screen: data.text("previous_screen"),
        duration: data.millis("duration").unwrap_or(0),
        session_id: session.cloned(),
    })
}

fn region(data: &Loose<'_>, session: Option<&String>) -> Option<Region> {
    let action = match data.text("action")?.to_ascii_lowercase().as_str() {
        "enter" => RegionAction::Enter,
        "exit" => RegionAction::Exit,
        _ => return None,
    };
    let region_id = data.name("region_id", limits::EVENT_NAME_CHARS)?;
    let source = data.name("source", limits::EVENT_NAME_CHARS).unwrap_or_default();
    let source_info = RegionSource { source, region_id: region_id.clone() };
    Some(Region { action, region_id, name: None, source_info, session_id: session.cloned() })
}

fn location(data: &Loose<'_>) -> Option<UploadedLocation> {
    Some(UploadedLocation {
        point: Point::new(data.number("lat")?, data.number("long")?).ok()?,
        latitude: data.text("lat")?,
        longitude: data.text("long")?,
        foreground: data.flag("foreground").unwrap_or(false),
    })
}

fn identifiers(data: &Loose<'_>) -> BTreeMap<String, String> {
    let values = data.by_key().into_iter().filter(|(name, _)| *name != "session_id");
    let pairs = values.filter_map(|(name, value)| {
        Some((loose::name(name, limits::IDENTIFIER_CHARS)?, loose::name_in(value, limits::IDENTIFIER_CHARS)?))
    });
    pairs.take(limits::IDENTIFIERS).collect()
}
