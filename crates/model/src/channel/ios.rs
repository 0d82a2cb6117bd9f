//! The fields that only iOS channels have.

use std::fmt;

use schemars::json_schema;
use serde::{Deserialize, Serialize};

use super::Change;
use super::device_update::device_text;
use crate::json::At;
use crate::json::body::{Body, Read};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IosDetails {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub badge: Option<u32>,
    #[serde(rename = "quiettime", skip_serializing_if = "Option::is_none", default)]
    pub quiet_time: Option<QuietTime>,
    /// The time zone of the quiet time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tz: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scheduled_summary: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time_sensitive: Option<bool>,
}

/// The daily hours in which a device wants no sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Read)]
#[body(schema = {
    let time = schemas.subschema_for::<Option<TimeOfDay>>();
    json_schema!({"type": "object", "properties": {"start": time, "end": time}, "additionalProperties": false})
})]
pub struct QuietTime {
    pub start: TimeOfDay,
    pub end: TimeOfDay,
}

/// A time of day as `HH:MM` or `H:MM`.
// Minutes since midnight. Libraries of several generations write the shorter form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Read)]
#[serde(into = "String", try_from = "String")]
#[body(schema = json_schema!({"type": "string", "pattern": "^([01]?[0-9]|2[0-3]):[0-5][0-9]$"}))]
pub struct TimeOfDay(u16);

/// The part of a registration about an iOS device.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(not_printed)]
pub(super) struct IosUpdate {
    #[body(range = 0..=u32::MAX, read = |at| at.or_passed_over(parse_badge))]
    badge: Change<u32>,
    #[body(rename = "quiettime", read = |at| at.or_passed_over(QuietTime::parse), nullable)]
    quiet_time: Option<QuietTime>,
    #[body(read = device_text, nullable)]
    tz: Option<String>,
    scheduled_summary: Change<bool>,
    time_sensitive: Change<bool>,
}

impl IosUpdate {
    pub(super) fn update(&self, slot: &mut Option<IosDetails>) {
        let details = slot.get_or_insert_default();
        // Devices never leave out a quiet time that has not changed: without one it has been switched off.
        details.quiet_time = self.quiet_time;
        details.tz.clone_from(&self.tz);
        self.badge.update(&mut details.badge);
        self.scheduled_summary.update(&mut details.scheduled_summary);
        self.time_sensitive.update(&mut details.time_sensitive);
    }
}

fn parse_badge(at: &At<'_>) -> Option<u32> {
    at.integer(0..=i64::from(u32::MAX)).and_then(|badge| u32::try_from(badge).ok())
}

impl QuietTime {
    /// `None` for two nulls as well, which some devices send for "no quiet time".
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let [start, end] = ["start", "end"].map(|key| fields.take(key).filter(|at| !at.is_null()));
        fields.finish();
        match (start, end) {
            (None, None) => None,
            (None, Some(_)) => at.missing("start"),
            (Some(_), None) => at.missing("end"),
            (Some(start), Some(end)) => {
                let (start, end) = (TimeOfDay::parse(&start), TimeOfDay::parse(&end));
                Some(Self { start: start?, end: end? })
            }
        }
    }
}

impl TimeOfDay {
    pub fn new(text: &str) -> Result<Self, &'static str> {
        let read = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u16>().ok()).flatten();
        text.split_once(':')
            .filter(|(hours, minutes)| (1..=2).contains(&hours.len()) && minutes.len() == 2)
            .and_then(|(hours, minutes)| Some((read(hours)?, read(minutes)?)))
            .filter(|(hours, minutes)| *hours < 24 && *minutes < 60)
            .map(|(hours, minutes)| Self(hours * 60 + minutes))
            .ok_or("This must be a time of day as HH:MM, from 00:00 to 23:59.")
    }

    fn parse(at: &At<'_>) -> Option<Self> {
        Self::new(at.string()?).or_else(|message| at.invalid(message).ok_or(())).ok()
    }

    pub const fn minutes(self) -> u16 {
        self.0
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl From<TimeOfDay> for String {
    fn from(time: TimeOfDay) -> String {
        time.to_string()
    }
}

impl TryFrom<String> for TimeOfDay {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text)
    }
}
