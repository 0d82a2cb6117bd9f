//! Strict reading of JSON: a tree that keeps duplicate keys visible, and a cursor that notes every problem with its path.
//!
//! A parse function has the shape `fn parse(at: &At) -> Option<T>`. `None` means at least one problem was noted; reading
//! continues elsewhere so that a caller learns everything at once. [`parse`] turns the outcome into a `Result`.

pub mod body;
mod cursor;
mod fields;
pub(crate) mod near;
pub mod schema;
mod tree;

pub(crate) use cursor::Texts;
pub use cursor::{At, OneOrMany};
pub use fields::Fields;
pub use tree::Json;

use crate::problem::Problems;
use cursor::Sink;

/// How unknown keys are treated, and values that can be done without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownKeys {
    #[default]
    Refused,
    /// For bodies of devices. Their libraries drop a refused request, and installed libraries cannot be corrected, so the next
    /// library with more keys than we know has to be accepted all the same.
    PassedOver,
}

/// Parses a request body. Syntax errors carry line and column, all others the path of the value to blame.
pub fn parse<T>(body: &[u8], read: impl FnOnce(&At<'_>) -> Option<T>) -> Result<T, Problems> {
    parse_with(body, UnknownKeys::Refused, read)
}

pub fn parse_with<T>(
    body: &[u8],
    unknown_keys: UnknownKeys,
    read: impl FnOnce(&At<'_>) -> Option<T>,
) -> Result<T, Problems> {
    let tree = Json::from_slice(body)?;
    read_into(&Sink::new(unknown_keys), &tree, read)
}

/// As [`parse`], for JSON that has been taken apart already.
pub fn read_tree<T>(tree: &Json, read: impl FnOnce(&At<'_>) -> Option<T>) -> Result<T, Problems> {
    read_into(&Sink::default(), tree, read)
}

fn read_into<T>(sink: &Sink, tree: &Json, read: impl FnOnce(&At<'_>) -> Option<T>) -> Result<T, Problems> {
    let value = read(&At::root(tree, sink));
    match (value, Problems::from_vec(sink.take_problems())) {
        (Some(value), None) => Ok(value),
        (_, Some(problems)) => Err(problems),
        // A parse function that gives up must say why; this keeps a forgotten note from becoming a panic.
        (None, None) => Err(Problems::one("", "The body could not be understood.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Uninstalls;
    use crate::limits;
    use crate::payload::Push;

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
        let twice = format!("{{\"{key}\": 1, \"{key}\": 2}}");
        let read = |at: &At<'_>| {
            at.object()?.finish();
            Some(())
        };
        let problems = parse(twice.as_bytes(), read).unwrap_err();
        assert!(problems.iter().all(|problem| problem.message.len() < 400), "nor are they quoted as a whole");
    }

    #[test]
    fn a_body_has_a_limited_number_of_values() {
        let numbers = |n: usize| format!("[{}]", vec!["0"; n].join(","));
        let read = |body: &str| parse(body.as_bytes(), |at| at.items(0..=usize::MAX).map(|items| items.len()));
        // The array itself is a value too.
        assert_eq!(read(&numbers(limits::JSON_VALUES - 1)), Ok(limits::JSON_VALUES - 1));
        let objects = format!("[{}]", vec![r#"{"a":0}"#; limits::JSON_VALUES / 2].join(","));
        let nested = format!("[{}{}]", "[[],[]],".repeat(limits::JSON_VALUES / 3), "[]");
        for body in [numbers(limits::JSON_VALUES), objects, nested] {
            let problems = read(&body).unwrap_err();
            assert_eq!(problems.first().path, "");
            let message = &problems.first().message;
            assert!(message.contains("400000 values") && message.ends_with('.'), "{message}");
        }
    }

    #[test]
    fn the_largest_sensible_bodies_have_few_enough_values() {
        let uninstall = r#"{"channel_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5","device_type":"ios"}"#;
        let uninstalls = format!("[{}]", vec![uninstall; limits::UNINSTALLS_PER_REQUEST].join(","));
        assert_eq!(parse(uninstalls.as_bytes(), Uninstalls::parse).map(|all| all.0.len()), Ok(1000));

        let selectors = vec![r#"{"tag":"a","group":"b"}"#; limits::SELECTORS_PER_AUDIENCE].join(",");
        let push =
            format!(r#"{{"audience":{{"or":[{selectors}]}},"device_types":"all","notification":{{"alert":"Hi"}}}}"#);
        let pushes = format!("[{}]", vec![push; limits::PUSHES_PER_REQUEST].join(","));
        assert_eq!(parse(pushes.as_bytes(), Push::parse_one_or_many).map(|all| all.as_slice().len()), Ok(100));
    }

    #[test]
    fn a_byte_order_mark_says_nothing() {
        let read = |body: &[u8]| parse(body, |at| at.integer(0..=9));
        assert_eq!(read(b"\xef\xbb\xbf 7"), Ok(7));
        assert!(read(b"\xef\xbb\xbf\xef\xbb\xbf7").is_err(), "one is enough");
        assert!(read(b"\xef\xbb\xbf").unwrap_err().first().message.contains("empty"));
    }

    #[test]
    fn integers_may_be_written_as_floats() {
        let read = |body: &str| parse(body.as_bytes(), |at| at.integer(-10..=3600));
        for (body, value) in [("3600.0", 3600), ("36e2", 3600), ("-10.0", -10), ("-0.0", 0), ("7", 7)] {
            assert_eq!(read(body), Ok(value), "{body}");
        }
        let message = |body: &str| read(body).unwrap_err().first().message.clone();
        for body in ["3600.5", "1e300", "-0.1"] {
            assert!(message(body).starts_with("This must be an integer, not"), "{body}");
        }
        assert_eq!(message("3601.0"), "This must be between -10 and 3600, not 3601.0.");
        assert_eq!(message("99999999999999999999"), message("1e20").replace("1e20", "99999999999999999999"));
    }

    #[test]
    fn what_devices_say_beyond_what_we_know_is_passed_over() {
        let read = |at: &At<'_>| {
            let mut fields = at.object()?;
            let inner = fields.required("a", |at| {
                let mut fields = at.object()?;
                let n = fields.required("n", |at| at.integer(1..=9));
                fields.finish();
                n
            });
            fields.finish();
            inner
        };
        let paths = |body: &str, unknown_keys| match parse_with(body.as_bytes(), unknown_keys, read) {
            Ok(n) => vec![n.to_string()],
            Err(problems) => problems.iter().map(|problem| problem.path.clone()).collect(),
        };
        let more = r#"{"a": {"n": 1, "new": {}}, "newer": 1}"#;
        assert_eq!(paths(more, UnknownKeys::PassedOver), ["1"]);
        assert_eq!(paths(more, UnknownKeys::Refused), ["a.new", "newer"]);
        assert_eq!(paths(r#"{"a": {"n": 0}}"#, UnknownKeys::PassedOver), ["a.n"]);
        assert_eq!(paths(r#"{"x": 1, "x": 2}"#, UnknownKeys::PassedOver), ["x", "a"]);
    }

    #[test]
    fn paths_name_keys_and_positions() {
        let body = br#"{"a": {"b": [true, {"c": 1}]}}"#;
        let read = |at: &At<'_>| {
            at.object()?.required("a", |at| {
                at.object()?.required("b", |at| at.array(1..=2, |at| at.object()?.required("d", At::any_text)))
            })
        };
        let problems = parse(body, read).unwrap_err();
        let paths: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, ["a.b[0]", "a.b[1].d"]);
    }
}
