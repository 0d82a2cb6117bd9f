//! The small values of an iOS notification: badge, sound, priority, interruption level.

use serde::{Serialize, Serializer};

use crate::json::{At, Json};
use crate::payload::decimal::Decimal;

/// The number on the app's icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Sound {
    Name(String),
    Object {
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        volume: Option<Decimal>,
        /// Plays even when the device is muted.
        #[serde(skip_serializing_if = "Option::is_none")]
        critical: Option<bool>,
    },
}

impl Sound {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        match at.json() {
            Json::String(name) => Some(Sound::Name(name.clone())),
            Json::Object(_) => {
                let mut fields = at.object()?;
                let name = fields.required("name", |name| name.text(1..=usize::MAX));
                let volume = fields.optional("volume", Decimal::parse_fraction);
                let critical = fields.optional("critical", At::boolean);
                fields.finish();
                Some(Sound::Object { name: name?, volume, critical })
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => {
                at.invalid("A sound is the name of a file, or an object with 'name'.")
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterruptionLevel {
    Passive,
    Active,
    TimeSensitive,
    Critical,
}

impl InterruptionLevel {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        at.choice(&[
            ("passive", InterruptionLevel::Passive),
            ("active", InterruptionLevel::Active),
            ("time-sensitive", InterruptionLevel::TimeSensitive),
            ("critical", InterruptionLevel::Critical),
        ])
    }
}
