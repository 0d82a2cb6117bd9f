//! Feature flags: parts of an app that are on for some devices, and values for them.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::device_audience::{CompoundAudience, DeviceAudience};
use crate::channel::name_text;
use crate::json::At;
use crate::json::body::{Body, Words};
use crate::limits;
use crate::selector::Selector;

/// A part of the app that is on for some devices. Of several flags with one name, the first decides whose audience a device
/// belongs to.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(ignored = ["flag_id", "created", "last_updated", "version"], check = FeatureFlag::check)]
pub struct FeatureFlag {
    /// By which the app asks for it.
    #[body(length = 1..=limits::REMOTE_DATA_NAME_CHARS, read = |at| name_text(at, limits::REMOTE_DATA_NAME_CHARS))]
    pub name: String,
    /// Evaluated by each device.
    pub audience_selector: Option<DeviceAudience>,
    /// As `audience_selector`, made of several; libraries before version 19 pass over it.
    pub compound_audience: Option<CompoundAudience>,
    /// Evaluated by the service, which devices ask whenever the app looks at the flag: a selector, as pushes have.
    pub server_audience: Option<Selector>,
    pub time_criteria: Option<TimeCriteria>,
    /// Values for the app.
    pub variables: Option<FlagVariables>,
    pub evaluation_options: Option<EvaluationOptions>,
    /// Devices that are treated as if the flag were off, or get other values, for comparison.
    pub control: Option<FlagControl>,
}

/// When something holds, in milliseconds since 1970; without a limit on a side that is not given.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(check = TimeCriteria::check)]
pub struct TimeCriteria {
    #[body(range = 0..=i64::MAX)]
    pub start_timestamp: Option<i64>,
    #[body(range = 0..=i64::MAX)]
    pub end_timestamp: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Body)]
#[body(tag = "type")]
pub enum FlagVariables {
    /// The same for all.
    Fixed { data: Option<Map<String, Value>> },
    /// Those of the first variant whose audience a device belongs to.
    Variant {
        #[body(length = 1..=limits::REMOTE_DATA_ITEMS)]
        variants: Vec<FlagVariant>,
    },
}

#[derive(Clone, Debug, PartialEq, Body)]
pub struct FlagVariant {
    /// Events tell it.
    #[body(length = 1..=limits::REMOTE_DATA_NAME_CHARS)]
    pub id: String,
    pub audience_selector: Option<DeviceAudience>,
    pub compound_audience: Option<CompoundAudience>,
    /// Evaluated by the service; only if the flag has a `server_audience`, too.
    pub server_audience: Option<Selector>,
    pub data: Option<Map<String, Value>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct EvaluationOptions {
    /// Whether a device that has not asked for a while must ask before the app gets an answer.
    pub disallow_stale_value: Option<bool>,
    /// Milliseconds for which an answer of the service is kept; at least a minute.
    #[body(range = 0..=i64::MAX)]
    pub ttl: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Body)]
pub struct FlagControl {
    #[body(rename = "type")]
    pub kind: FlagControlType,
    pub compound_audience: Option<CompoundAudience>,
    /// The values instead, if the type is `variables`.
    pub data: Option<Map<String, Value>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum FlagControlType {
    /// The flag is off.
    Flag,
    /// The flag is on with other values.
    Variables,
}

impl TimeCriteria {
    fn check(self, at: &At<'_>) -> Option<Self> {
        if self.start_timestamp.zip(self.end_timestamp).is_some_and(|(start, end)| start >= end) {
            return at.invalid_key("end_timestamp", "The end must come after the start.");
        }
        Some(self)
    }
}

impl FeatureFlag {
    fn check(self, at: &At<'_>) -> Option<Self> {
        let Some(FlagVariables::Variant { variants }) = &self.variables else { return Some(self) };
        let ids: BTreeSet<_> = variants.iter().map(|variant| &variant.id).collect();
        if ids.len() < variants.len() {
            return at.invalid_key("variables", "Two variants have the same id.");
        }
        let is_asked = self.server_audience.is_some();
        for variant in variants {
            let is_by_device = variant.audience_selector.is_some() || variant.compound_audience.is_some();
            if !is_asked && variant.server_audience.is_some() {
                let message = "Devices ask the service only if the flag has a 'server_audience', too.";
                return at.invalid_key("variables", message);
            }
            if is_asked && is_by_device {
                let message = "The flag has a 'server_audience', so its variants need theirs: the service chooses.";
                return at.invalid_key("variables", message);
            }
        }
        Some(self)
    }
}
