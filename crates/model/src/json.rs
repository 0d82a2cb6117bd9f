//! Strict reading of JSON: a tree that keeps duplicate keys visible, and a cursor that notes every problem with its path.
//!
//! A parse function has the shape `fn parse(at: &At) -> Option<T>`. `None` means at least one problem was noted; reading
//! goes on elsewhere so that a caller learns everything at once. [`parse`] turns the outcome into a `Result`.

mod cursor;
mod fields;
mod tree;

pub use cursor::{At, OneOrMany};
pub use fields::Fields;
pub use tree::Json;

use crate::problem::Problems;
use cursor::Sink;

/// Parses a request body. Syntax errors carry line and column, all others the path of the value to blame.
pub fn parse<T>(body: &[u8], read: impl FnOnce(&At<'_>) -> Option<T>) -> Result<T, Problems> {
    let tree = Json::from_slice(body)?;
    read_tree(&tree, read)
}

/// As [`parse`], for JSON that has been taken apart already.
pub fn read_tree<T>(tree: &Json, read: impl FnOnce(&At<'_>) -> Option<T>) -> Result<T, Problems> {
    let sink = Sink::default();
    let value = read(&At::root(tree, &sink));
    match (value, Problems::from_vec(sink.into_problems())) {
        (Some(value), None) => Ok(value),
        (_, Some(problems)) => Err(problems),
        // A parse function that gives up must say why; this keeps a forgotten note from becoming a panic.
        (None, None) => Err(Problems::one("", "The body could not be understood.")),
    }
}
