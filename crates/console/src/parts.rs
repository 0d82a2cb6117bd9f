//! Pieces that pages are made of.

pub(crate) mod area;
pub(crate) mod conditions;
pub(crate) mod copy;
pub(crate) mod devices;
pub(crate) mod fields;
pub(crate) mod happenings;
pub(crate) mod json;
pub(crate) mod message_text;
pub(crate) mod numbers;
pub(crate) mod offsets;
pub(crate) mod once;
pub(crate) mod outcomes;
pub(crate) mod pager;
pub(crate) mod people;
pub(crate) mod seen;
pub(crate) mod segment_of_push;
pub(crate) mod states;
pub(crate) mod tabs;
