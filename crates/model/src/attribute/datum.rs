//! A single value to compare, whether it is an attribute of its own or a property inside a JSON object.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::AttributeValue;
use super::value::date_text;
use crate::selector::{CalendarPart, CompareAs, Scalar, instant};
use crate::time::UtcMillis;

pub(super) enum Datum<'a> {
    Text(Cow<'a, str>),
    Number(Number),
    Boolean(bool),
    Date(UtcMillis),
    List(&'a [Value]),
    Object { is_empty: bool },
}

impl<'a> Datum<'a> {
    pub(super) fn of_value(value: &'a AttributeValue) -> Self {
        match value {
            AttributeValue::Text(text) => Datum::Text(text.into()),
            AttributeValue::Number(number) => Datum::Number(number.clone()),
            AttributeValue::Date(date) => Datum::Date(*date),
            AttributeValue::Json(json) => Datum::Object { is_empty: json.is_empty() },
        }
    }

    /// `None` for null, which counts as not set.
    pub(super) fn of_json(value: &'a Value) -> Option<Self> {
        match value {
            Value::Null => None,
            Value::Bool(value) => Some(Datum::Boolean(*value)),
            Value::Number(number) => Some(Datum::Number(number.clone())),
            Value::String(text) => Some(Datum::Text(text.into())),
            Value::Array(items) => Some(Datum::List(items)),
            Value::Object(json) => Some(Datum::Object { is_empty: json.is_empty() }),
        }
    }

    /// The same value as another type; `None` if it cannot be converted. A list stays a list, since its items find their own types.
    pub(super) fn cast(self, to: CompareAs) -> Option<Self> {
        match (self, to) {
            (list @ Datum::List(_), _) => Some(list),
            (datum, CompareAs::Text) => datum.text().map(|text| Datum::Text(text.into_owned().into())),
            (datum, CompareAs::Number) => datum.number().map(Datum::Number),
            (datum, CompareAs::Date) => datum.date().map(Datum::Date),
            (datum, CompareAs::Boolean) => match datum.text()?.as_ref() {
                "true" => Some(Datum::Boolean(true)),
                "false" => Some(Datum::Boolean(false)),
                _ => None,
            },
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Datum::Text(text) => text.is_empty(),
            Datum::Number(_) | Datum::Boolean(_) | Datum::Date(_) => false,
            Datum::List(items) => items.is_empty(),
            Datum::Object { is_empty } => *is_empty,
        }
    }

    pub(super) fn equals(&self, scalar: &Scalar, now: UtcMillis) -> bool {
        match (self, scalar) {
            (Datum::Text(text), Scalar::Text(wanted)) => {
                text == wanted || (wanted == "now" && self.is_on_day(scalar, now))
            }
            (Datum::Date(date), Scalar::Text(wanted)) => {
                // Without a time of day, the whole day is meant.
                let is_day = wanted == "now" || wanted.len() == "2024-05-01".len();
                if is_day { self.is_on_day(scalar, now) } else { instant(wanted) == Some(*date) }
            }
            (Datum::Boolean(value), Scalar::Boolean(wanted)) => value == wanted,
            (Datum::Boolean(_), Scalar::Text(wanted)) => self.text().is_some_and(|text| text == *wanted),
            (Datum::Text(text), Scalar::Boolean(wanted)) => *text == wanted.to_string(),
            (Datum::Number(_), Scalar::Number(_) | Scalar::Text(_)) | (Datum::Text(_), Scalar::Number(_)) => {
                self.compare(scalar) == Some(Ordering::Equal)
            }
            (Datum::Number(_) | Datum::Date(_), Scalar::Boolean(_))
            | (Datum::Boolean(_) | Datum::Date(_), Scalar::Number(_))
            | (Datum::List(_) | Datum::Object { .. }, Scalar::Text(_) | Scalar::Number(_) | Scalar::Boolean(_)) => {
                false
            }
        }
    }

    /// A list contains its items, everything else the parts of its text.
    pub(super) fn contains(&self, scalar: &Scalar, now: UtcMillis) -> bool {
        if let Datum::List(items) = self {
            return items.iter().filter_map(Datum::of_json).any(|item| item.equals(scalar, now));
        }
        let part = match scalar {
            Scalar::Text(text) => Cow::Borrowed(text.as_str()),
            Scalar::Number(number) => number.to_string().into(),
            Scalar::Boolean(value) => value.to_string().into(),
        };
        self.text().is_some_and(|text| text.contains(part.as_ref()))
    }

    /// Numerically if both sides are numbers or read as such, otherwise by date or by text; `None` for values without an order.
    pub(super) fn compare(&self, scalar: &Scalar) -> Option<Ordering> {
        let wanted = match scalar {
            Scalar::Text(text) => number(text),
            Scalar::Number(number) => Some(number.clone()),
            Scalar::Boolean(_) => return None,
        };
        if let (Some(own), Some(wanted)) = (self.number(), wanted) {
            return compare_numbers(&own, &wanted);
        }
        match (self, scalar) {
            (Datum::Date(date), Scalar::Text(text)) => Some(date.cmp(&instant(text)?)),
            (Datum::Text(text), Scalar::Text(wanted)) => Some(text.as_ref().cmp(wanted)),
            (
                Datum::Text(_)
                | Datum::Number(_)
                | Datum::Boolean(_)
                | Datum::Date(_)
                | Datum::List(_)
                | Datum::Object { .. },
                Scalar::Text(_) | Scalar::Number(_) | Scalar::Boolean(_),
            ) => None,
        }
    }

    pub(super) fn date(&self) -> Option<UtcMillis> {
        match self {
            Datum::Date(date) => Some(*date),
            Datum::Text(text) => instant(text),
            Datum::Number(_) | Datum::Boolean(_) | Datum::List(_) | Datum::Object { .. } => None,
        }
    }

    fn is_on_day(&self, scalar: &Scalar, now: UtcMillis) -> bool {
        let day = CalendarPart::YearMonthDay.date(scalar, now);
        day.is_some() && self.date().map(|date| date.civil().date()) == day
    }

    fn number(&self) -> Option<Number> {
        match self {
            Datum::Number(number) => Some(number.clone()),
            Datum::Text(text) => number(text),
            Datum::Boolean(_) | Datum::Date(_) | Datum::List(_) | Datum::Object { .. } => None,
        }
    }

    fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Datum::Text(text) => Some(Cow::Borrowed(text)),
            Datum::Number(number) => Some(number.to_string().into()),
            Datum::Boolean(value) => Some(value.to_string().into()),
            Datum::Date(date) => Some(date_text(*date).into()),
            Datum::List(_) | Datum::Object { .. } => None,
        }
    }
}

/// Text that is a number: some client libraries write every value as text.
fn number(text: &str) -> Option<Number> {
    match text.parse::<i64>() {
        Ok(number) => Some(number.into()),
        Err(_) => text.parse().ok().and_then(Number::from_f64),
    }
}

fn compare_numbers(a: &Number, b: &Number) -> Option<Ordering> {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        (Some(_) | None, Some(_) | None) => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}
