//! How often pipelines may send to one channel.

use std::time::Duration;

use schemars::json_schema;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::json::body::Read;
use crate::json::{At, Json};
use crate::limits;

/// At most this many pushes within a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Read)]
#[body(name = "PipelineRate", schema = {
    let keys = json!({
        "pushes": {"type": "integer", "minimum": 1, "maximum": limits::PIPELINE_RATE_PUSHES},
        "hours": {"type": "integer", "minimum": 1, "maximum": limits::PIPELINE_RATE_HOURS},
        "days": {"type": "integer", "minimum": 1, "maximum": limits::PIPELINE_RATE_DAYS},
        "lifetimes": {"type": "integer", "const": 1},
    });
    let rate = json!({"type": "object", "properties": keys, "required": ["pushes"], "additionalProperties": false});
    json_schema!({"type": "object", "properties": {"rate": rate}, "required": ["rate"], "additionalProperties": false})
})]
pub struct Rate {
    pub pushes: u32,
    pub within: RateWindow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateWindow {
    Hours(u32),
    Days(u32),
    /// As long as the channel exists.
    Lifetime,
}

const UNITS: [&str; 3] = ["hours", "days", "lifetimes"];

impl Rate {
    pub(super) fn parse_all(at: &At<'_>) -> Option<Vec<Self>> {
        Some(at.one_or_many(1..=limits::PIPELINE_RATES, Self::parse)?.into_vec())
    }

    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let rate = fields.required("rate", |at| {
            let mut fields = at.object()?;
            let pushes = fields.required("pushes", |at| at.integer(1..=limits::PIPELINE_RATE_PUSHES));
            let n_units = UNITS.iter().filter(|unit| fields.has(unit)).count();
            let mut number = |unit: &str, most: i64| {
                let number = fields.optional(unit, |at| at.integer(1..=most))?;
                u32::try_from(number).ok()
            };
            let hours = number("hours", limits::PIPELINE_RATE_HOURS).map(RateWindow::Hours);
            let days = number("days", limits::PIPELINE_RATE_DAYS).map(RateWindow::Days);
            let lifetime = number("lifetimes", 1).map(|_| RateWindow::Lifetime);
            fields.finish();
            if n_units != 1 {
                return at.invalid("A rate has one of 'hours', 'days' and 'lifetimes'.");
            }
            let within = hours.or(days).or(lifetime)?;
            Some(Self { pushes: u32::try_from(pushes?).ok()?, within })
        });
        fields.finish();
        rate
    }
}

/// The rates of all pipelines together: an array of them, one alone, or either under `constraints`.
pub fn parse_global_rates(at: &At<'_>) -> Option<Vec<Rate>> {
    let rates = |at: &At<'_>| Some(at.one_or_many(0..=limits::GLOBAL_RATES, Rate::parse)?.into_vec());
    match at.json() {
        Json::Object(entries) if entries.iter().any(|(key, _)| key == "constraints") => {
            let mut fields = at.object()?;
            let found = fields.required("constraints", rates);
            fields.take("ok"); // callers send back what they were shown
            fields.finish();
            found
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => rates(at),
    }
}

impl RateWindow {
    /// `None` when the window has no end.
    pub const fn duration(self) -> Option<Duration> {
        match self {
            RateWindow::Hours(hours) => Some(Duration::from_secs(hours as u64 * 60 * 60)),
            RateWindow::Days(days) => Some(Duration::from_secs(days as u64 * 24 * 60 * 60)),
            RateWindow::Lifetime => None,
        }
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("rate", &Inner(self))?;
        map.end()
    }
}

struct Inner<'r>(&'r Rate);

impl Serialize for Inner<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("pushes", &self.0.pushes)?;
        match self.0.within {
            RateWindow::Hours(hours) => map.serialize_entry("hours", &hours)?,
            RateWindow::Days(days) => map.serialize_entry("days", &days)?,
            RateWindow::Lifetime => map.serialize_entry("lifetimes", &1)?,
        }
        map.end()
    }
}
