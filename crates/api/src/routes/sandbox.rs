//! The sandbox: the messages that providers would have got, as a list and as a stream, and the answers that it gives.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use model::ids::{AppId, ChannelId, DeliveryId, PushId};
use model::sandbox::{SandboxFault, SandboxFaults};
use schemars::JsonSchema;
use sending::{SandboxDelivery, SandboxFeed, SandboxFilter as Filter, SandboxPush, SandboxQuery};
use serde::Serialize;
use serde_json::Value;

use crate::answer::Answer;
use crate::auth::{Calling, CallingApp};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::fair_share::Permit;
use crate::input::Input;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::query::{Params, plain_text};
use crate::stopping::Stopping;

/// How long a caller may wait for the first delivery.
const LONGEST_WAIT_S: u32 = 30;
const LAST_EVENT_ID: &str = "last-event-id";
pub(super) const KEEP_ALIVE_COMMENT: &str = ": nothing new\n\n";

/// The ways that a message can go.
pub(super) const TRANSPORTS: [&str; 8] = ["apns", "fcm", "adm", "wns", "webpush", "unifiedpush", "open", "live"];

/// The parameters that choose deliveries, which lead on to further pages.
const FILTERS: [&str; 6] = ["push_id", "channel_id", "device_type", "transport", "since", "q"];

#[derive(Serialize, JsonSchema)]
pub(super) struct Page {
    deliveries: Vec<DeliveryRecord>,
    /// Leads to older ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
}

