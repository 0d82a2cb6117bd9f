//! Everything that is counted of a push, or of the pushes of a group, over all time; and what a push said.

use axum::extract::State;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use events::{Counts, InAppReport, Metric, PushReport};
use model::ids::PushId;
use model::report::PushIds;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::responses::OpenSends;
use super::{ByPlatform, by_device_platform, group_id, if_any, push_id};
use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::path_vars::PathVars;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PushFigures")]
pub(in crate::routes) struct OfPush<'c> {
    app_key: &'c str,
    push_id: PushId,
    created: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    push_body: Option<String>,
    #[serde(flatten)]
    figures: Figures,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct OfGroup<'c> {
    app_key: &'c str,
    group_id: Uuid,
    created: String,
    #[serde(flatten)]
    figures: Figures,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct Figures {
    sends: u64,
    alerting_sends: u64,
    silent_sends: u64,
    /// Of the sends, those that devices have told to have received. Not there while there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    received: Option<u64>,
    direct_responses: u64,
    influenced_responses: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unproven_responses: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    late_responses: Option<u64>,
    rich_sends: u64,
    rich_responses: u64,
    rich_deletions: u64,
    platforms: ByPlatform<PlatformFigures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    open_channels_sends: Option<OpenSends>,
    /// Of the in-app message. Not there while there is nothing to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_app: Option<InAppFigures>,
}

#[derive(PartialEq, Eq, Default, Serialize, JsonSchema)]
pub(in crate::routes) struct InAppFigures {
    /// How often devices have shown it.
    displays: u64,
    /// Of these, by opted-in devices.
    opted_in_displays: u64,
    /// How often it ended with a tap.
    clicks: u64,
    /// Taps on buttons.
    button_taps: u64,
    page_views: u64,
    /// How often somebody saw all pages.
    scenes_completed: u64,
    form_displays: u64,
    form_results: u64,
    /// How often it was not shown, because the device is in a holdout group.
    holdouts: u64,
    /// How often it was not shown, because the service said no.
    exclusions: u64,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct PlatformFigures {
    sends: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    received: Option<u64>,
    direct_responses: u64,
    influenced_responses: u64,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct Body {
    push_body: String,
}

pub(in crate::routes) async fn push_detail(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(id): PathVars<String>,
) -> Result<Answer> {
    let id = push_id(&id)?;
    let report = match edge.engine.events().push_report(app.id, id).await {
        // In-app messages have ids like those of pushes, under which events tell of them.
        Err(engine::Error::NotFound(_)) => {
            let InAppReport { created, counts } = edge.engine.events().in_app_report(app.id, id).await?;
            let (app_key, created, figures) = (app.key.as_str(), created.to_report(), Figures::of(&counts));
            return Answer::ok(OfPush { app_key, push_id: id, created, push_body: None, figures });
        }
        report => report?,
    };
    let body = edge.engine.events().push_body(app.id, id).await?;
    Answer::ok(OfPush { push_body: body.map(encoded), ..OfPush::of(app.key.as_str(), &report) })
}

/// Several pushes at once. Unknown ones are left out, and so are the bodies of the pushes.
pub(in crate::routes) async fn push_details(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    input: Input,
) -> Result<Answer> {
    let PushIds(ids) = input.parse(PushIds::parse).await?;
    let reports = edge.engine.events().push_reports(app.id, ids).await?;
    let details: Vec<_> = reports.iter().map(|report| OfPush::of(app.key.as_str(), report)).collect();
    Answer::bare(details)
}

pub(in crate::routes) async fn push_body(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(id): PathVars<String>,
) -> Result<Answer> {
    let body = edge.engine.events().push_body(app.id, push_id(&id)?).await?;
    let gone = || Error::NotFound("The body of this push was not to be kept.".to_owned());
    Answer::ok(Body { push_body: encoded(body.ok_or_else(gone)?) })
}

pub(in crate::routes) async fn group_detail(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(id): PathVars<String>,
) -> Result<Answer> {
    let group_id = group_id(&id)?;
    let report = edge.engine.events().group_report(app.id, group_id).await?;
    let (app_key, created) = (app.key.as_str(), report.created.to_report());
    Answer::ok(OfGroup { app_key, group_id, created, figures: Figures::of(&report.counts) })
}

fn encoded(body: String) -> String {
    STANDARD.encode(body)
}

impl<'c> OfPush<'c> {
    fn of(app_key: &'c str, report: &PushReport) -> Self {
        let figures = Figures::of(&report.counts);
        Self { app_key, push_id: report.id, created: report.created.to_report(), push_body: None, figures }
    }
}

impl Figures {
    fn of(counts: &Counts) -> Self {
        let (sends, alerting_sends) = (counts.on_devices(Metric::Sends), counts.on_devices(Metric::AlertingSends));
        Self {
            sends,
            alerting_sends,
            silent_sends: sends.saturating_sub(alerting_sends),
            received: if_any(counts.on_devices(Metric::Received)),
            direct_responses: counts.on_devices(Metric::DirectResponses),
            influenced_responses: counts.on_devices(Metric::InfluencedResponses),
            unproven_responses: if_any(counts.on_devices(Metric::UnprovenResponses)),
            late_responses: if_any(counts.on_devices(Metric::LateResponses)),
            rich_sends: counts.on_devices(Metric::RichSends),
            rich_responses: counts.on_devices(Metric::RichReads),
            rich_deletions: counts.on_devices(Metric::RichDeletions),
            platforms: by_device_platform(counts, |platform| PlatformFigures::on(counts, platform)),
            open_channels_sends: OpenSends::of(counts),
            in_app: InAppFigures::of(counts),
        }
    }
}

impl InAppFigures {
    fn of(counts: &Counts) -> Option<Self> {
        let figures = Self {
            displays: counts.on_devices(Metric::InAppDisplays),
            opted_in_displays: counts.on_devices(Metric::InAppOptedInDisplays),
            clicks: counts.on_devices(Metric::InAppClicks),
            button_taps: counts.on_devices(Metric::InAppTaps),
            page_views: counts.on_devices(Metric::InAppPages),
            scenes_completed: counts.on_devices(Metric::InAppScenesCompleted),
            form_displays: counts.on_devices(Metric::InAppForms),
            form_results: counts.on_devices(Metric::InAppFormsSent),
            holdouts: counts.on_devices(Metric::InAppHoldouts),
            exclusions: counts.on_devices(Metric::InAppExclusions),
        };
        (figures != Self::default()).then_some(figures)
    }
}

impl PlatformFigures {
    pub(super) fn on(counts: &Counts, platform: &str) -> Self {
        Self {
            sends: counts.on(platform, Metric::Sends),
            received: if_any(counts.on(platform, Metric::Received)),
            direct_responses: counts.on(platform, Metric::DirectResponses),
            influenced_responses: counts.on(platform, Metric::InfluencedResponses),
        }
    }

    pub(super) fn on_devices(counts: &Counts) -> Self {
        Self {
            sends: counts.on_devices(Metric::Sends),
            received: if_any(counts.on_devices(Metric::Received)),
            direct_responses: counts.on_devices(Metric::DirectResponses),
            influenced_responses: counts.on_devices(Metric::InfluencedResponses),
        }
    }
}
