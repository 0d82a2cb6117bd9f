//! Comparisons of an attribute or property with a value: an operator and its operands.
//!
//! ```text
//! comparison = "operator": is_empty | not_empty
//!            | "operator": equals, "value": SCALAR
//!            | "operator": equals, "value": "now" | date, "precision": day | month | month_day | year_month | year_month_day
//!            | "operator": equals, "value": "now" | date-time | INTEGER, "precision": unit, "relative_to"?: past | future
//!            | "operator": contains | not_contains | less | less_eq | greater | greater_eq, "value": SCALAR
//!            | "operator": before | after, "value": "now" | date-time, "precision"?: unit, "relative_to"?: past | future
//!            | "operator": before | after, "value": INTEGER, "precision": unit, "relative_to"?: past | future
//!            | "operator": range, "value": "<start>/<end>"
//! unit       = years | months | days | hours | minutes
//! ```
//! Plain attributes know only equals, contains, less, greater, is_empty, before, after and range.

mod calendar_part;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Number;

use crate::json::{At, Fields, Json};
use crate::limits;
use crate::time::UtcMillis;

pub use calendar_part::CalendarPart;

#[derive(Clone, Debug, PartialEq)]
pub enum Comparison {
    IsEmpty,
    NotEmpty,
    Equals(Scalar),
    /// Equality of some parts of a date only.
    SameDate {
        value: Scalar,
        part: CalendarPart,
    },
    /// In the same unit of the calendar as a moment.
    SameUnit {
        moment: Moment,
        unit: MomentUnit,
        direction: Option<Direction>,
    },
    Contains(Scalar),
    NotContains(Scalar),
    Order {
        ordering: Ordering,
        value: Scalar,
    },
    /// Strictly before or after a moment.
    Moment {
        side: Side,
        moment: Moment,
        unit: Option<MomentUnit>,
        direction: Option<Direction>,
    },
    /// From the first instant on, up to but not including the second.
    Range {
        text: String,
        start: UtcMillis,
        end: UtcMillis,
    },
}

