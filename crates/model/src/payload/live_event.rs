//! Events of content that lives on a device's screen: iOS Live Activities and Android Live Updates share them.

use std::ops::RangeInclusive;

use crate::channel::{LiveKey, LiveKind};
use crate::device_type::DeviceType;
use crate::json::body::Words;
use crate::payload::Push;
use crate::payload::ios::LiveActivity;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum LiveEvent {
    Start,
    Update,
    End,
}

/// Seconds since 1970.
pub(super) const EPOCH_SECONDS: RangeInclusive<i64> = 0..=u32::MAX as i64;

impl Push {
    /// The change of a Live Activity that iOS devices are sent.
    pub fn live_activity(&self) -> Option<&LiveActivity> {
        self.notification.as_ref()?.ios.as_ref()?.live_activity.as_ref()
    }

    /// What a device of this type must have told of to be sent the push; `None` if it need not.
    pub fn followed(&self, device_type: &DeviceType) -> Option<LiveKey> {
        let (kind, name) = match device_type {
            DeviceType::Ios => {
                let activity = self.live_activity()?;
                match activity.event {
                    LiveEvent::Start => (LiveKind::Start, activity.attributes_type.as_ref()?),
                    LiveEvent::Update | LiveEvent::End => (LiveKind::Activity, &activity.name),
                }
            }
            DeviceType::Android => {
                let update = self.notification.as_ref()?.android.as_ref()?.live_update.as_ref()?;
                match update.event {
                    // It makes devices follow.
                    LiveEvent::Start => return None,
                    LiveEvent::Update | LiveEvent::End => (LiveKind::Update, &update.name),
                }
            }
            DeviceType::Amazon
            | DeviceType::Web
            | DeviceType::Wns
            | DeviceType::Sms
            | DeviceType::Mms
            | DeviceType::Email
            | DeviceType::Open(_) => return None,
        };
        Some(LiveKey { kind, name: name.clone() })
    }
}
