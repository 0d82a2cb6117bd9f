//! The small values of an iOS notification: badge, sound, priority, interruption level.

use schemars::{JsonSchema, json_schema};
use serde::{Serialize, Serializer};

use crate::json::body::{Body, Read, Words};
use crate::json::{At, Json};
use crate::payload::decimal::Decimal;

/// The number on the app's icon: a number, 'auto' for the number that the device last reported, or a change
/// of that number, such as '+1'.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Read)]
#[body(schema = json_schema!({
    "anyOf": [
        {"type": "integer", "minimum": 0, "maximum": i32::MAX},
        {"type": "string", "pattern": "^(auto|[+-][0-9]+)$"},
    ],
}))]
pub enum Badge {
    Set(i32),
    /// The badge that the device last registered.
    Auto,
    /// More or less than the badge that the device last registered. What was sent since does not count.
    Change(i32),
}

impl Badge {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let badge = match at.json() {
            Json::Number(number) => {
                number.as_i64().and_then(|value| i32::try_from(value).ok()).filter(|value| *value >= 0).map(Badge::Set)
            }
            Json::String(text) if text == "auto" => Some(Badge::Auto),
            Json::String(text) => relative(text).map(Badge::Change),
            Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => None,
        };
        match badge {
            Some(badge) => Some(badge),
            None => at.invalid("A badge is an integer from 0, 'auto', or a change such as '+1' or '-1'."),
        }
    }
}

fn relative(text: &str) -> Option<i32> {
    let digits = text.strip_prefix(['+', '-'])?;
    let all_digits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    all_digits.then(|| text.parse().ok())?
}

impl Serialize for Badge {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Badge::Set(value) => serializer.serialize_i32(*value),
            Badge::Auto => serializer.serialize_str("auto"),
            Badge::Change(by) => serializer.collect_str(&format_args!("{by:+}")),
        }
    }
}

/// The name of a sound file, or an object with its volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Read, JsonSchema)]
#[serde(untagged)]
pub enum Sound {
    Name(String),
    Object(SoundObject),
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct SoundObject {
    /// The name of a sound file in the app.
    #[body(length = 1..=usize::MAX)]
    pub name: String,
    /// From 0 (silent) to 1 (loudest).
    #[body(range = 0.0..=1.0)]
    pub volume: Option<Decimal>,
    /// Plays even when the device is muted.
    pub critical: Option<bool>,
}

impl Sound {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        match at.json() {
            Json::String(name) => Some(Sound::Name(name.clone())),
            Json::Object(_) => SoundObject::parse(at).map(Sound::Object),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => {
                at.invalid("A sound is the name of a file, or an object with 'name'.")
            }
        }
    }
}

/// 5: when it suits the battery. 10: at once; only for pushes that the user can see or hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Read)]
#[body(schema = json_schema!({ "type": "integer", "enum": [5, 10], }))]
pub enum ApnsPriority {
    /// 5: when it suits the battery.
    Considerate,
    /// 10: at once; only for pushes that the user can see or hear.
    Immediate,
}

impl ApnsPriority {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        match at.integer(5..=10)? {
            5 => Some(ApnsPriority::Considerate),
            10 => Some(ApnsPriority::Immediate),
            other => at.invalid(format!("A priority is 5 or 10, not {other}.")),
        }
    }

    pub const fn as_u8(self) -> u8 {
        match self {
            ApnsPriority::Considerate => 5,
            ApnsPriority::Immediate => 10,
        }
    }
}

impl Serialize for ApnsPriority {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.as_u8())
    }
}

/// When the notification may interrupt the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
#[words(rename_all = "kebab-case")]
pub enum InterruptionLevel {
    Passive,
    Active,
    TimeSensitive,
    Critical,
}
