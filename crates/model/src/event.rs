//! What happened to an app, as it stands in the log.
//!
//! A public event is one record of its type. Deliveries are the exception: a checkpoint writes one record for thousands
//! of them, which readers expand.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::channel::TagSets;
use crate::ids::{EventId, PushId};
use crate::time::UtcMillis;

/// The type of a log record. The numbers are stored: never reuse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordKind {
    /// Terms that channels gained and lost; feeds the audience index and is not shown to customers.
    Terms,
    PushBody,
    Send,
    FirstOpen,
    Uninstall,
    TagChange,
}

impl RecordKind {
    pub const NUMBERED: [(i64, RecordKind); 6] = [
        (0, RecordKind::Terms),
        (1, RecordKind::PushBody),
        (2, RecordKind::Send),
        (3, RecordKind::FirstOpen),
        (4, RecordKind::Uninstall),
        (5, RecordKind::TagChange),
    ];

    pub fn number(self) -> i64 {
        match self {
            RecordKind::Terms => 0,
            RecordKind::PushBody => 1,
            RecordKind::Send => 2,
            RecordKind::FirstOpen => 3,
            RecordKind::Uninstall => 4,
            RecordKind::TagChange => 5,
        }
    }

    pub fn from_number(number: i64) -> Option<Self> {
        Self::NUMBERED.into_iter().find(|(n, _)| *n == number).map(|(_, kind)| kind)
    }
}

/// An event about at most one channel, as stored (JSON) in a record of its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event<Body> {
    pub id: EventId,
    pub occurred: UtcMillis,
    pub body: Body,
}

/// A push was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushBody {
    pub push_id: PushId,
    /// What all pushes of the schedule, experiment or pipeline have in common: its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_id: Option<Uuid>,
    pub resource: PushResource,
    /// The push as submitted, as JSON text; absent from a push whose payload is redacted.
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

/// A channel registered for the first time. There is nothing more to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstOpen {}

/// A channel was uninstalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uninstall {
    /// Whether it was given up for inactivity.
    pub decay: bool,
}

/// The tags of a channel changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagChange {
    pub add: TagSets,
    pub remove: TagSets,
    /// The state after the change, of the groups that changed.
    pub current: TagSets,
}

/// Many deliveries of one push, recorded together (binary). Each stands for one SEND event whose id follows from the push and
/// the channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sends {
    pub push_id: PushId,
    pub occurred: UtcMillis,
    /// Whether the notification was visible or audible.
    pub alerting: bool,
    /// The ordinals of the channels, as a serialized set.
    pub ordinals: Vec<u8>,
}
