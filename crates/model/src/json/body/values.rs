//! How the types that Rust and serde_json bring are read, and which limits they have.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use schemars::Schema;
use serde_json::{Map, Value};

use super::{Limited, Many, Read, Within};
use crate::json::{At, OneOrMany, schema};

impl Read for bool {
    fn read(at: &At<'_>) -> Option<Self> {
        at.boolean()
    }
}

impl Read for String {
    fn read(at: &At<'_>) -> Option<Self> {
        at.any_text()
    }
}

impl Read for Value {
    fn read(at: &At<'_>) -> Option<Self> {
        Some(at.json().to_value())
    }
}

impl Read for Map<String, Value> {
    fn read(at: &At<'_>) -> Option<Self> {
        at.object()?;
        match at.json().to_value() {
            Value::Object(object) => Some(object),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
        }
    }
}

impl<T: Read> Read for Box<T> {
    fn read(at: &At<'_>) -> Option<Self> {
        T::read(at).map(Box::new)
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(at: &At<'_>) -> Option<Self> {
        at.array(0..=usize::MAX, T::read)
    }
}

impl<T: Read> Read for OneOrMany<T> {
    fn read(at: &At<'_>) -> Option<Self> {
        at.one_or_many(0..=usize::MAX, T::read)
    }
}

impl<T: Read> Read for BTreeMap<String, T> {
    fn read(at: &At<'_>) -> Option<Self> {
        at.object()?.into_map(0..=usize::MAX, T::read)
    }
}

impl Limited for String {
    type Limits = RangeInclusive<usize>;

    fn limit(schema: &mut Schema, length: Self::Limits) {
        schema::limit_length(schema, "minLength", "maxLength", &length);
    }
}

impl Within for String {
    fn read_within(at: &At<'_>, length: Self::Limits) -> Option<Self> {
        at.text(length)
    }
}

impl Limited for i64 {
    type Limits = RangeInclusive<i64>;

    fn limit(schema: &mut Schema, range: Self::Limits) {
        schema::limit_range(schema, *range.start(), *range.end());
    }
}

impl Within for i64 {
    fn read_within(at: &At<'_>, range: Self::Limits) -> Option<Self> {
        at.integer(range)
    }
}

impl Limited for f64 {
    type Limits = RangeInclusive<f64>;

    fn limit(schema: &mut Schema, range: Self::Limits) {
        schema::limit_number(schema, &range);
    }
}

impl Within for f64 {
    fn read_within(at: &At<'_>, range: Self::Limits) -> Option<Self> {
        at.number(range)
    }
}

impl Limited for u16 {
    type Limits = RangeInclusive<u16>;

    fn limit(schema: &mut Schema, range: Self::Limits) {
        schema::limit_range(schema, *range.start(), *range.end());
    }
}

impl Within for u16 {
    fn read_within(at: &At<'_>, range: Self::Limits) -> Option<Self> {
        at.integer(i64::from(*range.start())..=i64::from(*range.end())).and_then(|value| value.try_into().ok())
    }
}

impl Limited for u32 {
    type Limits = RangeInclusive<u32>;

    fn limit(schema: &mut Schema, range: Self::Limits) {
        schema::limit_range(schema, *range.start(), *range.end());
    }
}

impl Within for u32 {
    fn read_within(at: &At<'_>, range: Self::Limits) -> Option<Self> {
        at.integer(i64::from(*range.start())..=i64::from(*range.end())).and_then(|value| value.try_into().ok())
    }
}

impl<T> Limited for Vec<T> {
    type Limits = RangeInclusive<usize>;

    fn limit(schema: &mut Schema, length: Self::Limits) {
        schema::limit_length(schema, "minItems", "maxItems", &length);
    }
}

impl<T: Read> Within for Vec<T> {
    fn read_within(at: &At<'_>, length: Self::Limits) -> Option<Self> {
        at.array(length, T::read)
    }
}

impl<T> Limited for BTreeSet<T> {
    type Limits = RangeInclusive<usize>;

    fn limit(schema: &mut Schema, length: Self::Limits) {
        schema::limit_length(schema, "minItems", "maxItems", &length);
    }
}

impl<T> Limited for OneOrMany<T> {
    type Limits = RangeInclusive<usize>;

    fn limit(schema: &mut Schema, length: Self::Limits) {
        schema::limit_length(schema, "minItems", "maxItems", &length);
    }
}

impl<T: Read> Within for OneOrMany<T> {
    fn read_within(at: &At<'_>, length: Self::Limits) -> Option<Self> {
        at.one_or_many(length, T::read)
    }
}

impl<T> Limited for BTreeMap<String, T> {
    type Limits = RangeInclusive<usize>;

    fn limit(schema: &mut Schema, length: Self::Limits) {
        schema::limit_length(schema, "minProperties", "maxProperties", &length);
    }
}

impl<T: Read> Within for BTreeMap<String, T> {
    fn read_within(at: &At<'_>, length: Self::Limits) -> Option<Self> {
        at.object()?.into_map(length, T::read)
    }
}

impl<T: Within> Many for Vec<T>
where
    T::Limits: Clone,
{
    type Item = T;

    fn read_each(at: &At<'_>, length: RangeInclusive<usize>, each: T::Limits) -> Option<Self> {
        at.array(length, |at| T::read_within(at, each.clone()))
    }

    fn limit_each(schema: &mut Schema, each: T::Limits) {
        schema::change(schema, "items", |items| T::limit(items, each));
    }
}

impl<T: Within> Many for OneOrMany<T>
where
    T::Limits: Clone,
{
    type Item = T;

    fn read_each(at: &At<'_>, length: RangeInclusive<usize>, each: T::Limits) -> Option<Self> {
        at.one_or_many(length, |at| T::read_within(at, each.clone()))
    }

    fn limit_each(schema: &mut Schema, each: T::Limits) {
        // One value has the same limits as an item of several. The keywords of one kind of value do not touch
        // the other.
        T::limit(schema, each.clone());
        schema::change(schema, "items", |items| T::limit(items, each));
    }
}
