//! Counts of a push, or of the pushes of a group, over time.

use axum::extract::State;
use events::{Counts, Metric, Pushes, Series};
use model::ids::PushId;
use model::report::Precision;
use model::time::UtcMillis;
use schemars::JsonSchema;
use serde::Serialize;
use tenancy::App;
use uuid::Uuid;

use super::details::PlatformFigures;
use super::{ByPlatform, MOST_BUCKETS, by_device_platform, group_id, push_id, rest_of};
use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::links::Links;
use crate::path_vars::PathVars;
use crate::query::Params;

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct SeriesRecord<'c> {
    app_key: &'c str,
    #[serde(flatten)]
    of: Of,
    start: String,
    end: String,
    precision: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
    counts: Vec<Bucket>,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::routes) enum Of {
    PushId(PushId),
    GroupId(Uuid),
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SeriesBucket")]
pub(in crate::routes) struct Bucket {
    time: String,
    push_platforms: ByPlatform<PlatformFigures>,
    rich_push_platforms: RichPlatforms,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct RichPlatforms {
    all: RichFigures,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::routes) struct RichFigures {
    responses: u64,
    sends: u64,
}

/// The period asked for: without dates, the time after the push.
struct Question {
    start: Option<UtcMillis>,
    end: Option<UtcMillis>,
    precision: Precision,
}

pub(in crate::routes) async fn push_series(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(id): PathVars<String>,
    links: Links,
    params: Params,
) -> Result<Answer> {
    let (id, question) = (push_id(&id)?, Question::read(params)?);
    let series = question.ask(&edge, &app, Pushes::One(id)).await?;
    shown(&links, &app, Of::PushId(id), &format!("perpush/series/{id}"), &series)
}

pub(in crate::routes) async fn group_series(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars(id): PathVars<String>,
    links: Links,
    params: Params,
) -> Result<Answer> {
    let (id, question) = (group_id(&id)?, Question::read(params)?);
    let series = question.ask(&edge, &app, Pushes::Group(id)).await?;
    shown(&links, &app, Of::GroupId(id), &format!("pergroup/series/{id}"), &series)
}

impl Question {
    fn read(mut params: Params) -> Result<Self> {
        let (start, end) = (params.date("start"), params.date("end"));
        let precision = params.choice("precision", &Precision::NAMED).unwrap_or(Precision::Hourly);
        params.finish()?;
        Ok(Self { start, end, precision })
    }

    async fn ask(self, edge: &Edge, app: &App, pushes: Pushes) -> Result<Series> {
        let Self { start, end, precision } = self;
        Ok(edge.engine.events().series(app.id, pushes, start, end, precision, MOST_BUCKETS).await?)
    }
}

fn shown(links: &Links, app: &App, of: Of, path: &str, series: &Series) -> Result<Answer> {
    let next_page = series.buckets.rest.as_ref().map(|rest| rest_of(links, path, rest));
    let record = SeriesRecord {
        app_key: app.key.as_str(),
        of,
        start: series.period.start().to_report(),
        end: series.period.end().to_report(),
        precision: series.period.precision.name(),
        next_page: next_page.clone(),
        counts: series.buckets.buckets.iter().map(|(start, counts)| Bucket::of(*start, counts)).collect(),
    };
    Ok(Answer::ok(record)?.next_page(next_page.as_deref()))
}

impl Bucket {
    fn of(start: UtcMillis, counts: &Counts) -> Self {
        let mut push_platforms = by_device_platform(counts, |platform| PlatformFigures::on(counts, platform));
        push_platforms.insert("all", PlatformFigures::on_devices(counts));
        let all = RichFigures {
            responses: counts.on_devices(Metric::RichReads),
            sends: counts.on_devices(Metric::RichSends),
        };
        Self { time: start.to_report(), push_platforms, rich_push_platforms: RichPlatforms { all } }
    }
}
