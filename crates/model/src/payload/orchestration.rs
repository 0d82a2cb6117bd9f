//! `orchestration` of a push: which of a person's channels get it.

use std::fmt;

use schemars::json_schema;
use serde::{Serialize, Serializer};

use crate::device_type::OpenPlatform;
use crate::json::At;
use crate::json::body::{Body, Read};

/// Which of a person's channels get the push.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(tag = "type")]
pub enum Orchestration {
    /// All of them.
    FanOut,
    /// The first in this order that the person has.
    ChannelPriority(#[body(rename = "channel_priority", length = 1..=usize::MAX)] Vec<ChannelGroup>),
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
