//! Why a person got a push, or did not.

use axum::extract::State;
use model::ids::{ChannelId, ChannelKind, NamedUserId, PushId, PushKind};
use model::selector::Atomic;
use schemars::JsonSchema;
use sending::{Person, Standing, Step, Why, WhyOfDevice};
use serde::Serialize;
use targeting::{AsOf, ClauseOfOne};

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::path_vars::PathId;
use crate::query::Params;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PushWhy")]
pub(super) struct WhyRecord {
    push_id: PushId,
    devices: Vec<DeviceRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PushWhyOfDevice")]
pub(super) struct DeviceRecord {
    channel_id: ChannelId,
    device_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    named_user_id: Option<NamedUserId>,
    /// As in the listing of recipients, or `undecided` before the recipients are chosen.
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What happened, in its order.
    steps: Vec<StepRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PushWhyStep")]
pub(super) struct StepRecord {
    /// `accepted`, `resolved`, `registered`, `audience`, `outcome`, `response` or `now`.
    step: &'static str,
    /// For people.
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    /// The audience, clause by clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    clause: Option<ClauseRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PushWhyClause")]
pub(super) struct ClauseRecord {
    /// Where the clause stands in the audience.
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    selector: Option<Atomic>,
    /// Whether the device met it.
    matched: bool,
    /// `then`, when the recipients were chosen, or `now`, where the past is not known.
    as_of: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clauses: Vec<ClauseRecord>,
}

pub(super) async fn why(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(push): PathId<PushKind>,
    mut params: Params,
) -> Result<Answer> {
    let channel = params.id::<ChannelKind>("channel_id").map(Person::Channel);
    let user = params.parsed("named_user_id", |text| {
        NamedUserId::new(text).map_err(|_| "This must be the id of a named user, 1 to 128 characters.")
    });
    let address = params.parsed("address", |text| Ok(Person::Address(text.to_owned())));
    params.finish()?;
    let people = [channel, user.map(Person::NamedUser), address];
    let mut people = people.into_iter().flatten();
    let (Some(person), None) = (people.next(), people.next()) else {
        return Err(Error::invalid("", "Say who is meant by one of 'channel_id', 'named_user_id' and 'address'."));
    };
    let why = edge.engine.sending().why(app.id, push, person).await?;
    Ok(Answer::ok(WhyRecord::from(why))?.data_attribute("devices"))
}

impl From<Why> for WhyRecord {
    fn from(Why { push, devices }: Why) -> Self {
        Self { push_id: push, devices: devices.into_iter().map(DeviceRecord::from).collect() }
    }
}

impl From<WhyOfDevice> for DeviceRecord {
    fn from(device: WhyOfDevice) -> Self {
        let WhyOfDevice { channel, device_type, named_user, standing, reason, steps } = device;
        Self {
            channel_id: channel,
            device_type: device_type.to_string(),
            named_user_id: named_user,
            outcome: standing.map_or("undecided", Standing::name),
            reason: (!reason.is_empty()).then_some(reason),
            steps: steps.into_iter().map(StepRecord::from).collect(),
        }
    }
}

impl From<Step> for StepRecord {
    fn from(Step { name, text, at, clause }: Step) -> Self {
        Self { step: name.name(), text, at: at.map(|at| at.to_api()), clause: clause.map(ClauseRecord::from) }
    }
}

impl From<ClauseOfOne> for ClauseRecord {
    fn from(ClauseOfOne { path, selector, is_met, as_of, clauses }: ClauseOfOne) -> Self {
        let as_of = match as_of {
            AsOf::Then => "then",
            AsOf::Now => "now",
        };
        let clauses = clauses.into_iter().map(ClauseRecord::from).collect();
        Self { path, selector, matched: is_met, as_of, clauses }
    }
}
