//! The newest events of an app, for people who look at what has just happened.

use ::events::{NewestEvents, NewestRequest};
use axum::extract::State;
use model::event::{EventConditions, NO_OFFSET};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::value::RawValue;

use super::events::{channels, kinds, pushes};
use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::page_size::PageSize;
use crate::query::Params;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NewestEvents")]
pub(super) struct Page {
    #[schemars(schema_with = "events_schema")]
    events: Vec<Box<RawValue>>,
    /// Give it as `before` to go on. Absent after the last event.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
}

/// As the stream has them.
fn events_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["id", "offset", "occurred", "processed", "type"],
            "properties": {
                "id": {"type": "string", "format": "uuid"},
                "offset": {"type": "string"},
                "occurred": {"type": "string", "format": "date-time"},
                "processed": {"type": "string", "format": "date-time"},
                "type": {"type": "string"},
                "device": {"type": "object"},
                "user": {"type": "object"},
                "body": {"type": "object"},
            },
        },
    })
}

pub(super) async fn list(State(edge): State<Edge>, CallingApp(app): CallingApp, mut params: Params) -> Result<Answer> {
    let before = params.parsed("before", |text| text.parse().map_err(|()| NO_OFFSET));
    let conditions = EventConditions {
        kinds: params.parsed("types", kinds),
        channels: params.parsed("channel", channels),
        pushes: params.parsed("push", pushes),
        ..EventConditions::default()
    };
    let at_most = params.limit(PageSize::TIMELINE) as usize;
    params.finish()?;
    let request = NewestRequest { before, at_most, conditions };
    let NewestEvents { events, before } = edge.engine.events().newest_events(app.id, request).await?;
    let event = |event: &::events::PublicEvent| serde_json::from_slice(&event.json).map_err(Error::internal);
    let events = events.iter().map(event).collect::<Result<_>>()?;
    Ok(Answer::ok(Page { events, before: before.map(|before| before.to_string()) })?.data_attribute("events"))
}
