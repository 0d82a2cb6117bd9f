//! Events that tell what became of a push, and how other events refer to one.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ids::{EventId, ExperimentId, PushId};
use crate::payload::extra::TextExtra;
use crate::time::UtcMillis;

/// A push was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushBody {
    pub push_id: PushId,
    /// What all pushes of the schedule, experiment or pipeline have in common: its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_id: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaigns: Option<Campaign>,
    pub resource: PushResource,
    /// The push as submitted, as JSON text; absent from a push whose payload is redacted. Customers get it in base64.
    pub payload: Option<String>,
}

/// What a push came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PushResource {
    Push,
    Schedules,
    Experiments,
    Pipelines,
}

/// The names under which the results of a push are added up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Campaign {
    pub categories: Vec<String>,
}

/// A push, as the events of devices refer to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssociatedPush {
    pub push_id: PushId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_id: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant_id: Option<u32>,
    /// When it was sent, as events write times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaigns: Option<Campaign>,
}

/// A message was read or deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RichMessage {
    #[serde(flatten)]
    pub push: AssociatedPush,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<MessageContext>,
}

/// What else there is to a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageContext {
    /// What it says to the app beside its text.
    pub extra: TextExtra,
}

impl MessageContext {
    /// `None` if there is nothing to say.
    pub fn of(extra: TextExtra) -> Option<Self> {
        (!extra.is_empty()).then_some(Self { extra })
    }
}

/// The same that happened to many channels by one push, recorded together (binary): they were sent to, held back as the control
/// group, or given a message. The kind of the record says which. Each stands for one event, whose id follows from the kind, the
/// push and the channel. After it, a record of messages has their [`TextExtra`], unless that is empty or not the same for all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Many {
    pub push: SharedPush,
    pub occurred: UtcMillis,
    /// Of a delivery: whether the notification was visible or audible.
    pub alerting: bool,
    /// The ordinals of the channels, as a serialized set.
    pub ordinals: Vec<u8>,
}

/// What the events of one [`Many`] say about the push. Without names, because the record is binary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedPush {
    pub push_id: PushId,
    pub group_id: Option<Uuid>,
    /// The variant of an experiment.
    pub variant_id: Option<u32>,
    pub experiment_id: Option<ExperimentId>,
    pub categories: Vec<String>,
    /// Nothing. What set off an automated message differs from channel to channel and is kept with the push; records that are
    /// stored have a place for it.
    pub triggered_by: Option<EventId>,
}

impl SharedPush {
    /// The names under which its results are added up, if it has some.
    pub fn campaigns(&self) -> Option<Campaign> {
        (!self.categories.is_empty()).then(|| Campaign { categories: self.categories.clone() })
    }

    pub const fn of(push_id: PushId) -> Self {
        Self {
            push_id,
            group_id: None,
            variant_id: None,
            experiment_id: None,
            categories: Vec::new(),
            triggered_by: None,
        }
    }
}
