//! The OpenAPI document: every route of the table, with its description from `routes/docs`, as JSON.
//!
//! Only tests make the document. The program serves the text that they keep in `docs/openapi.json`, so none of this is
//! part of the binary.

pub(crate) mod body;
mod document;
mod operation;
pub(crate) mod query;
mod refusals;
mod security;
pub(crate) mod shape;
mod variables;

pub use document::document;
pub(crate) use operation::{Area, MakeSchema, Operation};
