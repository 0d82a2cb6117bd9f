//! Remote configuration: values of an app for its devices, which stand beside those of the service.

use serde_json::Value;

use super::{DataPlatform, depth};
use crate::json::At;
use crate::json::body::Body;
use crate::limits;

/// The devices that a part of the configuration is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigScope {
    /// All devices.
    Common,
    Platform(DataPlatform),
}

/// A change of the configuration.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed, not_empty = "Give 'set_values', 'deletes', or both.")]
pub struct ConfigUpdate {
    #[body(length = 0..=limits::REMOTE_DATA_ITEMS)]
    pub set_values: Option<Vec<ConfigChange>>,
    /// Only the last key of each scope goes.
    #[body(length = 0..=limits::REMOTE_DATA_ITEMS)]
    pub deletes: Option<Vec<ConfigDeletion>>,
    /// Has all devices look for it at once, by a push that nobody sees.
    #[body(default = false)]
    pub notify: bool,
}

#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed, check = Self::checked)]
pub struct ConfigChange {
    /// The keys that lead to the value. Objects on the way are created.
    #[body(length = 1..=limits::REMOTE_DATA_ITEMS, each = 1..=limits::REMOTE_DATA_NAME_CHARS)]
    pub scope: Vec<String>,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Body)]
#[body(not_printed)]
pub struct ConfigDeletion {
    #[body(length = 1..=limits::REMOTE_DATA_ITEMS, each = 1..=limits::REMOTE_DATA_NAME_CHARS)]
    pub scope: Vec<String>,
}

impl ConfigChange {
    fn checked(self, at: &At<'_>) -> Option<Self> {
        let (depth, most) = (self.scope.len() + depth(&self.value), limits::REMOTE_DATA_DEPTH);
        if depth > most {
            return at.invalid(format!(
                "Objects and arrays may be nested {most} deep at most, with those that the scope leads through; here they are \
                 {depth} deep."
            ));
        }
        Some(self)
    }
}

impl ConfigScope {
    pub const fn word(self) -> &'static str {
        match self {
            ConfigScope::Common => "common",
            ConfigScope::Platform(platform) => platform.word(),
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "common" => Some(ConfigScope::Common),
            word => DataPlatform::from_word(word).map(ConfigScope::Platform),
        }
    }
}
