//! The results of an experiment so far.

use std::collections::BTreeMap;

use base::Result;
use boxed::boxed;
use events::Counts;
use model::experiment::{Experiment, Outcome, verdict};
use model::ids::{AppId, ExperimentId, PushId};
use model::origin::{Origin, Provenance};
use model::time::UtcMillis;
use store::counters::{self, Metric, PushTotal};
use store::documents::{self, DocumentKind};
use store::experiment_groups;
use store::{Tx, origins};

use super::NOT_FOUND;
use super::stored::Stored;
use crate::Campaigns;

const COUNTED: [Metric; 3] = [Metric::Sends, Metric::DirectResponses, Metric::InfluencedResponses];

#[derive(Clone, Debug)]
pub struct ExperimentResults {
    pub id: ExperimentId,
    pub experiment: Experiment,
    pub created: UtcMillis,
    pub has_started: bool,
    /// One for each variant, in their order.
    pub variants: Vec<VariantResults>,
    pub control: Outcome,
}

#[derive(Clone, Debug)]
pub struct VariantResults {
    /// Its pushes: one, or one for each local time.
    pub push_ids: Vec<PushId>,
    /// The channels chosen for it, and those of them that opened the app within twelve hours.
    pub outcome: Outcome,
    /// The counts of its pushes.
    pub counts: Counts,
}

#[boxed]
impl Campaigns {
    pub async fn experiment_results(&self, app: AppId, id: ExperimentId) -> Result<ExperimentResults> {
        self.0.store.read(move |tx| results(tx, app, id)).await
    }
}

impl ExperimentResults {
    /// The conclusion, in plain words.
    pub fn verdict(&self) -> String {
        let named = self.experiment.variants.iter().zip(&self.variants);
        let outcomes: Vec<_> = named.map(|(variant, results)| (variant.title(), results.outcome)).collect();
        verdict(&outcomes, self.experiment.has_control().then_some(self.control))
    }
}

fn results(tx: &mut Tx<'_>, app: AppId, id: ExperimentId) -> Result<ExperimentResults> {
    let document = documents::get(tx, app, DocumentKind::Experiment, &id.to_string())?.ok_or(NOT_FOUND)?;
    let Stored { experiment, has_started, .. } = Stored::read(&document.body)?;
    let sent = origins::all_of(tx, app, Origin::Experiment(id))?;
    let push_ids: Vec<PushId> = sent.iter().map(|(push, _)| *push).collect();
    let mut counts: BTreeMap<PushId, Counts> = BTreeMap::new();
    for PushTotal { push, total } in counters::totals_of_each(tx, app, &push_ids, &COUNTED)? {
        counts.entry(push).or_default().add(total.device_type, total.metric, total.n);
    }
    let groups = experiment_groups::totals(tx, app, id)?;
    let outcome = |variant| {
        let group = groups.iter().find(|group| group.variant == variant);
        group.map_or(Outcome::new(0, 0), |group| Outcome::new(group.n_members, group.n_opened))
    };
    let variants = experiment.variants.iter().map(|variant| {
        let is_its = |(_, provenance): &&(PushId, Provenance)| provenance.variant() == Some(variant.id);
        let push_ids: Vec<PushId> = sent.iter().filter(is_its).map(|(push, _)| *push).collect();
        let mut sum = Counts::default();
        push_ids.iter().filter_map(|push| counts.get(push)).for_each(|counts| sum.add_all(counts));
        VariantResults { push_ids, outcome: outcome(Some(variant.id)), counts: sum }
    });
    let (variants, control) = (variants.collect(), outcome(None));
    Ok(ExperimentResults { id, created: document.created, has_started, variants, control, experiment })
}
