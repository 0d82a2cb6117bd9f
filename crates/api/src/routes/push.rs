//! Sending: accepts, checks and controls pushes, and shows their results.

use std::collections::BTreeMap;

use axum::extract::State;
use model::ids::{OperationId, PushId, PushKind};
use model::origin::Origin;
use model::payload::Push;
use model::payload::push_type::PushType;
use schemars::JsonSchema;
use sending::{PlatformProgress, PushControl, PushStatus};
use serde::Serialize;

use crate::answer::{Answer, Done};
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;
use crate::inside::Person;
use crate::path_vars::PathId;

#[derive(Serialize, JsonSchema)]
pub(super) struct Status {
    push: StatusOfPush,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PushStatus")]
pub(super) struct StatusOfPush {
    push_id: PushId,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Who it was for, and how it came about.
    #[schemars(with = "String")]
    push_type: PushType,
    /// Not there for pushes that were sent with `POST /api/push`.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<OriginOfPush>,
    /// `accepted`, `sending`, `paused`, `done` or `canceled`.
    state: &'static str,
    created: String,
    /// Nothing is sent after this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    /// Of all platforms together.
    total: PushProgress,
    /// By device type.
    platforms: BTreeMap<String, PushProgress>,
    /// How many devices have told that they received it. Not there while none has.
    #[serde(skip_serializing_if = "Option::is_none")]
    received: Option<u64>,
    /// How many inboxes its message was put into. Not there if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    inboxes: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PushOrigin")]
pub(super) struct OriginOfPush {
    /// `schedule`, `template`, `experiment` or `pipeline`.
    #[serde(rename = "type")]
    kind: &'static str,
    id: String,
}

impl OriginOfPush {
    /// `None` for pushes that were sent with `POST /api/push`.
    pub(super) fn of(origin: &Origin) -> Option<Self> {
        origin.id().map(|id| Self { kind: origin.name(), id: id.to_string() })
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct PushProgress {
    /// How many channels it is for. The other counts add up to this one.
    targeted: u64,
    /// The provider took the message.
    delivered: u64,
    /// The provider no longer knows the device, or it left or opted out meanwhile.
    gone: u64,
    /// The provider refused the message, or was not reached in time.
    failed: u64,
    /// The time was over before they could be sent.
    expired: u64,
    /// The push was canceled before.
    canceled: u64,
    /// Yet to be sent.
    pending: u64,
    /// The last reason for a failure or a delay, or why nobody is targeted.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(super) async fn send(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    person: Person,
    input: Input,
) -> Result<Answer> {
    let pushes = input.parse(Push::parse_one_or_many).await?;
    person.may_send(&edge, &app, pushes.as_slice().iter()).await?;
    let accepted = edge.engine.sending().accept_pushes(&app, pushes, input.idempotency_key).await?;
    Ok(Answer::ok(accepted)?.data_attribute("push_ids"))
}

pub(super) async fn validate(State(edge): State<Edge>, CallingApp(app): CallingApp, input: Input) -> Result<Answer> {
    let pushes = input.parse(Push::parse_one_or_many).await?;
    edge.engine.sending().validate_pushes(&app, pushes).await?;
    Answer::ok(Done {})
}

pub(super) async fn status(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<PushKind>,
) -> Result<Answer> {
    let status = edge.engine.sending().push_status(app.id, id).await?;
    Ok(Answer::ok(Status::from(status))?.data_attribute("push"))
}

pub(super) async fn pause(edge: State<Edge>, app: CallingApp, id: PathId<PushKind>) -> Result<Answer> {
    control(edge, app, id, PushControl::Pause).await
}

pub(super) async fn resume(edge: State<Edge>, app: CallingApp, id: PathId<PushKind>) -> Result<Answer> {
    control(edge, app, id, PushControl::Resume).await
}

pub(super) async fn cancel(edge: State<Edge>, app: CallingApp, id: PathId<PushKind>) -> Result<Answer> {
    control(edge, app, id, PushControl::Cancel).await
}

/// These take no body: any body is ignored.
async fn control(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<PushKind>,
    control: PushControl,
) -> Result<Answer> {
    let status = edge.engine.sending().control_push(app.id, id, control).await?;
    Ok(Answer::changed(OperationId::random(), Status::from(status))?.data_attribute("push"))
}

impl From<PushStatus> for Status {
    fn from(status: PushStatus) -> Self {
        let (total, origin) = (status.total().into(), OriginOfPush::of(&status.origin));
        let platforms =
            status.platforms.into_iter().map(|(device_type, progress)| (device_type.to_string(), progress.into()));
        let push = StatusOfPush {
            push_id: status.id,
            name: status.name,
            push_type: status.push_type,
            origin,
            state: if status.paused { "paused" } else { status.state.name() },
            created: status.created.to_api(),
            expires: status.expires.map(|expires| expires.to_api()),
            total,
            platforms: platforms.collect(),
            received: (status.received > 0).then_some(status.received),
            inboxes: (status.inboxes > 0).then_some(status.inboxes),
        };
        Self { push }
    }
}

impl From<PlatformProgress> for PushProgress {
    fn from(progress: PlatformProgress) -> Self {
        let PlatformProgress { targeted, delivered, gone, failed, expired, canceled, pending, reason } = progress;
        Self { targeted, delivered, gone, failed, expired, canceled, pending, reason }
    }
}
