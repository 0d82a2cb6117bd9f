//! The fields that only Android and Amazon channels have.

use serde::{Deserialize, Serialize};

use crate::json::At;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AndroidDetails {
    pub delivery_type: DeliveryType,
}

/// The provider behind an Android address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryType {
    Fcm,
    Hms,
    Adm,
}

impl AndroidDetails {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let delivery_type = fields.required("delivery_type", |at| {
            at.choice(&[("fcm", DeliveryType::Fcm), ("hms", DeliveryType::Hms), ("adm", DeliveryType::Adm)])
        });
        fields.finish();
        Some(Self { delivery_type: delivery_type? })
    }
}