/// What became of pushes in the sandbox, by push.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SandboxPushes")]
pub(super) struct Pushes {
    /// Those with the newest deliveries first.
    pushes: Vec<PushRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SandboxPush")]
struct PushRecord {
    push_id: PushId,
    /// How many of its deliveries fit.
    deliveries: u64,
    /// How many of them are to devices of each type.
    device_types: BTreeMap<String, u64>,
    /// The newest by each transport, the newest of all first.
    newest: Vec<DeliveryRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FaultsLeft")]
pub(super) struct Faults {
    /// In the order in which they are used up.
    faults: Vec<SandboxFault>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct DeliveryRecord {
    delivery_id: DeliveryId,
    push_id: PushId,
    channel_id: ChannelId,
    device_type: String,
    /// The way the message would have gone: `apns`, `fcm` and so on.
    transport: String,
    /// In UTC.
    at: String,
    /// The message that the provider would have got, in the provider's format.
    request: Value,
}

pub(super) async fn list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    Calling(caller): Calling,
    mut stopping: Stopping,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let query = query(&mut params);
    let (start, limit) = (params.parsed("start", position), params.limit(PageSize::SANDBOX));
    let rest = params.repeated(&FILTERS);
    let wait = params.number("wait", 0..=LONGEST_WAIT_S).unwrap_or(0);
    params.finish()?;
    if wait > 0 {
        // Waiting is what streams do, and as many may do it.
        let _permit = edge.admit_stream(app.id)?;
        let mut feed = edge.engine.sending().sandbox_feed(caller, query.clone(), Some(0)).await?;
        // Whether something came or not, the list is the answer.
        tokio::select! {
            _ = feed.next() => {}
            () = stopping.wait() => {}
            () = tokio::time::sleep(Duration::from_secs(wait.into())) => {}
        }
    }
    // One more than is shown, to see whether there are older ones.
    let mut found = edge.engine.sending().sandbox(app.id, query, start, limit + 1).await?;
    let has_older = found.len() > limit as usize;
    found.drain(..usize::from(has_older));
    let oldest = found.first().map(|(position, _)| *position).filter(|_| has_older);
    let next_page = oldest.map(|oldest| links.to(&format!("/api/sandbox?start={oldest}&limit={limit}{rest}")));
    let deliveries = found.into_iter().map(|(_, delivery)| record(delivery)).collect::<Result<_>>()?;
    let answer = Answer::ok(Page { deliveries, next_page: next_page.clone() })?.data_attribute("deliveries");
    Ok(answer.next_page(next_page.as_deref()))
}

/// The same by push, of which there are fewer.
pub(super) async fn pushes(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let query = query(&mut params);
    let (start, limit) = (params.parsed("start", position), params.limit(PageSize::SANDBOX_PUSHES));
    let rest = params.repeated(&FILTERS);
    params.finish()?;
    let mut found = edge.engine.sending().sandbox_pushes(app.id, query, start, limit + 1).await?;
    let has_older = found.len() > limit as usize;
    found.truncate(limit as usize);
    let last = found.last().map(|push| push.position).filter(|_| has_older);
    let next_page = last.map(|last| links.to(&format!("/api/sandbox/pushes?start={last}&limit={limit}{rest}")));
    let pushes = found.into_iter().map(push_record).collect::<Result<_>>()?;
    let answer = Answer::ok(Pushes { pushes, next_page: next_page.clone() })?.data_attribute("pushes");
    Ok(answer.next_page(next_page.as_deref()))
}

fn push_record(push: SandboxPush) -> Result<PushRecord> {
    let SandboxPush { push, position: _, n_deliveries, by_device_type, newest } = push;
    let newest = newest.into_iter().map(record).collect::<Result<_>>()?;
    Ok(PushRecord { push_id: push, deliveries: n_deliveries, device_types: by_device_type, newest })
}

/// Where a page goes on.
fn position(text: &str) -> Result<i64, &'static str> {
    text.parse().ok().filter(|position| *position > 0).ok_or("This must be the start of a page, as 'next_page' has it.")
}

/// Server-sent events, one per delivery. A client that reconnects says the last id it has seen and misses nothing.
pub(super) async fn stream(
    State(edge): State<Edge>,
    Calling(caller): Calling,
    stopping: Stopping,
    headers: HeaderMap,
    mut params: Params,
) -> Result<Response> {
    let query = query(&mut params);
    params.finish()?;
    let permit = edge.admit_stream(caller.app().id)?;
    let feed = edge.engine.sending().sandbox_feed(caller, query, last_event_id(&headers)?).await?;
    let open = OpenStream { feed, stopping, keep_alive: edge.keep_alive, _permit: permit };
    let events = stream::unfold(open, |mut open| async { open.next().await.map(|text| (text, open)) });
    let mut response = Response::new(Body::from_stream(events));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    Ok(response)
}

/// Deletes all deliveries.
pub(super) async fn clear(State(edge): State<Edge>, CallingApp(app): CallingApp) -> Result<Answer> {
    edge.engine.sending().clear_sandbox(app.id).await?;
    Ok(Answer::nothing())
}

pub(super) async fn faults(State(edge): State<Edge>, CallingApp(app): CallingApp) -> Result<Answer> {
    let SandboxFaults { faults } = edge.engine.sending().sandbox_faults(app.id).await?;
    Answer::ok(Faults { faults })
}

/// Replaces the answers that are left.
pub(super) async fn set_faults(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let faults: SandboxFaults = input.parse(SandboxFaults::parse).await?;
    edge.engine.sending().set_sandbox_faults(&app, faults).await?;
    Answer::done()
}

struct OpenStream {
    feed: SandboxFeed,
    stopping: Stopping,
    keep_alive: Duration,
    _permit: Permit<AppId>,
}

impl OpenStream {
    /// The next piece of text, or the end. An error ends the stream too; the client reconnects where it was.
    async fn next(&mut self) -> Option<Result<String, std::io::Error>> {
        let found = tokio::select! {
            found = self.feed.next() => found.map_err(Error::from),
            () = self.stopping.wait() => return None,
            () = tokio::time::sleep(self.keep_alive) => return Some(Ok(KEEP_ALIVE_COMMENT.to_owned())),
        };
        let events = found.and_then(|found| found.map(|found| found.into_iter().map(event).collect()).transpose());
        match events {
            Ok(events) => events.map(Ok),
            Err(error) => {
                tracing::warn!(?error, "a sandbox stream broke off");
                None
            }
        }
    }
}

fn event((position, delivery): (i64, SandboxDelivery)) -> Result<String> {
    let data = serde_json::to_string(&record(delivery)?).map_err(Error::internal)?;
    Ok(format!("id: {position}\ndata: {data}\n\n"))
}

fn record(delivery: SandboxDelivery) -> Result<DeliveryRecord> {
    Ok(DeliveryRecord {
        delivery_id: delivery.delivery,
        push_id: delivery.push,
        channel_id: delivery.channel,
        device_type: delivery.device_type,
        transport: delivery.transport,
        at: delivery.at.to_iso(),
        request: serde_json::from_str(&delivery.request).map_err(Error::internal)?,
    })
}

fn query(params: &mut Params) -> SandboxQuery {
    SandboxQuery {
        filter: Filter { push: params.id("push_id"), channel: params.id("channel_id") },
        device_type: params.device_type("device_type").map(|device_type| device_type.to_string()),
        transport: params.choice("transport", &TRANSPORTS.map(|word| (word, word))).map(str::to_owned),
        since: params.date("since"),
        text: params.parsed("q", plain_text),
    }
}

pub(super) fn last_event_id(headers: &HeaderMap) -> Result<Option<i64>> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let position = value.to_str().ok().and_then(|text| text.parse().ok()).filter(|position| *position >= 0);
    let wrong = || Error::invalid(LAST_EVENT_ID, "This must be the id of an event of this stream.");
    position.ok_or_else(wrong).map(Some)
}
