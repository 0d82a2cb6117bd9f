//! An experiment as it is stored: the request, and how far each variant has got.

use std::fmt;

use base::{Error, Result, readable, stored_body};
use jobs::JobId;
use model::experiment::Experiment;
use model::ids::{AppId, ExperimentId, PushId};
use model::schedule::Schedule;
use model::time::UtcMillis;
use serde::{Deserialize, Deserializer, Serialize};
use store::Tx;
use store::documents::{self, Document, DocumentKind};

use super::ExperimentView;
use super::fire::FireVariant;
use crate::Campaigns;
use crate::schedules::Timing;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stored {
    #[serde(deserialize_with = "experiment")]
    pub(crate) experiment: Experiment,
    /// Whether a variant has been sent.
    pub(super) has_started: bool,
    /// The variant whose pushes the control group is chosen with: the first that was sent, if there is a control group.
    pub(super) control_with: Option<u32>,
    /// One for each variant; none for those without a schedule.
    pub(crate) timings: Vec<Option<Timing>>,
    /// By whose credential it was asked for: the author of what it sends.
    #[serde(default)]
    pub(super) author: Option<String>,
}

/// Sorts experiments that wait by when they start, as text too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StartKey {
    millis: u64,
    id: ExperimentId,
}

impl fmt::Display for StartKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:020}-{}", self.millis, self.id)
    }
}

impl Stored {
    /// Of an experiment that has sent nothing.
    pub(super) fn starting(experiment: Experiment, now: UtcMillis) -> Self {
        let schedules = experiment.variants.iter().map(|variant| variant.schedule.as_ref());
        let timings = schedules.map(|schedule| Some(Timing::starting(schedule?, now, PushId::at(now)))).collect();
        Self { experiment, has_started: false, control_with: None, timings, author: None }
    }

    pub(super) fn view(document: &Document) -> Result<ExperimentView> {
        let id = document.id.parse().map_err(Error::internal)?;
        Ok(ExperimentView { id, experiment: Self::read(&document.body)?.experiment, created: document.created })
    }

    /// For listings: an unreadable one does not hide the others.
    pub(super) fn known_view(document: &Document) -> Option<ExperimentView> {
        readable(DocumentKind::Experiment, &document.id, Self::view(document))
    }

    /// With its id, unless it cannot be read.
    pub(crate) fn named(document: &Document) -> Option<(ExperimentId, Self)> {
        let id = readable(DocumentKind::Experiment, &document.id, document.id.parse().map_err(Error::internal))?;
        Some((id, Self::readable(document)?))
    }

    /// Unless it cannot be read.
    pub(super) fn readable(document: &Document) -> Option<Self> {
        readable(DocumentKind::Experiment, &document.id, Self::read(&document.body))
    }

    /// The jobs that send variants, and when.
    pub(super) fn timers(&self) -> impl Iterator<Item = (JobId, UtcMillis)> {
        self.timings.iter().flatten().filter_map(|timing| timing.timer)
    }

    /// A variant that is sent by this timer.
    pub(super) fn waiting(&self, variant: u32, timer: JobId) -> Option<(&Schedule, &Timing)> {
        let schedule = self.experiment.variants.get(variant as usize)?.schedule.as_ref()?;
        let timing = self.timings.get(variant as usize)?.as_ref()?;
        timing.timer.is_some_and(|(expected, _)| expected == timer).then_some((schedule, timing))
    }

    pub(super) fn set_timing(&mut self, variant: u32, timing: Timing) {
        if let Some(of_variant) = self.timings.get_mut(variant as usize) {
            *of_variant = Some(timing);
        }
    }

    /// Its position among the experiments that wait for their start.
    pub(super) fn start_key(&self, id: ExperimentId) -> Option<StartKey> {
        let start = self.timers().map(|(_, due)| due).min().filter(|_| !self.has_started)?;
        Some(StartKey { millis: u64::try_from(start.0).unwrap_or(0), id })
    }

    /// It was checked when it was stored, so a problem now is our fault.
    pub(super) fn read(body: &str) -> Result<Self> {
        serde_json::from_str(body).map_err(Error::internal)
    }
}

fn experiment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Experiment, D::Error> {
    stored_body(deserializer, Experiment::parse_stored)
}

impl Campaigns {
    /// Writes an experiment and sets those of its timers that are new.
    pub(super) fn put_experiment(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        id: ExperimentId,
        before: Option<&Stored>,
        stored: &Stored,
        now: UtcMillis,
    ) -> Result<()> {
        let body = serde_json::to_string(stored).map_err(Error::internal)?;
        documents::put(tx, app, DocumentKind::Experiment, &id.to_string(), &body, now)?;
        if let Some(old) = before.and_then(|before| before.start_key(id)) {
            documents::delete(tx, app, DocumentKind::ExperimentStart, &old.to_string())?;
        }
        if let Some(new) = stored.start_key(id) {
            documents::put(tx, app, DocumentKind::ExperimentStart, &new.to_string(), &id.to_string(), now)?;
        }
        let had = |timer: JobId| before.is_some_and(|before| before.timers().any(|(old, _)| old == timer));
        for (variant, timing) in (0..).zip(&stored.timings) {
            if let Some((timer, due)) = timing.and_then(|timing| timing.timer).filter(|(timer, _)| !had(*timer)) {
                jobs::enqueue_as(tx, app, timer, due, &FireVariant { experiment: id, variant })?;
            }
        }
        Ok(())
    }
}
