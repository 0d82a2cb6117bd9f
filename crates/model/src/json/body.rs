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
//! `#[body(…)]` of a field, or of a variant that is a key:
//!
//! - `rename = "type"`: the key, if it is not the name of the field
//! - `length = 1..=9`, `range = 0..=9`: limits of the value; `each = 1..=9`: of each of several
//! - `nullable`: `null` means "not set"
//! - `default`: without the key, the default of the type, which is not printed; `default = …`: this value
//! - `always`: printed even so, or as `null`
//! - `read = …`: a function of the position, in place of [`Read`]; it may use fields that are read before it
//! - `take = …`: a function of all [`Fields`](super::Fields), for values that are spread over several keys
//! - `flatten`: an object whose keys stand among these
//! - `first`: read before the other fields
//! - `skip`: neither read nor printed; the default
//! - `like = Type`: the schema is that of another type; `schema = …`: it is written out
//!
//! Of a type:
//!
//! - `rename_all = "kebab-case"`
//! - `not_empty = "message"`: refuses `{}`
//! - `ignored = ["id"]`: keys that are accepted and mean nothing; `lenient`: so are all others
//! - `keys = …`: a function of the fields, for rules about the keys that are given
//! - `check = …`: a function of the value and the position, for rules across keys
//! - `given(name: Type)`: the parser needs to know more; `parse = name`: its name
//! - `not_printed`: there is no printer
//! - `name = "…"`: of the schema, where two types have the same name
//! - of an enum: `tag = "type"`, when a word tells the variants apart; or `one_of = "message"`, when each is a
//!   key and exactly one is given, with `missing = "key"` for the key to ask for when there is none; or
//!   `by_keys`, when the variants have keys of their own: `when = ["key"]` of a variant says that it is meant
//!   when such a key is given, and the last variant is meant otherwise
//!
//! A type whose `parse` is written by hand has `#[derive(Read)]` and `#[body(schema = …)]`.

mod values;

use std::ops::RangeInclusive;

use schemars::Schema;
use serde::Serializer;
use serde::ser::SerializeMap;

use super::At;

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
