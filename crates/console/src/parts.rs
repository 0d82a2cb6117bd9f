//! Pieces that pages are made of.

pub(crate) mod area;
pub(crate) mod fields;
pub(crate) mod message_text;
pub(crate) mod numbers;
pub(crate) mod offsets;
pub(crate) mod pager;
pub(crate) mod states;
