//! Objects that are declared once. `#[derive(Body)]` makes the parser, the printer and the JSON Schema of a
//! struct or an enum, and `#[derive(Words)]` those of a closed set of words.
//!
//! The type of a field decides how it is read: [`Read`], or [`Within`] its limits. An `Option` may be left
//! out, and is printed only when it is set. Documentation comments are the descriptions in the schema, so
//! they speak to callers of the API.
//!
//! ```ignore
//! /// One button of a notification.
//! #[derive(Body)]
//! pub struct Button {
//!     /// Distinguishes the buttons of one notification.
//!     #[body(length = 1..=64)]
//!     pub id: String,
//!     pub actions: Option<Actions>,
//! }
//! ```
//!
//! Of a field, `#[body(…)]` says: `rename = "type"`; `length = 1..=9` or `range = 0..=9`, and `each = …` for
//! the items of a list; `nullable` where clients send `null` for "not set"; `default` for a type that has a
//! value for "not set", and `always` if that is printed; `skip`; `read = …`, a function of the position;
//! `take = …`, a function of all fields, which may use the fields before it; `flatten` for an object whose
//! keys stand among these; `first` for a field that is read before the others; `schema = …` where the type
//! says too little.
//!
//! Of the type: `rename_all = "kebab-case"`; `not_empty = "message"`; `ignored = ["id"]`, `lenient`; `keys =
//! …`, which looks at the keys that are given; `check = …`, which takes the finished value and the position,
//! for rules across keys; `given(name: Type)` for a parser that needs to know more, and `parse = name` for
//! the parser's name; `not_printed`; `name = "…"` of the schema. An enum says `tag = "type"` when a word
//! tells its variants apart, or `one_of = "message"` when each variant is a key (and `missing = "key"` if one
//! is to be asked for when there is none).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use schemars::Schema;
use serde::Serializer;
use serde::ser::SerializeMap;
use serde_json::{Map, Value};

use super::{At, OneOrMany, schema};

pub use model_derive::{Body, Read, Words};

/// Read from a position; see [`super`] for what `None` means.
pub trait Read: Sized {
    fn read(at: &At<'_>) -> Option<Self>;
}

/// Has limits that a field may set: a length or a range.
pub trait Limited {
    type Limits;

    /// Adds the limits to a schema.
    fn limit(schema: &mut Schema, limits: Self::Limits);
}

/// Read within those limits.
pub trait Within: Limited + Sized {
    fn read_within(at: &At<'_>, limits: Self::Limits) -> Option<Self>;
}

/// Several values, each of which has limits.
pub trait Many: Sized {
    type Item: Within;

    fn read_each(at: &At<'_>, length: RangeInclusive<usize>, each: <Self::Item as Limited>::Limits) -> Option<Self>;

    fn limit_each(schema: &mut Schema, each: <Self::Item as Limited>::Limits);
}

/// Printed as keys of an object, leaving out what is not set.
pub trait Print {
    fn print_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

/// Prints an object of its own.
pub fn print<S: Serializer>(value: &impl Print, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    value.print_into(&mut map)?;
    map.end()
}

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
        schema::limit_range(schema, *range.start(), *range.end());
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
