//! The fields that only Android and Amazon channels have.

use serde::Deserialize;

use crate::json::body::{Body, Words};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Body)]
pub struct AndroidDetails {
    /// Who delivers to it.
    pub delivery_type: DeliveryType,
}

/// The provider behind an Android address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Words)]
#[serde(rename_all = "lowercase")]
#[words(rename_all = "lowercase")]
pub enum DeliveryType {
    Fcm,
    Hms,
    Adm,
}
