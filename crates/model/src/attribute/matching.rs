//! Whether an attribute satisfies a selector.

use std::collections::BTreeMap;

use serde_json::Value;

use super::datum::Datum;
use super::{AttributeValue, calendar, property_path};
use crate::selector::{self, AttributeTest, Comparison, Property, Side};
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

/// Whether a property inside a JSON object satisfies the comparison.
pub fn property_matches(property: &Property, json: &BTreeMap<String, Value>, now: UtcMillis) -> bool {
    let found = property_path::find(json, &property.property).and_then(Datum::of_json);
    let datum = match (found, property.compare_as) {
        // A property of another type than the requested one is still there.
        (Some(datum), Some(compare_as)) if !asks_for_presence(&property.comparison) => datum.cast(compare_as),
        (datum, _) => datum,
    };
    holds(&property.comparison, datum, now)
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
