//! Finding a property inside a JSON object: `$.orders[0].total`, `orders[0]['the total']`; the leading `$.` may be left out.

use std::collections::BTreeMap;

use serde_json::Value;

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// `None` if there is no such property; a path that makes no sense never finds one.
pub(super) fn find<'v>(object: &'v BTreeMap<String, Value>, path: &str) -> Option<&'v Value> {
    let mut steps = steps(path)?.into_iter();
    let first = match steps.next()? {
        Step::Key(key) => object.get(key)?,
        Step::Index(_) => return None,
    };
    steps.try_fold(first, |value, step| match step {
        Step::Key(key) => value.as_object()?.get(key),
        Step::Index(index) => value.as_array()?.get(index),
    })
}

fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut steps = Vec::new();
    let mut rest = match path.strip_prefix('$') {
        Some(rest) if rest.starts_with(['.', '[']) => rest,
        Some(_) | None => path,
    };
    while !rest.is_empty() {
        let (step, after) = match rest.strip_prefix('[') {
            Some(inside) => bracket(inside)?,
            None => {
                let name = match rest.strip_prefix('.') {
                    Some(name) => name,
                    None if steps.is_empty() => rest,
                    None => return None,
                };
                let (name, after) = name.split_at(name.find(['.', '[']).unwrap_or(name.len()));
                (Step::Key(name), after)
            }
        };
        if matches!(step, Step::Key("")) {
            return None;
        }
        steps.push(step);
        rest = after;
    }
    Some(steps)
}

/// The text between brackets, and the text after them.
fn bracket(inside: &str) -> Option<(Step<'_>, &str)> {
    for quote in ['\'', '"'] {
        if let Some(quoted) = inside.strip_prefix(quote) {
            let (key, after) = quoted.split_once(quote)?;
            return Some((Step::Key(key), after.strip_prefix(']')?));
        }
    }
    let (index, after) = inside.split_once(']')?;
    Some((Step::Index(index.parse().ok()?), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let text = r#"{"a":{"b":[10,{"c d":"x"},[7]],"$":1},"$x":2,"e.f":3}"#;
        let object: BTreeMap<String, Value> = serde_json::from_str(text).unwrap();
        for (path, wanted) in [
            ("$.a.b[0]", Some("10")),
            ("a.b[0]", Some("10")),
            ("$['a'].b[1][\"c d\"]", Some(r#""x""#)),
            ("a.b[1].c d", Some(r#""x""#)),
            ("a.b[2][0]", Some("7")),
            ("a.$", Some("1")),
            ("$x", Some("2")),
            ("['e.f']", Some("3")),
            ("e.f", None),
            ("a.b[3]", None),
            ("a.b[-1]", None),
            ("a.b.c", None),
            ("a[0]", None),
            ("[0]", None),
            ("$", None),
            ("", None),
            ("$.", None),
            (".", None),
            ("a..b", None),
            ("a.b[0", None),
            ("a.b[0]x", None),
            ("['a'", None),
            ("['a]", None),
        ] {
            assert_eq!(find(&object, path).map(Value::to_string).as_deref(), wanted, "{path}");
        }
    }
}
