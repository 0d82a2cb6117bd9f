//! A channel as a caller names it: by its id, and often by the type the caller takes it for.

use std::fmt;

use schemars::json_schema;

use crate::device_type::DeviceType;
use crate::ids::ChannelId;
use crate::json::body::Read;
use crate::json::{At, Fields};

/// A channel by its id. If a device type is given, a channel of another type is not meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Read)]
#[body(schema = {
    let device_type = schemas.subschema_for::<Option<ClaimedType>>();
    json_schema!({
        "type": "object",
        "properties": {"channel_id": schemas.subschema_for::<ChannelId>(), "device_type": device_type},
        "required": ["channel_id"],
        "additionalProperties": false,
    })
})]
pub struct ChannelRef {
    pub id: ChannelId,
    /// A channel of another type is not meant.
    pub claimed: Option<ClaimedType>,
}

/// The type of a channel; `open` stands for any open platform.
// Lookups call every channel of an open platform `open`, so callers send that word back.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Read)]
#[body(schema = json_schema!({
    "type": "string",
    "pattern": "^(ios|android|amazon|web|wns|sms|mms|email|open|open::.+)$",
}))]
pub enum ClaimedType {
    AnyOpen,
    Exactly(DeviceType),
}

const ANY_OPEN: &str = "open";

impl ChannelRef {
    pub(crate) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let channel = Self::read(&mut fields);
        fields.finish();
        channel
    }

    /// Takes `channel_id` and `device_type` from an object that may have other keys.
    pub(crate) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let claimed = fields.nullable("device_type", ClaimedType::parse);
        if let Some(email) = fields.take("email_address") {
            fields.take("channel_id");
            return email.invalid("Email addresses are not supported here; name a channel with 'channel_id'.");
        }
        let id = fields.required("channel_id", ChannelId::parse);
        Some(Self { id: id?, claimed })
    }

    /// Whether the channel with this id is meant, judging by its type.
    pub fn fits(&self, device_type: &DeviceType) -> bool {
        self.claimed.as_ref().is_none_or(|claimed| claimed.matches(device_type))
    }

    /// Whether both can mean the same channel, judging by the types they take it for.
    pub fn agrees_with(&self, other: &Self) -> bool {
        match (&self.claimed, &other.claimed) {
            (None, None | Some(_)) | (Some(_), None) | (Some(ClaimedType::AnyOpen), Some(ClaimedType::AnyOpen)) => true,
            (Some(one), Some(ClaimedType::Exactly(exactly))) | (Some(ClaimedType::Exactly(exactly)), Some(one)) => {
                one.matches(exactly)
            }
        }
    }
}

impl ClaimedType {
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            ANY_OPEN => Some(ClaimedType::AnyOpen),
            _ => DeviceType::from_name(name).map(ClaimedType::Exactly),
        }
    }

    pub(crate) fn parse(at: &At<'_>) -> Option<Self> {
        match at.string()? {
            ANY_OPEN => Some(ClaimedType::AnyOpen),
            _ => DeviceType::parse(at).map(ClaimedType::Exactly),
        }
    }

    pub fn matches(&self, device_type: &DeviceType) -> bool {
        match self {
            ClaimedType::AnyOpen => matches!(device_type, DeviceType::Open(_)),
            ClaimedType::Exactly(wanted) => wanted == device_type,
        }
    }
}

impl fmt::Display for ClaimedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClaimedType::AnyOpen => f.write_str(ANY_OPEN),
            ClaimedType::Exactly(device_type) => device_type.fmt(f),
        }
    }
}
