//! Data for apps: in-app messages, preference forms, feature flags, holdout groups and frequency constraints. Devices get all of it
//! as remote data and decide by themselves what to show, so everything is checked here against what the parsers of their libraries
//! (versions 17 to 20) demand: a library drops what it cannot read without telling anybody.

mod config;
mod delay;
mod device_audience;
mod display;
mod flag;
mod form;
mod frequency;
mod holdout;
mod in_app;
mod message;
mod resolving;
mod scene;
#[cfg(test)]
mod tests;
mod trigger;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::ids::Id;
use crate::json::At;
use crate::json::body::{Read, Words};
use crate::time::{self, UtcMillis};

pub use config::{ConfigChange, ConfigScope, ConfigUpdate};
pub use delay::{Delay, ExecutionWindow};
pub use device_audience::{CompoundAudience, CompoundSelector, DeviceAudience, MessageAudience, MissBehavior};
pub use display::{Banner, Fullscreen, Html, InAppButton, Media, Modal, TextInfo};
pub use flag::{FeatureFlag, FlagVariables, FlagVariant};
pub use form::{PreferenceForm, SavedForm};
pub use frequency::{FrequencyConstraint, FrequencyConstraints};
pub use holdout::HoldoutGroup;
pub use in_app::{Deferred, Eligibility, InAppContent, InAppMessage, Localization, NewInAppMessage, merge};
pub use message::{Message, MessageLocale, Shown};
pub use resolving::{AudienceCheck, Overrides, Resolving};
pub use scene::Layout;
pub use trigger::Trigger;

pub enum InAppMessageKind {}
pub enum FlagKind {}
pub enum HoldoutKind {}

/// One in-app message. Devices name it in their events.
pub type InAppMessageId = Id<InAppMessageKind>;
/// One feature flag.
pub type FlagId = Id<FlagKind>;
/// One holdout group.
pub type HoldoutId = Id<HoldoutKind>;

/// A platform that asks for remote data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Words)]
pub enum DataPlatform {
    Android,
    Amazon,
    Ios,
    Web,
}

impl DataPlatform {
    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, platform)| *platform)
    }
}

/// A date-time as devices read it: in UTC, without a zone and without a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Read)]
#[body(schema = time::schema(schemas))]
pub struct DeviceTime(pub UtcMillis);

impl DeviceTime {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let text = at.string()?;
        let time = UtcMillis::parse_api(text).map(|time| Self(time.whole_second()));
        time.or_else(|| at.invalid(UtcMillis::refusal(text, "without an offset")))
    }
}

/// How many arrays and objects stand within each other.
pub fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(entries) => 1 + entries.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

impl Serialize for DeviceTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.to_api())
    }
}
