//! Which pipelines a listing is about, and in which order it shows them.

use model::event::RegionAction;
use model::pipeline::Happening;
use model::time::UtcMillis;
use store::documents::Order;

use super::PipelineView;

/// Everything that is given has to hold.
#[derive(Clone, Debug)]
pub struct PipelineFilter {
    pub only_enabled: bool,
    pub started_after: Option<UtcMillis>,
    pub name_prefix: Option<String>,
    /// Pipelines that any of these triggers; all, if there is none.
    pub triggers: Vec<TriggerKind>,
    pub sort: PipelineSort,
    pub order: Order,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineSort {
    Name,
    Started,
}

/// The kinds of triggers that listings tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerKind {
    TagAdded,
    TagRemoved,
    FirstRegistration,
    FirstOptIn,
    Activity,
    RegionEntered,
    RegionExited,
    CustomEvent,
    SubscriptionAdded,
    SubscriptionRemoved,
}

impl PipelineFilter {
    pub(super) fn lets_through(&self, view: &PipelineView) -> bool {
        let pipeline = &view.pipeline;
        let is_triggered_by = |kind: &TriggerKind| {
            let is_historical = *kind == TriggerKind::Activity && !pipeline.historical.is_empty();
            is_historical || pipeline.immediate.iter().any(|trigger| kind_of(&trigger.happening) == *kind)
        };
        let is_named = |prefix: &String| name(view).starts_with(prefix);
        (pipeline.enabled || !self.only_enabled)
            && self.started_after.is_none_or(|instant| started(view) > instant)
            && self.name_prefix.as_ref().is_none_or(is_named)
            && (self.triggers.is_empty() || self.triggers.iter().any(is_triggered_by))
    }

    pub(super) fn sort(&self, views: &mut [PipelineView]) {
        match self.sort {
            PipelineSort::Name => views.sort_by(|one, other| name(one).cmp(name(other))),
            PipelineSort::Started => views.sort_by_key(started),
        }
        if self.order == Order::Descending {
            views.reverse();
        }
    }
}

fn name(view: &PipelineView) -> &str {
    view.pipeline.name.as_deref().unwrap_or_default()
}

/// A pipeline starts when it is created, or later if it says so.
fn started(view: &PipelineView) -> UtcMillis {
    view.pipeline.active.from.map_or(view.created, |from| from.max(view.created))
}

const fn kind_of(happening: &Happening) -> TriggerKind {
    match happening {
        Happening::Open => TriggerKind::Activity,
        Happening::FirstOpen => TriggerKind::FirstRegistration,
        Happening::FirstOptIn => TriggerKind::FirstOptIn,
        Happening::TagAdded { .. } => TriggerKind::TagAdded,
        Happening::TagRemoved { .. } => TriggerKind::TagRemoved,
        Happening::SubscriptionAdded(_) => TriggerKind::SubscriptionAdded,
        Happening::SubscriptionRemoved(_) => TriggerKind::SubscriptionRemoved,
        Happening::Custom(_) => TriggerKind::CustomEvent,
        Happening::Region { action: RegionAction::Enter, .. } => TriggerKind::RegionEntered,
        Happening::Region { action: RegionAction::Exit, .. } => TriggerKind::RegionExited,
    }
}
