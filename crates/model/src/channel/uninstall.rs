//! Uninstalling channels by their ids.

use super::ClaimedType;
use crate::ids::ChannelId;
use crate::json::{At, Json};
use crate::limits;

/// The channels of one request, which may be a single object or an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uninstalls(pub Vec<Uninstall>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uninstall {
    pub channel_id: ChannelId,
    pub device_type: ClaimedType,
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

impl Uninstall {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let channel_id = fields.required("channel_id", ChannelId::parse);
        let device_type = fields.required("device_type", ClaimedType::parse);
        fields.finish();
        Some(Self { channel_id: channel_id?, device_type: device_type? })
    }
}
