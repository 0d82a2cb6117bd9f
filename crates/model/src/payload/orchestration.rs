//! `orchestration` of a push: which of a person's channels get it.

use std::fmt;

use schemars::json_schema;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::device_type::OpenPlatform;
use crate::json::At;
use crate::json::body::Read;

/// Which of a person's channels get the push.
#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(schema = json_schema!({
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": ["fan_out", "channel_priority", "triggering_channel", "last_active"]},
        "channel_priority": {"type": "array", "minItems": 1, "items": schemas.subschema_for::<ChannelGroup>()},
    },
    "required": ["type"],
    "additionalProperties": false,
}))]
pub enum Orchestration {
    /// All of them.
    FanOut,
    /// The first in this order that the person has; never empty.
    ChannelPriority(Vec<ChannelGroup>),
    /// The one that triggered the push.
    TriggeringChannel,
    /// The one used last.
    LastActive,
}

/// Channels that count as one when priorities are given.
#[derive(Clone, Debug, PartialEq, Eq, Read)]
#[body(schema = json_schema!({"type": "string", "pattern": "^(app|web|sms|email|open::.+)$"}))]
pub enum ChannelGroup {
    App,
    Web,
    Sms,
    Email,
    Open(OpenPlatform),
}

impl Orchestration {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        #[derive(Clone, Copy)]
        enum Kind {
            FanOut,
            ChannelPriority,
            TriggeringChannel,
            LastActive,
        }
        let mut fields = at.object()?;
        let kind = fields.required("type", |at| {
            at.choice(&[
                ("fan_out", Kind::FanOut),
                ("channel_priority", Kind::ChannelPriority),
                ("triggering_channel", Kind::TriggeringChannel),
                ("last_active", Kind::LastActive),
            ])
        });
        let orchestration = match kind {
            Some(Kind::FanOut) => Some(Orchestration::FanOut),
            Some(Kind::TriggeringChannel) => Some(Orchestration::TriggeringChannel),
            Some(Kind::LastActive) => Some(Orchestration::LastActive),
            Some(Kind::ChannelPriority) => fields
                .required("channel_priority", |at| at.array(1..=usize::MAX, ChannelGroup::parse))
                .map(Orchestration::ChannelPriority),
            None => fields.take("channel_priority").and(None),
        };
        fields.finish();
        orchestration
    }
}

impl ChannelGroup {
    fn parse(at: &At<'_>) -> Option<Self> {
        let name = at.string()?;
        if let Some(platform) = name.strip_prefix("open::") {
            return match OpenPlatform::new(platform) {
                Ok(platform) => Some(ChannelGroup::Open(platform)),
                Err(message) => at.invalid(message),
            };
        }
        match name {
            "app" => Some(ChannelGroup::App),
            "web" => Some(ChannelGroup::Web),
            "sms" => Some(ChannelGroup::Sms),
            "email" => Some(ChannelGroup::Email),
            _ => at.invalid(format!("'{name}' is not known here; use app, web, sms, email or open::<platform name>.")),
        }
    }
}

impl fmt::Display for ChannelGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChannelGroup::App => f.write_str("app"),
            ChannelGroup::Web => f.write_str("web"),
            ChannelGroup::Sms => f.write_str("sms"),
            ChannelGroup::Email => f.write_str("email"),
            ChannelGroup::Open(platform) => write!(f, "open::{}", platform.as_str()),
        }
    }
}

impl Serialize for ChannelGroup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Orchestration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Orchestration::FanOut => map.serialize_entry("type", "fan_out")?,
            Orchestration::TriggeringChannel => map.serialize_entry("type", "triggering_channel")?,
            Orchestration::LastActive => map.serialize_entry("type", "last_active")?,
            Orchestration::ChannelPriority(order) => {
                map.serialize_entry("type", "channel_priority")?;
                map.serialize_entry("channel_priority", order)?;
            }
        }
        map.end()
    }
}
