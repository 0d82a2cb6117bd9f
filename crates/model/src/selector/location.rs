//! Selection by where devices have been.
//!
//! ```text
//! location   = {"id": ID, "date": period} | {ALIAS TYPE: ALIAS, "date": period}       such as "us_state": "CA"
//! period     = {when, "last_seen"?: BOOLEAN}
//! when       = "recent": {resolution: COUNT}           a count of 1 means the current unit, not one unit back
//!            | resolution: {"recent": COUNT}
//!            | resolution: {"start": edge, "end": edge}
//! resolution = minutes | hours | days | weeks | months | years        (no recent minutes)
//! edge       = YYYY-MM-DD HH:MM | YYYY-MM-DD HH | YYYY-MM-DD | YYYY-Wnn | YYYY-MM | YYYY, by resolution
//! ```

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::json::{At, Fields};
use crate::limits;
use crate::time::UtcMillis;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub place: Place,
    pub period: Period,
    /// Whether only the last place a device was seen at counts.
    pub last_seen: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Id(String),
    /// A name of the place in another system, such as a postal code.
    Alias {
        kind: String,
        name: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Period {
    Recent {
        resolution: Resolution,
        count: u8,
        form: RecentForm,
    },
    /// From the start of the first unit to the end of the last.
    Absolute {
        resolution: Resolution,
        start: String,
        end: String,
    },
}

/// Which of the two documented ways of writing a recent period was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecentForm {
    RecentOutside,
    ResolutionOutside,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    Minutes,
    Hours,
    Days,
    Weeks,
    Months,
    Years,
}

const RESOLUTIONS: [Resolution; 6] = [
    Resolution::Minutes,
    Resolution::Hours,
    Resolution::Days,
    Resolution::Weeks,
    Resolution::Months,
    Resolution::Years,
];

impl Location {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let date = fields.required("date", parse_date);
        let mut places = fields.rest();
        let place = match places.pop() {
            None => at.missing("id"),
            Some((key, place)) if places.is_empty() => Place::parse(key, &place),
            Some((key, place)) => {
                place.invalid(format!("A location has exactly one id or alias; '{key}' is given as well."))
            }
        };
        let (period, last_seen) = date?;
        Some(Self { place: place?, period, last_seen })
    }
}

impl Place {
    /// The key and the value by which the place is named.
    pub fn named_by(&self) -> (&str, &str) {
        match self {
            Place::Id(id) => ("id", id),
            Place::Alias { kind, name } => (kind, name),
        }
    }

    fn parse(key: &str, at: &At<'_>) -> Option<Self> {
        let name = at.text(1..=limits::LOCATION_NAME_CHARS)?;
        if key == "id" {
            return Some(Place::Id(name));
        }
        let is_kind = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if key.is_empty() || key.len() > limits::LOCATION_NAME_CHARS || !key.chars().all(is_kind) {
            return at.invalid(format!("'{key}' is not a type of location alias."));
        }
        Some(Place::Alias { kind: key.to_owned(), name })
    }
}

fn parse_date(at: &At<'_>) -> Option<(Period, Option<bool>)> {
    let mut fields = at.object()?;
    let last_seen = fields.optional("last_seen", At::boolean);
    let period = match fields.take("recent") {
        Some(recent) => parse_recent(&recent),
        None => match take_resolution(&mut fields) {
            Some((resolution, at)) => parse_resolution(resolution, &at),
            None => at.missing("recent"),
        },
    };
    fields.finish();
    Some((period?, last_seen))
}

fn take_resolution<'a>(fields: &mut Fields<'a>) -> Option<(Resolution, At<'a>)> {
    RESOLUTIONS.into_iter().find_map(|unit| Some((unit, fields.take(unit.key())?)))
}

fn parse_recent(at: &At<'_>) -> Option<Period> {
    let mut fields = at.object()?;
    let period = match take_resolution(&mut fields) {
        Some((resolution, at)) => parse_count(resolution, &at).map(|count| Period::Recent {
            resolution,
            count,
            form: RecentForm::RecentOutside,
        }),
        None => at.invalid("This must name a unit: hours, days, weeks, months or years."),
    };
    fields.finish();
    period
}

fn parse_resolution(resolution: Resolution, at: &At<'_>) -> Option<Period> {
    let mut fields = at.object()?;
    let period = match fields.take("recent") {
        Some(at) => parse_count(resolution, &at).map(|count| Period::Recent {
            resolution,
            count,
            form: RecentForm::ResolutionOutside,
        }),
        None => parse_absolute(resolution, &mut fields),
    };
    fields.finish();
    period
}

