//! What happened to one channel or named user, newest first.

use std::collections::BTreeSet;

use ::events::{TimelinePage, TimelineRequest};
use axum::extract::State;
use model::event::{EventOffset, NO_OFFSET, RecordKind, TimelineKind, Told};
use model::ids::{ChannelKind, NamedUserId};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::page_size::PageSize;
use crate::path_vars::{PathVars, id_in_path};
use crate::query::Params;

#[derive(Serialize, JsonSchema)]
pub(super) struct Timeline {
    #[schemars(schema_with = "entries_schema")]
    entries: Vec<Box<RawValue>>,
    /// Give it as `before` to go on. Absent after the last entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
}

/// The entries, which `events` writes.
fn entries_schema(_: &mut SchemaGenerator) -> Schema {
    let kinds = TimelineKind::WORDS.map(|(word, _)| word);
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["at", "kind", "offset"],
            "properties": {
                "at": {"type": "string", "format": "date-time", "description": "When it happened."},
                "kind": {"type": "string", "enum": kinds},
                "offset": {"type": "string", "description": "Where it is in the timeline."},
                "channel_id": {"type": "string", "format": "uuid", "description":
                    "The device that it is about. An event of a named user without a device has none."},
                "push_id": {"type": "string", "format": "uuid", "description": "What was sent."},
                "title": {"type": "string", "description": "The name of the push, or else its title, as long as it is kept."},
                "alert": {"type": "string", "description": "The text of the push, as long as it is kept."},
                "outcome": {"type": "string", "enum": ["delivered", "failed", "gone", "held_back"]},
                "reason": {"type": "string", "description": "Why it failed or was held back."},
                "opened": {"type": "boolean", "description": "Whether the device opened what was sent."},
                "what": {"type": "string", "description": "What has changed.", "enum":
                    ["tags", "attributes", "subscriptions", "registered", "uninstalled", "named_user", "opt_in", "device"]},
                "before": {"type": "object", "description": "Of a change without an event: the values that are gone."},
                "after": {"type": "object", "description": "Of a change without an event: the values that are new."},
                "type": {"type": "string", "description":
                    "The type of the event. It and the fields below are as in the stream of events."},
                "id": {"type": "string", "format": "uuid"},
                "occurred": {"type": "string"},
                "processed": {"type": "string"},
                "device": {"type": "object"},
                "user": {"type": "object"},
                "body": {"type": "object"},
            },
        },
    })
}

pub(super) async fn of_channel(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(id): PathVars<String>,
    params: Params,
) -> Result<Answer> {
    let channel = id_in_path::<ChannelKind>(&id)?;
    let page = edge.engine.events().channel_timeline(app.id, channel, request(params)?).await?;
    answer(page)
}

pub(super) async fn of_named_user(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(id): PathVars<String>,
    params: Params,
) -> Result<Answer> {
    let user = NamedUserId::new(&id).map_err(|_| Error::NotFound("There is no such named user.".to_owned()))?;
    let page = edge.engine.events().user_timeline(app.id, user, request(params)?).await?;
    answer(page)
}

fn request(mut params: Params) -> Result<TimelineRequest> {
    let before = params.parsed("before", |text| text.parse::<EventOffset>().map_err(|()| NO_OFFSET));
    let kind = params.choice("kind", &TimelineKind::WORDS);
    let types = params.parsed("types", types);
    let at_most = params.limit(PageSize::TIMELINE) as usize;
    params.finish()?;
    Ok(TimelineRequest { before, at_most, kind, types })
}

fn types(text: &str) -> Result<BTreeSet<RecordKind>, &'static str> {
    let kind = |name: &str| RecordKind::from_public_name(&name.trim().to_uppercase());
    let of_devices = |kind: RecordKind| Told::by(kind).map(|_| kind);
    let named = text.split(',').map(|name| kind(name).and_then(of_devices));
    named.collect::<Option<_>>().ok_or("These must be types of events of devices, such as OPEN,SEND,UNINSTALL.")
}

fn answer(TimelinePage { entries, before }: TimelinePage) -> Result<Answer> {
    Ok(Answer::ok(Timeline { entries, before: before.map(|before| before.to_string()) })?.data_attribute("entries"))
}
