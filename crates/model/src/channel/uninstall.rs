//! Uninstalling channels by their ids.

use super::{ChannelRef, ClaimedType};
use crate::ids::ChannelId;
use crate::json::body::{Body, Read};
use crate::json::{At, Json, OneOrMany};
use crate::limits;

/// The channels of one request, which may be a single object or an array.
#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(schema = OneOrMany::<Uninstall>::json_schema(schemas))]
pub struct Uninstalls(pub Vec<Uninstall>);

/// A channel whose app was uninstalled.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub struct Uninstall {
    /// The channel.
    pub channel_id: ChannelId,
    /// Its type.
    pub device_type: ClaimedType,
}

impl From<Uninstall> for ChannelRef {
    fn from(Uninstall { channel_id, device_type }: Uninstall) -> Self {
        Self { id: channel_id, claimed: Some(device_type) }
    }
}

impl Uninstalls {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let uninstalls = match at.json() {
            Json::Array(_) => at.array(1..=limits::UNINSTALLS_PER_REQUEST, Uninstall::parse)?,
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => {
                vec![Uninstall::parse(at)?]
            }
        };
        Some(Self(uninstalls))
    }
}
