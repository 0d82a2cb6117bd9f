//! The fields that only Android and Amazon channels have.

use serde::Deserialize;

use super::WebSubscription;
use crate::device_type::DeviceType;
use crate::json::At;
use crate::json::body::{Body, Words};

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Body)]
#[body(check = Self::checked)]
pub struct AndroidDetails {
    /// Who delivers to it.
    pub delivery_type: DeliveryType,
    /// The keys of the device's UnifiedPush registration, which only `unifiedpush` has. The address is its endpoint.
    #[serde(default)]
    #[body(nullable)]
    pub subscription: Option<WebSubscription>,
}

impl AndroidDetails {
    /// Messages by UnifiedPush are encrypted for the device; those of others are not.
    fn checked(self, at: &At<'_>) -> Option<Self> {
        match (self.delivery_type, &self.subscription) {
            (DeliveryType::UnifiedPush, None) => {
                let message = "A device with the delivery_type unifiedpush needs the keys 'p256dh' and 'auth' of its registration.";
                at.invalid_key("subscription", message)
            }
            (DeliveryType::Fcm | DeliveryType::Hms | DeliveryType::Adm, Some(_)) => {
                let message = "Only a device with the delivery_type unifiedpush has a 'subscription'.";
                at.invalid_key("subscription", message)
            }
            (DeliveryType::UnifiedPush, Some(_))
            | (DeliveryType::Fcm | DeliveryType::Hms | DeliveryType::Adm, None) => Some(self),
        }
    }
}

/// The provider behind an Android address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Words)]
#[serde(rename_all = "lowercase")]
#[words(rename_all = "lowercase")]
pub enum DeliveryType {
    Fcm,
    Hms,
    Adm,
    UnifiedPush,
}

impl DeliveryType {
    /// Whether channels of a device type can have this provider.
    pub(super) fn is_for(self, device_type: &DeviceType) -> bool {
        match self {
            DeliveryType::UnifiedPush => *device_type == DeviceType::Android,
            DeliveryType::Fcm | DeliveryType::Hms | DeliveryType::Adm => true,
        }
    }
}
