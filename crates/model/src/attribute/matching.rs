//! Whether an attribute satisfies a selector.

use std::collections::BTreeMap;

use serde_json::Value;

use super::datum::Datum;
use super::property_path::{self, Found};
use super::{AttributeValue, calendar};
use crate::selector::{self, AttributeTest, CompareAs, Comparison, Property, Scalar, Side};
use crate::time::UtcMillis;

/// Whether the value of the attribute that a selector names satisfies the selector. `None` is an attribute that is not
/// set; it satisfies `is_empty` and nothing else.
pub fn matches(attribute: &selector::Attribute, value: Option<&AttributeValue>, now: UtcMillis) -> bool {
    match (&attribute.test, value) {
        (AttributeTest::Plain(comparison), value) => holds(comparison, value.map(Datum::of_value), now),
        (AttributeTest::Where(property), Some(AttributeValue::Json(json))) => property_matches(property, json, now),
        (
            AttributeTest::Where(property),
            Some(AttributeValue::Text(_) | AttributeValue::Number(_) | AttributeValue::Date(_)) | None,
        ) => holds(&property.comparison, None, now),
    }
}

/// Whether a property inside a JSON object satisfies the comparison. Of the properties of many items one is enough, as in an array.
pub fn property_matches(property: &Property, json: &BTreeMap<String, Value>, now: UtcMillis) -> bool {
    let found = match property_path::find(json, &property.property) {
        Found::One(found) => return value_matches(&property.comparison, property.compare_as, found, now),
        Found::Each(found) => found,
    };
    let any = |comparison: &Comparison| {
        found.iter().any(|value| value_matches(comparison, property.compare_as, Some(value), now))
    };
    // Items contain something if they are arrays, and are it otherwise.
    let contains = |wanted: &Scalar| {
        let (inside, itself) = (Comparison::Contains(wanted.clone()), Comparison::Equals(wanted.clone()));
        found.iter().any(|value| {
            let comparison = if value.is_array() { &inside } else { &itself };
            value_matches(comparison, property.compare_as, Some(value), now)
        })
    };
    match &property.comparison {
        Comparison::IsEmpty => !any(&Comparison::NotEmpty),
        Comparison::Contains(wanted) => contains(wanted),
        Comparison::NotContains(wanted) => !found.is_empty() && !contains(wanted),
        comparison @ (Comparison::NotEmpty
        | Comparison::Equals(_)
        | Comparison::SameDate { .. }
        | Comparison::SameUnit { .. }
        | Comparison::Order { .. }
        | Comparison::Moment { .. }
        | Comparison::Range { .. }) => any(comparison),
    }
}

fn value_matches(
    comparison: &Comparison,
    compare_as: Option<CompareAs>,
    value: Option<&Value>,
    now: UtcMillis,
) -> bool {
    let datum = match (value.and_then(Datum::of_json), compare_as) {
        // A property of another type than the requested one is still there.
        (Some(datum), Some(compare_as)) if !asks_for_presence(comparison) => datum.cast(compare_as),
        (datum, _) => datum,
    };
    holds(comparison, datum, now)
}

fn asks_for_presence(comparison: &Comparison) -> bool {
    matches!(comparison, Comparison::IsEmpty | Comparison::NotEmpty)
}

fn holds(comparison: &Comparison, datum: Option<Datum<'_>>, now: UtcMillis) -> bool {
    let Some(datum) = datum else { return matches!(comparison, Comparison::IsEmpty) };
    match comparison {
        Comparison::IsEmpty => datum.is_empty(),
        Comparison::NotEmpty => !datum.is_empty(),
        Comparison::Equals(value) => datum.equals(value, now),
        Comparison::SameDate { value, part } => {
            let dates = datum.date().zip(part.date(value, now));
            dates.is_some_and(|(date, wanted)| part.is_same(date.civil().date(), wanted))
        }
        Comparison::SameUnit { moment, unit, direction } => {
            datum.date().is_some_and(|date| calendar::is_same_unit(date, moment, *unit, *direction, now))
        }
        Comparison::Contains(value) => datum.contains(value, now),
        Comparison::NotContains(value) => !datum.contains(value, now),
        Comparison::Order { ordering, value } => datum.compare(value).is_some_and(|found| match ordering {
            selector::Ordering::Less => found.is_lt(),
            selector::Ordering::LessEq => found.is_le(),
            selector::Ordering::Greater => found.is_gt(),
            selector::Ordering::GreaterEq => found.is_ge(),
        }),
        Comparison::Moment { side, moment, unit, direction } => datum.date().is_some_and(|date| {
            let found = calendar::compare(date, moment, *unit, *direction, now);
            match side {
                Side::Before => found.is_lt(),
                Side::After => found.is_gt(),
            }
        }),
        Comparison::Range { start, end, .. } => datum.date().is_some_and(|date| (*start..*end).contains(&date)),
    }
}