fn parse_count(resolution: Resolution, at: &At<'_>) -> Option<u8> {
    match resolution.most_recent() {
        0 => at.invalid("A recent period is counted in hours, days, weeks, months or years."),
        most => u8::try_from(at.integer(1..=i64::from(most))?).ok(),
    }
}

fn parse_absolute(resolution: Resolution, fields: &mut Fields<'_>) -> Option<Period> {
    let mut edge = |key| {
        fields.required(key, |at| {
            let text = at.any_text()?;
            if resolution.is_edge(&text) {
                return Some(text);
            }
            at.invalid(format!("This must have the form {}.", resolution.form()))
        })
    };
    let (start, end) = (edge("start"), edge("end"));
    let (start, end) = (start?, end?);
    // All edges of one resolution have the same form, so their order is that of the text.
    if start.replace('T', " ") > end.replace('T', " ") {
        return fields.at().invalid_key("end", "The period ends before it starts.");
    }
    Some(Period::Absolute { resolution, start, end })
}

impl Resolution {
    pub const fn key(self) -> &'static str {
        match self {
            Resolution::Minutes => "minutes",
            Resolution::Hours => "hours",
            Resolution::Days => "days",
            Resolution::Weeks => "weeks",
            Resolution::Months => "months",
            Resolution::Years => "years",
        }
    }

    /// The longest recent period; 0 when there is none.
    pub(super) const fn most_recent(self) -> u8 {
        match self {
            Resolution::Minutes => 0,
            Resolution::Hours => 48,
            Resolution::Days => 60,
            Resolution::Weeks => 10,
            Resolution::Months => 48,
            Resolution::Years => 20,
        }
    }

    const fn form(self) -> &'static str {
        match self {
            Resolution::Minutes => "YYYY-MM-DD HH:MM",
            Resolution::Hours => "YYYY-MM-DD HH",
            Resolution::Days => "YYYY-MM-DD",
            Resolution::Weeks => "YYYY-Wnn",
            Resolution::Months => "YYYY-MM",
            Resolution::Years => "YYYY",
        }
    }

    fn is_edge(self, text: &str) -> bool {
        if !has_form(text, self.form()) {
            return false;
        }
        let first_minute = match self {
            Resolution::Minutes => text.to_owned(),
            Resolution::Hours => format!("{text}:00"),
            Resolution::Days => format!("{text} 00:00"),
            Resolution::Weeks => return matches!(text[6..].parse(), Ok(1..=53_u8)),
            Resolution::Months => format!("{text}-01 00:00"),
            Resolution::Years => format!("{text}-01-01 00:00"),
        };
        UtcMillis::parse_api(&first_minute).is_some()
    }
}

/// Whether a text has digits where the form has letters, and otherwise the same characters; a `T` may stand for the space.
fn has_form(text: &str, form: &str) -> bool {
    let matches = |(given, wanted): (u8, u8)| match wanted {
        b'Y' | b'M' | b'D' | b'H' | b'n' => given.is_ascii_digit(),
        b' ' => matches!(given, b' ' | b'T'),
        other => given == other,
    };
    text.len() == form.len() && text.bytes().zip(form.bytes()).all(matches)
}

impl Serialize for Location {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        let (key, name) = self.place.named_by();
        map.serialize_entry(key, name)?;
        map.serialize_entry("date", &Date(self))?;
        map.end()
    }
}

/// The `date` of a location.
struct Date<'a>(&'a Location);

impl Serialize for Date<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let one = |key, count: u8| BTreeMap::from([(key, count)]);
        let mut map = serializer.serialize_map(None)?;
        match &self.0.period {
            Period::Recent { resolution, count, form: RecentForm::RecentOutside } => {
                map.serialize_entry("recent", &one(resolution.key(), *count))?;
            }
            Period::Recent { resolution, count, form: RecentForm::ResolutionOutside } => {
                map.serialize_entry(resolution.key(), &one("recent", *count))?;
            }
            Period::Absolute { resolution, start, end } => {
                let edges = BTreeMap::from([("start", start), ("end", end)]);
                map.serialize_entry(resolution.key(), &edges)?;
            }
        }
        if let Some(last_seen) = self.0.last_seen {
            map.serialize_entry("last_seen", &last_seen)?;
        }
        map.end()
    }
}
