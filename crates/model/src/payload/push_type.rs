//! The kind of a push, as reports name it.

use serde::Serialize;

use super::Push;
use crate::json::OneOrMany;
use crate::selector::{Atomic, Audience, Selector};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PushType {
    /// To everyone.
    BroadcastPush,
    /// To one device or one person.
    UnicastPush,
    /// By tags only.
    TagPush,
    /// By anything else.
    SegmentsPush,
    /// To anybody, by a schedule.
    ScheduledPush,
    /// To the recipients it brought along, now or by a schedule.
    CreateAndSendPush,
}

impl PushType {
    const ALL: [PushType; 6] = [
        PushType::BroadcastPush,
        PushType::UnicastPush,
        PushType::TagPush,
        PushType::SegmentsPush,
        PushType::ScheduledPush,
        PushType::CreateAndSendPush,
    ];

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|push_type| push_type.name() == name)
    }

    pub const fn name(self) -> &'static str {
        match self {
            PushType::BroadcastPush => "BROADCAST_PUSH",
            PushType::UnicastPush => "UNICAST_PUSH",
            PushType::TagPush => "TAG_PUSH",
            PushType::SegmentsPush => "SEGMENTS_PUSH",
            PushType::ScheduledPush => "SCHEDULED_PUSH",
            PushType::CreateAndSendPush => "CREATE_AND_SEND_PUSH",
        }
    }
}

impl Push {
    /// The type by audience, which is final for a push that was caused by a request alone.
    pub fn push_type(&self) -> PushType {
        match &self.audience {
            Audience::All(_) => PushType::BroadcastPush,
            Audience::Triggered(_) => PushType::UnicastPush,
            Audience::CreateAndSend(_) => PushType::CreateAndSendPush,
            Audience::Uploaded(_) => PushType::SegmentsPush,
            Audience::Selector(Selector::Atomic(atomic)) if names_one(atomic) => PushType::UnicastPush,
            Audience::Selector(selector) => match selector.atoms().all(|atomic| matches!(atomic, Atomic::Tag { .. })) {
                true => PushType::TagPush,
                false => PushType::SegmentsPush,
            },
        }
    }
}

/// Whether the selector names a single device or person.
fn names_one(atomic: &Atomic) -> bool {
    fn is_one<T>(values: &OneOrMany<T>) -> bool {
        values.as_slice().len() == 1
    }
    match atomic {
        Atomic::Channel(ids)
        | Atomic::IosChannel(ids)
        | Atomic::AndroidChannel(ids)
        | Atomic::AmazonChannel(ids)
        | Atomic::WebChannel(ids) => is_one(ids),
        Atomic::OpenChannel(ids)
        | Atomic::Alias(ids)
        | Atomic::Apid(ids)
        | Atomic::Wns(ids)
        | Atomic::Mpns(ids)
        | Atomic::DevicePin(ids) => is_one(ids),
        Atomic::NamedUser(ids) => is_one(ids),
        Atomic::DeviceToken(tokens) => is_one(tokens),
        Atomic::SmsId(ids) => is_one(ids),
        Atomic::Tag { .. }
        | Atomic::Segment(_)
        | Atomic::StaticList(_)
        | Atomic::SubscriptionList { .. }
        | Atomic::SmsSender(_)
        | Atomic::Attribute(_)
        | Atomic::Activity(_)
        | Atomic::Location(_)
        | Atomic::Push(_)
        | Atomic::Live => false,
    }
}
