//! Live connections of devices: one address for WebSockets, server-sent events and long polls, acknowledgements of messages, and
//! who is connected.

mod server_sent;
mod upgrade;

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::header::UPGRADE;
use live::{End, Opened, Opening, PINGS, Presence, Refused, Told, USUAL_PING};
use model::ids::Offset;
use model::live::{LiveAck, live_position};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::answer::{Answer, Done};
use crate::auth::{Calling, CallingApp, CallingChannel, bearer};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::query::Params;
use crate::router::Lent;
use crate::stopping::Stopping;

const LAST_EVENT_ID: &str = "last-event-id";
/// The longest wait of a long poll, in seconds.
pub(super) const MOST_WAIT: u32 = 60;
const NO_POSITION: &str = "This must be the 'at' of a message, such as 813.";
const RETRY: Duration = Duration::from_secs(30);

/// The answer to a long poll.
#[derive(Serialize, JsonSchema)]
pub(super) struct Polled {
    /// As a WebSocket would be sent them.
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    messages: Vec<Box<RawValue>>,
    /// What to ask for `after` the next time.
    at: String,
    /// False if some messages after the given position are gone; the inbox may have them.
    complete: bool,
}

/// Who is connected now.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LivePresence")]
pub(super) struct PresenceRecord {
    /// Channels that have a live connection, to whichever node.
    connected: u64,
    /// Channels that take live messages, connected or not.
    live_channels: u64,
    /// Those that are connected, by device type.
    platforms: BTreeMap<String, u64>,
}

pub(super) async fn presence(State(edge): State<Edge>, CallingApp(app): CallingApp) -> Result<Answer> {
    let Presence { connected, live_channels, by_device_type } = edge.engine.live().presence(app.id).await?;
    let platforms = by_device_type.into_iter().map(|(device_type, n)| (device_type.to_string(), n)).collect();
    Answer::ok(PresenceRecord { connected, live_channels, platforms })
}

pub(super) async fn connect(
    State(edge): State<Edge>,
    Calling(caller): Calling,
    channel: Result<CallingChannel>,
    stopping: Stopping,
    mut params: Params,
    request: Request,
) -> Result<Response> {
    let headers = request.headers();
    let after = params.parsed("after", |text| live_position(text).ok_or(NO_POSITION));
    let ping = params.number("ping", PINGS).unwrap_or(USUAL_PING);
    let wait = params.number("wait", 0..=MOST_WAIT);
    params.finish()?;
    let CallingChannel(channel) = channel?;
    let expires = bearer(headers).and_then(tenancy::token_end);
    let after = last_event_id(headers)?.or(after);
    let opening = Opening { channel, expires, after, ping, needs_newest: wait.is_some(), caller };
    if headers.contains_key(UPGRADE) {
        return upgrade::connect(&edge, opening, request).await;
    }
    let app = opening.caller.app().id;
    let permit = edge.admit_live(app)?;
    let turn = edge.begin_handshake(app).await?;
    let opened = edge.engine.live().open(opening).await?.map_err(refusal)?;
    drop(turn);
    // From here on it only waits, and counts as a live connection alone.
    if let Some(lent) = request.extensions().get::<Lent>() {
        lent.give_back();
    }
    match wait {
        Some(seconds) => {
            let polled = poll(opened, Duration::from_secs(seconds.into()), stopping).await?;
            drop(permit);
            Ok(polled.into_response())
        }
        None => Ok(server_sent::stream(opened, permit, stopping, Duration::from_secs(ping.into()))),
    }
}

/// For devices that get messages as server-sent events.
pub(super) async fn acknowledge(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    CallingChannel(channel): CallingChannel,
    input: Input,
) -> Result<Answer> {
    let LiveAck { at } = input.parse(LiveAck::parse).await?;
    edge.engine.live().acknowledge(app.id, channel, at).await?.map_err(refusal)?;
    Answer::ok(Done {})
}

/// Waits for the first message, if there is none.
async fn poll(opened: Opened, patience: Duration, mut stopping: Stopping) -> Result<Answer> {
    let (complete, mut at) = (opened.is_complete(), opened.position());
    let mut messages = opened.missed();
    if messages.is_empty() && !patience.is_zero() {
        let mut reader = opened.reader();
        messages = tokio::select! {
            found = reader.next() => found.map_err(|end| refusal(Refused(end)))?,
            () = stopping.wait() => Vec::new(),
            () = tokio::time::sleep(patience) => Vec::new(),
        };
    }
    at = messages.last().map_or(at, Told::at);
    let written = messages.iter().map(|told| RawValue::from_string(told.json()));
    let messages = written.collect::<Result<_, _>>().map_err(Error::internal)?;
    Answer::ok(Polled { messages, at: at.0.to_string(), complete })
}

/// The answer to a device that cannot connect, in a form that has a status.
fn refusal(Refused(end): Refused) -> Error {
    match end {
        End::NotLive => Error::Conflict("The channel is not live: register it with \"live\": true.".to_owned()),
        End::Uninstalled => {
            Error::NotFound("There is no such channel, or it is uninstalled; register anew.".to_owned())
        }
        End::Credentials => Error::Forbidden("The token has ended; get a new one.".to_owned()),
        End::Restart { .. } => Error::Busy,
        End::TooMany | End::Replaced | End::TooSlow | End::Left | End::Fault(_) => {
            let text = "The channel has too many live connections, or opens them too often; try again later.";
            Error::TooMany { text, retry_after: RETRY }
        }
    }
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<Offset>> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let offset = value.to_str().ok().and_then(live_position);
    offset.map(Some).ok_or_else(|| Error::invalid(LAST_EVENT_ID, NO_POSITION))
}
