//! The results of an experiment; only our own client knows this route.

use axum::extract::State;
use campaigns::ExperimentResults;
use model::experiment::{Difference, Interval, Outcome, Share, difference, interval};
use model::ids::{ExperimentId, ExperimentKind, PushId};
use schemars::JsonSchema;
use serde::Serialize;

use super::experiment_reports::percent;
use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::path_vars::PathId;

#[derive(Serialize, JsonSchema)]
pub(super) struct Results {
    experiment_id: ExperimentId,
    has_started: bool,
    /// What can be concluded, as a sentence.
    verdict: String,
    variants: Vec<VariantResult>,
    /// Those who get nothing, to compare with.
    #[serde(skip_serializing_if = "Option::is_none")]
    control: Option<GroupResult>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct VariantResult {
    id: u32,
    name: String,
    push_ids: Vec<PushId>,
    #[serde(flatten)]
    group: GroupResult,
    /// By how much more of these opened the app than of the control group, in percentage points.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference_to_control: Option<DifferenceRecord>,
    /// The same against the variant of which most opened it; not of that one itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference_to_best: Option<DifferenceRecord>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct GroupResult {
    /// The share of the audience.
    audience_pct: f64,
    /// How many channels are in the group.
    chosen: u64,
    /// How many of them opened the app within 12 hours.
    opened: u64,
    opened_pct: Option<f64>,
    /// Where the true rate lies, 95 times out of 100.
    interval_pct: Option<[f64; 2]>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct DifferenceRecord {
    /// In percentage points.
    points: f64,
    interval: [f64; 2],
    /// Whether the interval does not contain zero.
    clear: bool,
}

pub(super) async fn results(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<ExperimentKind>,
) -> Result<Answer> {
    let results = edge.engine.campaigns().experiment_results(app.id, id).await?;
    Answer::ok(Results::of(&results))
}

impl Results {
    fn of(results: &ExperimentResults) -> Self {
        let shares = results.experiment.shares();
        let control = results.experiment.has_control().then_some(results.control);
        let rated = results.variants.iter().enumerate().filter_map(|(n, variant)| Some((n, variant.outcome.rate()?)));
        let best = rated.reduce(|best, other| if other.1 > best.1 { other } else { best }).map(|(n, _)| n);
        let each = results.experiment.variants.iter().zip(&results.variants).zip(&shares.variants).enumerate();
        let variants = each.map(|(n, ((variant, result), share))| {
            let best = best.filter(|best| *best != n).and_then(|best| results.variants.get(best));
            VariantResult {
                id: variant.id,
                name: variant.title(),
                push_ids: result.push_ids.clone(),
                group: GroupResult::of(result.outcome, *share),
                difference_to_control: control.and_then(|control| difference(result.outcome, control)).map(Into::into),
                difference_to_best: best.and_then(|best| difference(result.outcome, best.outcome)).map(Into::into),
            }
        });
        Self {
            experiment_id: results.id,
            has_started: results.has_started,
            verdict: results.verdict(),
            variants: variants.collect(),
            control: control.map(|control| GroupResult::of(control, shares.control)),
        }
    }
}

impl GroupResult {
    fn of(outcome: Outcome, share: Share) -> Self {
        Self {
            audience_pct: percent(share.fraction()),
            chosen: outcome.sent,
            opened: outcome.responded(),
            opened_pct: outcome.rate().map(percent),
            interval_pct: interval(outcome).map(percents),
        }
    }
}

impl From<Difference> for DifferenceRecord {
    fn from(difference: Difference) -> Self {
        let clear = difference.is_clear();
        Self { points: percent(difference.by), interval: percents(difference.interval), clear }
    }
}

fn percents(Interval { low, high }: Interval) -> [f64; 2] {
    [percent(low), percent(high)]
}
