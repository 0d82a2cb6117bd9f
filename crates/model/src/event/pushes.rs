//! Events about the fate of a push, and how other events refer to one.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ids::{ExperimentId, PushId};
use crate::payload::extra::TextExtra;
use crate::time::UtcMillis;

/// A push was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushBody {
    pub push_id: PushId,
    /// The id of the schedule, experiment or pipeline, which all of its pushes share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_id: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaigns: Option<Campaign>,
    pub resource: PushResource,
    /// The push as submitted, as JSON text; absent from a push whose payload is redacted. Customers get it in base64.
    pub payload: Option<String>,
}

/// The kind of resource that a push came from.
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

/// Further data of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageContext {
    /// The data for the app beside the text of the message.
    pub extra: TextExtra,
}

impl MessageContext {
    /// `None` if `extra` is empty.
    pub fn of(extra: TextExtra) -> Option<Self> {
        (!extra.is_empty()).then_some(Self { extra })
    }
}

/// Why a message could not be handed over, in the words of the public event. In binary records they are numbers: never change
/// their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RejectionStatus {
    /// The provider knows no such address.
    BadDeviceToken,
    /// The address belongs to another app, project or key pair.
    Unauthorized,
    /// The provider does not take such a message.
    InvalidParameters,
    MessageTooBig,
    /// The provider could not be reached, or took nothing, for so long that it was given up.
    Unavailable,
    /// The device is gone.
    Uninstalled,
}

/// What follows a [`Many`] of rejected messages in its record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    pub status: RejectionStatus,
    /// In the words of the provider; empty when there are none.
    pub reason: String,
}

/// The same event of many channels by one push, recorded together (binary): they were sent to, held back as the control group,
/// or given a message, or could not be sent to. The kind of the record says which. Each stands for one event, whose id follows
/// from the kind, the push and the channel. In a record of messages their [`TextExtra`] comes after it, unless empty or not the
/// same for all, and in one of rejections their [`Rejection`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Many {
    pub push: SharedPush,
    pub occurred: UtcMillis,
    /// Of a delivery: whether the notification was visible or audible.
    pub alerting: bool,
    /// The ordinals of the channels, as a serialized set.
    pub ordinals: Vec<u8>,
}

/// The message for live connections, which follows the channels of its record: as devices of one type and language get it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveContent {
    /// Nobody is sent it after this time.
    pub expires: Option<UtcMillis>,
    /// A JSON object.
    pub message: String,
}

/// The data about the push that the events of one [`Many`] share. In binary records its fields have no names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedPush {
    pub push_id: PushId,
    pub group_id: Option<Uuid>,
    /// The variant of an experiment.
    pub variant_id: Option<u32>,
    pub experiment_id: Option<ExperimentId>,
    pub categories: Vec<String>,
}

impl SharedPush {
    /// The names under which its results are added up, if there are any.
    pub fn campaigns(&self) -> Option<Campaign> {
        (!self.categories.is_empty()).then(|| Campaign { categories: self.categories.clone() })
    }

    /// The push as other events refer to it.
    pub fn sent_at(&self, sent: UtcMillis) -> AssociatedPush {
        AssociatedPush {
            push_id: self.push_id,
            group_id: self.group_id,
            variant_id: self.variant_id,
            time: Some(sent.to_iso()),
            campaigns: self.campaigns(),
        }
    }

    pub const fn of(push_id: PushId) -> Self {
        Self { push_id, group_id: None, variant_id: None, experiment_id: None, categories: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages keep it as JSON, and records of the log in a binary form that has its fields in this order.
    #[test]
    fn a_shared_push_is_stored_under_these_names() {
        let mut push = SharedPush::of(PushId::from_uuid(Uuid::from_u128(7)));
        (push.variant_id, push.categories) = (Some(2), vec!["news".to_owned()]);
        let stored = r#"{"push_id":"00000000-0000-0000-0000-000000000007","group_id":null,"variant_id":2,"experiment_id":null,"categories":["news"]}"#;
        assert_eq!(serde_json::to_string(&push).unwrap(), stored);
        assert_eq!(serde_json::from_str::<SharedPush>(stored).unwrap(), push);
    }
}
