//! What sends pushes by itself: schedules, experiments and pipelines, and the templates that they are made of.

mod calendar;
mod content_templates;
mod drafts;
mod experiments;
mod journeys;
mod pipelines;
mod schedules;
mod search;
mod templates;

use std::sync::Arc;

use base::{Base, Metrics, SharedClock};
use events::Events;
use index::Indexes;
use model::ids::AppId;
use model::time::Clock;
use sending::Sending;
use store::Store;
use targeting::Targeting;
use tenancy::Tenancy;

pub use calendar::{Calendar, Occurrence, OccurrenceKind};
pub use content_templates::{ContentTemplatePage, ContentTemplateSort, CreatedContentTemplate};
pub use drafts::{CreatedDraft, DraftPage, DraftView, SentDraft};
pub use experiments::{
    CreatedExperiment, ExperimentDeletion, ExperimentPage, ExperimentResults, ExperimentView, VariantResults,
};
pub use pipelines::{
    CreatedPipelines, DeletedPipeline, PipelineCounts, PipelineFilter, PipelineLimits, PipelinePage, PipelineSort,
    PipelineView, TriggerKind, note_cleaned,
};
pub use schedules::{CreatedSchedules, NamedSchedule, SchedulePage, ScheduleView};
pub use templates::{
    CreatedTemplate, CreatedTemplateSchedules, SentTemplates, TemplatePage, TemplateSort, TemplateView,
};

/// The campaigns of the apps; clones share everything.
#[derive(Clone)]
pub struct Campaigns(Arc<Parts>);

struct Parts {
    store: Store,
    clock: Clock,
    /// For leases of jobs, which other nodes judge.
    shared_clock: SharedClock,
    metrics: Metrics,
    tenancy: Tenancy,
    index: Indexes,
    targeting: Targeting,
    sending: Sending,
    events: Events,
    watches: pipelines::Watches,
    pipeline_limits: PipelineLimits,
}

impl Campaigns {
    pub fn new(
        base: &Base,
        tenancy: &Tenancy,
        index: &Indexes,
        targeting: &Targeting,
        sending: &Sending,
        events: &Events,
        pipeline_limits: PipelineLimits,
    ) -> Self {
        Self(Arc::new(Parts {
            store: base.store.clone(),
            clock: base.clock.clone(),
            shared_clock: base.shared_clock.clone(),
            metrics: base.metrics.clone(),
            tenancy: tenancy.clone(),
            index: index.clone(),
            targeting: targeting.clone(),
            sending: sending.clone(),
            events: events.clone(),
            watches: pipelines::Watches::default(),
            pipeline_limits,
        }))
    }

    /// Gives up what is known of the pipelines of a deleted app.
    pub fn forget_app(&self, app: AppId) {
        self.0.watches.forget(app);
    }

    /// The kinds of jobs of this room.
    pub fn jobs(&self) -> [jobs::Kind; 8] {
        [
            jobs::Kind::of::<schedules::FireSchedule>(self),
            jobs::Kind::of::<experiments::FireVariant>(self),
            jobs::Kind::of::<experiments::WithholdControlGroup>(self),
            jobs::Kind::of::<pipelines::FollowTriggers>(self),
            jobs::Kind::of::<pipelines::FirePipeline>(self),
            jobs::Kind::of::<pipelines::CheckInactivity>(self),
            jobs::Kind::of::<pipelines::ClearWaitingList>(self),
            jobs::Kind::of::<journeys::MoveThroughJourneys>(self),
        ]
    }
}