/// A single value. Some client libraries write numbers as text; which it is depends on the attribute.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Scalar {
    Text(String),
    Number(Number),
    Boolean(bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ordering {
    Less,
    LessEq,
    Greater,
    GreaterEq,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Before,
    After,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    Now,
    Instant {
        text: String,
        at: UtcMillis,
    },
    /// A number of units away from now.
    Away {
        units: u32,
        quoted: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MomentUnit {
    Years,
    Months,
    Days,
    Hours,
    Minutes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Past,
    Future,
}

/// The subject of a comparison: a plain attribute, or a property inside JSON, which has more operators and booleans.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Plain,
    Json,
}

#[derive(Clone, Copy)]
enum Operator {
    IsEmpty,
    NotEmpty,
    Equals,
    Contains,
    NotContains,
    Order(Ordering),
    Moment(Side),
    Range,
}

/// The operators of plain attributes come first.
const OPERATORS: [(&str, Operator); 12] = [
    ("equals", Operator::Equals),
    ("contains", Operator::Contains),
    ("less", Operator::Order(Ordering::Less)),
    ("greater", Operator::Order(Ordering::Greater)),
    ("is_empty", Operator::IsEmpty),
    ("before", Operator::Moment(Side::Before)),
    ("after", Operator::Moment(Side::After)),
    ("range", Operator::Range),
    ("not_contains", Operator::NotContains),
    ("less_eq", Operator::Order(Ordering::LessEq)),
    ("greater_eq", Operator::Order(Ordering::GreaterEq)),
    ("not_empty", Operator::NotEmpty),
];
const N_PLAIN_OPERATORS: usize = 8;

const MOMENT_UNITS: [(&str, MomentUnit); 5] = [
    ("years", MomentUnit::Years),
    ("months", MomentUnit::Months),
    ("days", MomentUnit::Days),
    ("hours", MomentUnit::Hours),
    ("minutes", MomentUnit::Minutes),
];

/// How exactly dates have to be equal.
#[derive(Clone, Copy)]
enum Precision {
    Part(CalendarPart),
    Unit(MomentUnit),
}

const PRECISIONS: [(&str, Precision); 10] = [
    ("day", Precision::Part(CalendarPart::Day)),
    ("month", Precision::Part(CalendarPart::Month)),
    ("month_day", Precision::Part(CalendarPart::MonthDay)),
    ("year_month", Precision::Part(CalendarPart::YearMonth)),
    ("year_month_day", Precision::Part(CalendarPart::YearMonthDay)),
    ("years", Precision::Unit(MomentUnit::Years)),
    ("months", Precision::Unit(MomentUnit::Months)),
    ("days", Precision::Unit(MomentUnit::Days)),
    ("hours", Precision::Unit(MomentUnit::Hours)),
    ("minutes", Precision::Unit(MomentUnit::Minutes)),
];

impl Comparison {
    /// Takes the keys of a comparison; keys that the operator does not allow stay for the caller to refuse.
    pub(super) fn parse(fields: &mut Fields<'_>, subject: Subject) -> Option<Self> {
        let operators = match subject {
            Subject::Plain => &OPERATORS[..N_PLAIN_OPERATORS],
            Subject::Json => &OPERATORS,
        };
        match fields.required("operator", |at| at.choice(operators))? {
            Operator::IsEmpty => no_value(fields, Comparison::IsEmpty),
            Operator::NotEmpty => no_value(fields, Comparison::NotEmpty),
            Operator::Equals => equals(fields, subject),
            Operator::Contains => value(fields, subject).map(Comparison::Contains),
            Operator::NotContains => value(fields, subject).map(Comparison::NotContains),
            Operator::Order(ordering) => Some(Comparison::Order { ordering, value: value(fields, subject)? }),
            Operator::Moment(side) => moment(fields, side),
            Operator::Range => fields.required("value", range),
        }
    }

    pub(super) fn print<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Comparison::IsEmpty => map.serialize_entry("operator", "is_empty"),
            Comparison::NotEmpty => map.serialize_entry("operator", "not_empty"),
            Comparison::Equals(value) => print_pair(map, &"equals", value),
            Comparison::SameDate { value, part } => {
                print_pair(map, &"equals", value)?;
                map.serialize_entry("precision", part)
            }
            Comparison::SameUnit { moment, unit, direction } => {
                print_pair(map, &"equals", moment)?;
                print_distance(map, Some(*unit), *direction)
            }
            Comparison::Contains(value) => print_pair(map, &"contains", value),
            Comparison::NotContains(value) => print_pair(map, &"not_contains", value),
            Comparison::Order { ordering, value } => print_pair(map, ordering, value),
            Comparison::Moment { side, moment, unit, direction } => {
                print_pair(map, side, moment)?;
                print_distance(map, *unit, *direction)
            }
            Comparison::Range { text, .. } => print_pair(map, &"range", text),
        }
    }
}

fn print_pair<M: SerializeMap>(map: &mut M, operator: &impl Serialize, value: &impl Serialize) -> Result<(), M::Error> {
    map.serialize_entry("operator", operator)?;
    map.serialize_entry("value", value)
}

fn print_distance<M: SerializeMap>(
    map: &mut M,
    unit: Option<MomentUnit>,
    direction: Option<Direction>,
) -> Result<(), M::Error> {
    if let Some(unit) = unit {
        map.serialize_entry("precision", &unit)?;
    }
    match direction {
        Some(direction) => map.serialize_entry("relative_to", &direction),
        None => Ok(()),
    }
}

/// Client libraries cannot leave the value out: it is null, or whatever scalar the caller put there, and it means nothing.
fn no_value(fields: &mut Fields<'_>, comparison: Comparison) -> Option<Comparison> {
    let Some(at) = fields.take("value") else { return Some(comparison) };
    match at.json() {
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Some(comparison),
        Json::Array(_) | Json::Object(_) => at.invalid("This operator has no value."),
    }
}

fn value(fields: &mut Fields<'_>, subject: Subject) -> Option<Scalar> {
    fields.required("value", |at| Scalar::parse(at, subject))
}

