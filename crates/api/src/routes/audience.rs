//! Explaining an audience without sending anything.

mod credentials;

use std::collections::BTreeMap;

use axum::extract::State;
use model::account::Role;
use model::json::body::Body;
use model::payload::device_types::DeviceTypes;
use model::selector::{Atomic, Audience, Purpose};
use schemars::JsonSchema;
use serde::Serialize;
use targeting::{Clause, DeviceTypeCount, Effect, Explanation, Warning};

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::input::Input;
use crate::roles::OwnRole;

/// An audience to explain.
#[derive(Body)]
#[body(not_printed, name = "AudienceQuestion")]
pub(super) struct Question {
    /// Which channels are selected.
    #[body(read = |at| Audience::parse(at, Purpose::Send))]
    audience: Audience,
    #[body(default = DeviceTypes::all())]
    device_types: DeviceTypes,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ExplanationRecord {
    /// How many channels the audience selects.
    matched: u64,
    /// How many of them a notification would reach.
    reachable: u64,
    /// How many of them have a live connection now. Not there while none has.
    #[serde(skip_serializing_if = "Option::is_none")]
    online: Option<u64>,
    /// By device type.
    platforms: BTreeMap<String, PlatformRecord>,
    /// The audience, clause by clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    clause: Option<ClauseRecord>,
    /// What is probably not meant, such as names that nobody has, or what would go wrong.
    warnings: Vec<WarningRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplainedPlatform")]
pub(super) struct PlatformRecord {
    matched: u64,
    reachable: u64,
    opted_out: u64,
    without_address: u64,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ClauseRecord {
    /// Where the clause stands in the audience.
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    selector: Option<Atomic>,
    matched: u64,
    /// How many of what the clauses before it selected remain.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<u64>,
    /// How many of them it takes away.
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<u64>,
    /// How many it adds to what the clauses before it selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    added: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clauses: Vec<ClauseRecord>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct WarningRecord {
    path: String,
    message: String,
    /// Names that are known and look alike.
    near: Vec<String>,
}

pub(super) async fn explain(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    own: OwnRole,
    input: Input,
) -> Result<Answer> {
    let Question { audience, device_types } = input.parse(Question::parse).await?;
    if names_somebody(&audience) {
        own.need(Role::Support)?;
    }
    let mut explanation = edge.engine.targeting().explain(app.id, audience, device_types).await?;
    let lacking = credentials::warnings(&edge, &app, &explanation.by_device_type).await?;
    explanation.warnings.extend(lacking);
    Answer::ok(ExplanationRecord::from(explanation))
}

/// Whether an audience singles out people or devices: together with other selectors, the counts tell what one of them is like.
fn names_somebody(audience: &Audience) -> bool {
    let Audience::Selector(selector) = audience else { return false };
    selector.atoms().any(|atom| match atom {
        Atomic::NamedUser(_)
        | Atomic::Alias(_)
        | Atomic::Channel(_)
        | Atomic::IosChannel(_)
        | Atomic::AndroidChannel(_)
        | Atomic::AmazonChannel(_)
        | Atomic::WebChannel(_)
        | Atomic::OpenChannel(_)
        | Atomic::DeviceToken(_)
        | Atomic::Apid(_)
        | Atomic::Wns(_)
        | Atomic::Mpns(_)
        | Atomic::DevicePin(_)
        | Atomic::SmsId(_) => true,
        Atomic::Tag { .. }
        | Atomic::Segment(_)
        | Atomic::StaticList(_)
        | Atomic::SubscriptionList { .. }
        | Atomic::SmsSender(_)
        | Atomic::Attribute(_)
        | Atomic::Activity(_)
        | Atomic::Location(_)
        | Atomic::Push(_)
        | Atomic::Live => false,
    })
}

impl From<Explanation> for ExplanationRecord {
    fn from(Explanation { matched, online, by_device_type, clause, warnings }: Explanation) -> Self {
        let reachable = by_device_type.iter().map(|count| count.reachable).sum();
        let platforms = by_device_type.into_iter().map(|count| {
            let DeviceTypeCount { device_type, matched, reachable, opted_out, without_address, .. } = count;
            (device_type.to_string(), PlatformRecord { matched, reachable, opted_out, without_address })
        });
        let warnings =
            warnings.into_iter().map(|Warning { path, message, near }| WarningRecord { path, message, near });
        Self {
            matched,
            reachable,
            online: (online > 0).then_some(online),
            platforms: platforms.collect(),
            clause: clause.map(ClauseRecord::from),
            warnings: warnings.collect(),
        }
    }
}

impl From<Clause> for ClauseRecord {
    fn from(Clause { path, selector, matched, effect, clauses }: Clause) -> Self {
        let (kept, dropped, added) = match effect {
            Effect::Whole => (None, None, None),
            Effect::Keeps { kept, dropped } => (Some(kept), Some(dropped), None),
            Effect::Adds { added } => (None, None, Some(added)),
        };
        let clauses = clauses.into_iter().map(ClauseRecord::from).collect();
        Self { path, selector, matched, kept, dropped, added, clauses }
    }
}
