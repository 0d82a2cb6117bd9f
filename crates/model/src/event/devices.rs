//! Events that devices report, with the bodies that customers see.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::pushes::{AssociatedPush, Campaign};
use crate::ids::PushId;

/// The app was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    pub session_id: String,
    /// The last push that was delivered to the channel, unless that is more than twelve hours ago.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_delivered: Option<AssociatedPush>,
    /// The push whose notification was tapped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triggering_push: Option<AssociatedPush>,
}

/// The app was closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Close {
    pub session_id: String,
}

/// Something happened whose meaning only the customer knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Custom {
    pub name: String,
    pub source: CustomSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer_id: Option<String>,
    /// Free-form: whatever the customer's app sends along.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub properties: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_delivered: Option<AssociatedPush>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triggering_push: Option<AssociatedPush>,
}

/// A [`Custom`] event as it is written: with the pushes that may have led to it, which it does not have itself yet.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AttributedCustom<'a> {
    #[serde(flatten)]
    pub event: &'a Custom,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_delivered: Option<&'a AssociatedPush>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub triggering_push: Option<&'a AssociatedPush>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CustomSource {
    Api,
    Sdk,
}

/// A device reported its location. Coordinates are in the event only if the operator keeps them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latitude: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longitude: Option<String>,
    pub foreground: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

/// A device came into a region of the customer's or left it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    pub action: RegionAction,
    pub region_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub source_info: RegionSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RegionAction {
    Enter,
    Exit,
}

/// The system that watches the region, and the region's id there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionSource {
    pub source: String,
    pub region_id: String,
}

/// A screen of the app was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScreenViewed {
    pub viewed_screen: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_screen: Option<String>,
    /// Milliseconds.
    pub duration: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

/// An in-app message was shown. It came with a push, or it is one of the app's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InAppDisplay {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_id: Option<PushId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_defined_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_id: Option<uuid::Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant_id: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triggering_push: Option<AssociatedPush>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaigns: Option<Campaign>,
    /// Free-form: where in the app's messages this one stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
}

/// A user responded to an in-app message, or it went away without a response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InAppResolution {
    #[serde(flatten)]
    pub display: InAppDisplay,
    #[serde(flatten)]
    pub resolution: Resolution,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    #[serde(rename = "type")]
    pub kind: ResolutionKind,
    /// Milliseconds.
    pub duration: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_sent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub button_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub button_group: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub button_description: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ResolutionKind {
    ButtonClick,
    MessageClick,
    TimedOut,
    UserDismissed,
}

/// An in-app message was never shown, and never will be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InAppExpiration {
    #[serde(flatten)]
    pub display: InAppDisplay,
    #[serde(flatten)]
    pub expiration: Expiration,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expiration {
    #[serde(rename = "type")]
    pub kind: ExpirationKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacing_push: Option<AssociatedPush>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_sent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_expired: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ExpirationKind {
    Replaced,
    Expired,
    AlreadyDisplayed,
}

/// Any other event of a device, as it came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unrecognized {
    #[serde(rename = "type")]
    pub kind: String,
    /// Free-form by nature.
    pub data: Value,
}