fn equals(fields: &mut Fields<'_>, subject: Subject) -> Option<Comparison> {
    let Some(at) = fields.take("precision") else { return value(fields, subject).map(Comparison::Equals) };
    match at.choice(&PRECISIONS) {
        Some(Precision::Part(part)) => same_date(fields, subject, part),
        Some(Precision::Unit(unit)) => {
            let (moment, direction) = (fields.required("value", Moment::parse), direction(fields));
            Some(Comparison::SameUnit { moment: moment?, unit, direction })
        }
        None => value(fields, subject).and(None),
    }
}

fn same_date(fields: &mut Fields<'_>, subject: Subject, part: CalendarPart) -> Option<Comparison> {
    let value = value(fields, subject)?;
    if !part.accepts(&value) {
        return fields.at().invalid_key(
            "value",
            format!("This must be \"now\", a date-time, or a date of the form {}.", part.form()),
        );
    }
    Some(Comparison::SameDate { value, part })
}

fn moment(fields: &mut Fields<'_>, side: Side) -> Option<Comparison> {
    let moment = fields.required("value", Moment::parse);
    let unit = fields.optional("precision", |at| at.choice(&MOMENT_UNITS));
    let direction = direction(fields);
    if matches!(moment, Some(Moment::Away { .. })) && !fields.has("precision") {
        return fields.at().missing("precision");
    }
    Some(Comparison::Moment { side, moment: moment?, unit, direction })
}

fn direction(fields: &mut Fields<'_>) -> Option<Direction> {
    fields.optional("relative_to", |at| at.choice(&[("past", Direction::Past), ("future", Direction::Future)]))
}

fn range(at: &At<'_>) -> Option<Comparison> {
    let text = at.text(1..=limits::ATTRIBUTE_TEXT_CHARS)?;
    let edges = text.split_once('/').and_then(|(a, b)| Some((instant(a)?, instant(b)?)));
    match edges {
        Some((start, end)) if start <= end => Some(Comparison::Range { text, start, end }),
        Some(_) => at.invalid("The interval ends before it starts."),
        None => at.invalid("This must be two dates or date-times with a slash between them."),
    }
}

impl Scalar {
    pub(super) fn parse(at: &At<'_>, subject: Subject) -> Option<Self> {
        match at.json() {
            Json::String(_) => at.text(0..=limits::ATTRIBUTE_TEXT_CHARS).map(Scalar::Text),
            Json::Number(number) => Some(Scalar::Number(number.clone())),
            Json::Bool(value) if subject == Subject::Json => Some(Scalar::Boolean(*value)),
            other => {
                let wanted = match subject {
                    Subject::Plain => "a string or a number",
                    Subject::Json => "a string, a number or a boolean",
                };
                at.invalid(format!("This must be {wanted}, not {}.", other.kind()))
            }
        }
    }
}

impl Moment {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let Json::String(text) = at.json() else {
            let units = at.integer(0..=i64::from(u32::MAX))?;
            return Some(Moment::Away { units: u32::try_from(units).ok()?, quoted: false });
        };
        if text == "now" {
            return Some(Moment::Now);
        }
        // Only the canonical form of a number, so that it is printed back as it came.
        if let Ok(units) = text.parse::<u32>()
            && units.to_string() == *text
        {
            return Some(Moment::Away { units, quoted: true });
        }
        match instant(text) {
            Some(at) => Some(Moment::Instant { text: text.clone(), at }),
            None => at.invalid("This must be \"now\", a number of units, a date or a date-time."),
        }
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Moment::Now => serializer.serialize_str("now"),
            Moment::Instant { text, .. } => serializer.serialize_str(text),
            Moment::Away { units, quoted: true } => serializer.collect_str(units),
            Moment::Away { units, quoted: false } => serializer.serialize_u32(*units),
        }
    }
}

/// A date-time with or without an offset, or a date, which means its first instant. UTC unless an offset is given.
pub(crate) fn instant(text: &str) -> Option<UtcMillis> {
    if let Some(at) = UtcMillis::parse_api(text) {
        return Some(at);
    }
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Some(UtcMillis(at.as_millisecond()));
    }
    (text.len() == 10).then(|| UtcMillis::parse_api(&format!("{text}T00:00")))?
}
