//! Reports of experiments, in the form that strict clients know.

use std::collections::BTreeMap;

use axum::extract::State;
use campaigns::VariantResults;
use events::{Counts, Metric};
use model::experiment::{Outcome, Share};
use model::ids::{ExperimentId, ExperimentKind};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::path_vars::{PathId, PathVars, id_in_path};

/// Clients refuse keys that they do not know.
#[derive(Serialize, JsonSchema)]
pub(super) struct Overview<'r> {
    app_key: &'r str,
    experiment_id: ExperimentId,
    push_id: ExperimentId,
    created: String,
    sends: u64,
    direct_responses: u64,
    influenced_responses: u64,
    web_clicks: u64,
    web_sessions: u64,
    variants: Vec<VariantFigures>,
    control: ControlFigures,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct VariantFigures {
    id: u32,
    name: String,
    audience_pct: f64,
    sends: u64,
    direct_responses: u64,
    direct_response_pct: f64,
    indirect_responses: u64,
    indirect_response_pct: f64,
}

/// Nothing is sent to them: `sends` is how many were held back, and `responses` how many of them opened the app.
#[derive(Serialize, JsonSchema)]
pub(super) struct ControlFigures {
    audience_pct: f64,
    sends: u64,
    responses: u64,
    response_rate_pct: f64,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Detail<'r> {
    app_key: &'r str,
    experiment_id: ExperimentId,
    push_id: ExperimentId,
    created: String,
    variant: u32,
    variant_name: String,
    #[serde(flatten)]
    all: Figures,
    platforms: BTreeMap<&'r str, Figures>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "VariantPlatformFigures")]
pub(super) struct Figures {
    sends: u64,
    direct_responses: u64,
    influenced_responses: u64,
}

pub(super) async fn overview(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(id): PathId<ExperimentKind>,
) -> Result<Answer> {
    let results = edge.engine.campaigns().experiment_results(app.id, id).await?;
    let shares = results.experiment.shares();
    let each = results.experiment.variants.iter().zip(&results.variants).zip(&shares.variants);
    let variants =
        each.map(|((variant, results), share)| VariantFigures::of(variant.id, variant.title(), results, *share));
    let sum = |figure: fn(&Counts) -> u64| results.variants.iter().map(|variant| figure(&variant.counts)).sum();
    let on_web = |metric| results.variants.iter().map(|variant| variant.counts.on("web", metric)).sum::<u64>();
    let clicks = on_web(Metric::DirectResponses);
    Answer::ok(Overview {
        app_key: app.key.as_str(),
        experiment_id: results.id,
        push_id: results.id,
        created: results.created.to_report(),
        sends: sum(|counts| total(counts, Metric::Sends)),
        direct_responses: sum(|counts| total(counts, Metric::DirectResponses)),
        influenced_responses: sum(|counts| total(counts, Metric::InfluencedResponses)),
        web_clicks: clicks,
        web_sessions: clicks + on_web(Metric::InfluencedResponses),
        variants: variants.collect(),
        control: ControlFigures {
            audience_pct: percent(shares.control.fraction()),
            sends: results.control.sent,
            responses: results.control.responded(),
            response_rate_pct: percent(results.control.rate().unwrap_or(0.0)),
        },
    })
}

pub(super) async fn detail(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathVars((id, variant)): PathVars<(String, String)>,
) -> Result<Answer> {
    let results = edge.engine.campaigns().experiment_results(app.id, id_in_path(&id)?).await?;
    let index: Option<usize> = variant.parse().ok();
    let found = index.and_then(|index| results.experiment.variants.get(index).zip(results.variants.get(index)));
    let no_variant = || Error::NotFound("The experiment has no such variant; they are counted from 0.".to_owned());
    let (variant, VariantResults { counts, .. }) = found.ok_or_else(no_variant)?;
    let families = counts.families().into_iter().chain(["android", "ios"]);
    Answer::ok(Detail {
        app_key: app.key.as_str(),
        experiment_id: results.id,
        push_id: results.id,
        created: results.created.to_report(),
        variant: variant.id,
        variant_name: variant.title(),
        all: Figures::of(|metric| total(counts, metric)),
        platforms: families.map(|family| (family, Figures::of(|metric| counts.on(family, metric)))).collect(),
    })
}

impl VariantFigures {
    fn of(id: u32, name: String, results: &VariantResults, share: Share) -> Self {
        let Figures { sends, direct_responses, influenced_responses } =
            Figures::of(|metric| total(&results.counts, metric));
        let rate = |responses| percent(Outcome::new(sends, responses).rate().unwrap_or(0.0));
        Self {
            id,
            name,
            audience_pct: percent(share.fraction()),
            sends,
            direct_responses,
            direct_response_pct: rate(direct_responses),
            indirect_responses: influenced_responses,
            indirect_response_pct: rate(influenced_responses),
        }
    }
}

impl Figures {
    fn of(figure: impl Fn(Metric) -> u64) -> Self {
        Self {
            sends: figure(Metric::Sends),
            direct_responses: figure(Metric::DirectResponses),
            influenced_responses: figure(Metric::InfluencedResponses),
        }
    }
}

/// On all devices and open platforms.
fn total(counts: &Counts, metric: Metric) -> u64 {
    counts.families().into_iter().map(|family| counts.on(family, metric)).sum()
}

/// With two decimals.
pub(super) fn percent(fraction: f64) -> f64 {
    (fraction * 10_000.0).round() / 100.0
}
