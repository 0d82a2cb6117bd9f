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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_keys_do_not_multiply() {
        // A megabyte of key above a hundred bad values: each problem shows only the beginning of the key.
        let key = "é".repeat(500_000);
        let body = format!("{{\"{key}\": [{}]}}", vec!["1"; 100].join(","));
        let read = |at: &At<'_>| at.object()?.into_map(0..=1, |at| at.array(0..=100, At::any_text));
        let problems = parse(body.as_bytes(), read).unwrap_err();
        assert_eq!(problems.iter().count(), 100);
        let first = &problems.first().path;
        assert_eq!(*first, format!("{}…[0]", "é".repeat(128)));
    }

    #[test]
    fn paths_name_keys_and_positions() {
        let body = br#"{"a": {"b": [true, {"c": 1}]}}"#;
        let read = |at: &At<'_>| {
            at.object()?.required("a", |at| {
                at.object()?.required("b", |at| {
                    at.array(1..=2, |at| at.object()?.required("d", At::any_text))
                })
            })
        };
        let problems = parse(body, read).unwrap_err();
        let paths: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, ["a.b[0]", "a.b[1].d"]);
    }
}
