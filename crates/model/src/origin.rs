//! Where a push comes from, and for which part of its audience it is meant.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::event::{PushResource, SharedPush};
use crate::experiment::Share;
use crate::ids::{ExperimentId, Id, PipelineId, PushId, ScheduleId};
use crate::payload::Push;
use crate::payload::push_type::PushType;
use crate::payload::template::TemplateId;

/// The cause of accepting a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A request for this push.
    Api,
    Template(TemplateId),
    Schedule(ScheduleId),
    Experiment(ExperimentId),
    Pipeline(PipelineId),
}

/// Everything a push has to remember about where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    pub origin: Origin,
    /// The name of the run, which is one of the times at which the origin sends. A channel gets at most one push of a run.
    pub run: Option<String>,
    pub part: Part,
}

/// The part of its audience that a push goes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Everybody,
    /// Channels whose clocks are among these, by the names of [`crate::property::device_clocks`].
    Clocks(Vec<String>),
    Variant(VariantPart),
    /// The channels that triggered it, which are stored with the push until it is resolved.
    Triggered,
}

/// The channels to which an experiment assigns one of its variants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariantPart {
    pub variant: u32,
    pub share: Share,
    /// The share that gets nothing. Only pushes of the first variant to be sent have it: the group is recorded once.
    pub control: Option<Share>,
    /// The same share, if it is not empty, with every push: so each can tell who of the others is in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Share>,
    /// Only channels whose clocks are among these, by the same names; `None` for all.
    pub clocks: Option<Vec<String>>,
}

impl Provenance {
    /// For a push that goes to all of its audience.
    pub const fn of(origin: Origin) -> Self {
        Self { origin, run: None, part: Part::Everybody }
    }
}

impl Provenance {
    /// The type of the push in reports.
    pub fn push_type(&self, push: &Push) -> PushType {
        match (self.origin, push.push_type()) {
            (Origin::Schedule(_), PushType::CreateAndSendPush) => PushType::CreateAndSendPush,
            (Origin::Schedule(_), _) => PushType::ScheduledPush,
            (Origin::Api | Origin::Template(_) | Origin::Experiment(_) | Origin::Pipeline(_), by_audience) => {
                by_audience
            }
        }
    }

    /// The data about a push that its events share.
    pub fn shared_push(&self, id: PushId, push: &Push) -> SharedPush {
        let categories = push.campaigns.as_ref().map(|campaigns| campaigns.categories.as_slice().to_vec());
        SharedPush {
            group_id: self.origin.group(),
            variant_id: self.variant(),
            experiment_id: self.experiment(),
            categories: categories.unwrap_or_default(),
            ..SharedPush::of(id)
        }
    }

    /// The variant of an experiment that is sent.
    pub const fn variant(&self) -> Option<u32> {
        match &self.part {
            Part::Everybody | Part::Clocks(_) | Part::Triggered => None,
            Part::Variant(part) => Some(part.variant),
        }
    }

    pub const fn experiment(&self) -> Option<ExperimentId> {
        match self.origin {
            Origin::Experiment(id) => Some(id),
            Origin::Api | Origin::Template(_) | Origin::Schedule(_) | Origin::Pipeline(_) => None,
        }
    }
}

impl Origin {
    /// For callers, and stored: never change one.
    pub const fn name(self) -> &'static str {
        match self {
            Origin::Api => "api",
            Origin::Template(_) => "template",
            Origin::Schedule(_) => "schedule",
            Origin::Experiment(_) => "experiment",
            Origin::Pipeline(_) => "pipeline",
        }
    }

    /// The id of the template, schedule, experiment or pipeline.
    pub const fn id(self) -> Option<Uuid> {
        match self {
            Origin::Api => None,
            Origin::Template(id) => Some(id.uuid()),
            Origin::Schedule(id) => Some(id.uuid()),
            Origin::Experiment(id) => Some(id.uuid()),
            Origin::Pipeline(id) => Some(id.uuid()),
        }
    }

    /// The reverse of [`Origin::name`] and [`Origin::id`]; `None` for an unknown name.
    pub fn from_parts(name: &str, id: Uuid) -> Option<Self> {
        match name {
            "template" => Some(Origin::Template(Id::from_uuid(id))),
            "schedule" => Some(Origin::Schedule(Id::from_uuid(id))),
            "experiment" => Some(Origin::Experiment(Id::from_uuid(id))),
            "pipeline" => Some(Origin::Pipeline(Id::from_uuid(id))),
            _ => None,
        }
    }

    /// The resource that events name.
    pub const fn resource(self) -> PushResource {
        match self {
            Origin::Api | Origin::Template(_) => PushResource::Push,
            Origin::Schedule(_) => PushResource::Schedules,
            Origin::Experiment(_) => PushResource::Experiments,
            Origin::Pipeline(_) => PushResource::Pipelines,
        }
    }

    /// The id that groups, in events, all pushes that one schedule, experiment or pipeline sends over time.
    pub const fn group(self) -> Option<Uuid> {
        match self {
            Origin::Api | Origin::Template(_) => None,
            Origin::Schedule(_) | Origin::Experiment(_) | Origin::Pipeline(_) => self.id(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_survive_storage() {
        let id = Uuid::from_u128(7);
        for origin in [
            Origin::Template(Id::from_uuid(id)),
            Origin::Schedule(Id::from_uuid(id)),
            Origin::Experiment(Id::from_uuid(id)),
            Origin::Pipeline(Id::from_uuid(id)),
        ] {
            assert_eq!(Origin::from_parts(origin.name(), origin.id().unwrap()), Some(origin));
        }
        assert_eq!(Origin::from_parts("api", id), None, "nothing is stored about it");
    }
}
