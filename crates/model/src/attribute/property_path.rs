//! Finding a property inside a JSON object: `$.orders[0].total`, `orders[0]['the total']`, `$.orders[*].total` for that of each;
//! the leading `$.` may be left out.

use std::collections::BTreeMap;

use serde_json::Value;

enum Step<'a> {
    Key(&'a str),
    Index(usize),
    /// All items of an array.
    Each,
}

/// A property that a path leads to.
#[derive(Debug)]
pub(super) enum Found<'v> {
    /// `None` if there is no such property; a path that makes no sense never finds one.
    One(Option<&'v Value>),
    /// Those of the items of arrays.
    Each(Vec<&'v Value>),
}

pub(super) fn find<'v>(object: &'v BTreeMap<String, Value>, path: &str) -> Found<'v> {
    let steps = steps(path).unwrap_or_default();
    let Some((Step::Key(first), rest)) = steps.split_first() else { return Found::One(None) };
    let found: Vec<&Value> = rest.iter().fold(object.get(*first).into_iter().collect(), |values, step| {
        values.into_iter().flat_map(|value| step.take(value)).collect()
    });
    match rest.iter().any(|step| matches!(step, Step::Each)) {
        true => Found::Each(found),
        false => Found::One(found.first().copied()),
    }
}

impl Step<'_> {
    fn take<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        match self {
            Step::Key(key) => value.as_object().and_then(|object| object.get(*key)).into_iter().collect(),
            Step::Index(index) => value.as_array().and_then(|items| items.get(*index)).into_iter().collect(),
            Step::Each => value.as_array().into_iter().flatten().collect(),
        }
    }
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
    let step = if index == "*" { Step::Each } else { Step::Index(index.parse().ok()?) };
    Some((step, after))
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
            let Found::One(found) = find(&object, path) else { panic!("{path} finds several") };
            assert_eq!(found.map(Value::to_string).as_deref(), wanted, "{path}");
        }
    }

    #[test]
    fn items_of_arrays() {
        let text = r#"{"a":[{"b":[1,2]},{"c":0},{"b":[3]}],"d":{"e":1}}"#;
        let object: BTreeMap<String, Value> = serde_json::from_str(text).unwrap();
        for (path, wanted) in [
            ("$.a[*].b", "[[1,2],[3]]"),
            ("a[*].b[*]", "[1,2,3]"),
            ("a[*]['b'][0]", "[1,3]"),
            ("a[*].x", "[]"),
            ("d[*]", "[]"),
            ("x[*]", "[]"),
        ] {
            let Found::Each(found) = find(&object, path) else { panic!("{path} finds one") };
            assert_eq!(serde_json::to_string(&found).unwrap(), wanted, "{path}");
        }
    }
}
