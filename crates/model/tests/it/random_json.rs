//! Random JSON values, from which random bodies are put together.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

pub(crate) type Random = BoxedStrategy<Value>;

/// An object with all of the first entries and some of the second.
pub(crate) fn object(always: Vec<(&str, Random)>, sometimes: Vec<(&str, Random)>) -> Random {
    let entry = |key: &str, value: BoxedStrategy<Option<Value>>| {
        let key = key.to_owned();
        value.prop_map(move |value| value.map(|value| (key.clone(), value))).boxed()
    };
    let mut entries: Vec<BoxedStrategy<Option<(String, Value)>>> = Vec::new();
    entries.extend(always.into_iter().map(|(key, value)| entry(key, value.prop_map(Some).boxed())));
    entries
        .extend(sometimes.into_iter().map(|(key, value)| entry(key, proptest::option::weighted(0.3, value).boxed())));
    entries.prop_map(|entries| Value::Object(entries.into_iter().flatten().collect())).boxed()
}

pub(crate) fn array(item: Random, n_items: std::ops::RangeInclusive<usize>) -> Random {
    vec(item, n_items).prop_map(Value::Array).boxed()
}

pub(crate) fn one_or_many(item: Random) -> Random {
    prop_oneof![item.clone(), array(item, 1..=3)].boxed()
}

pub(crate) fn text() -> Random {
    "[a-z\"\\\\/ éß日😀]{1,8}".prop_map(Value::String).boxed()
}

pub(crate) fn words(words: &'static [&'static str]) -> Random {
    select(words).prop_map(Value::from).boxed()
}

pub(crate) fn integer(range: std::ops::RangeInclusive<i64>) -> Random {
    range.prop_map(Value::from).boxed()
}

pub(crate) fn flag() -> Random {
    any::<bool>().prop_map(Value::from).boxed()
}

pub(crate) fn fraction() -> Random {
    prop_oneof![Just(json!(0)), Just(json!(1)), (0.0..=1.0).prop_map(Value::from)].boxed()
}

pub(crate) fn number() -> Random {
    prop_oneof![any::<i32>().prop_map(Value::from), (-1e9..1e9).prop_map(Value::from)].boxed()
}

pub(crate) fn uuid() -> Random {
    "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}".prop_map(Value::String).boxed()
}

pub(crate) fn url() -> Random {
    words(&["https://example.com/a.png", "http://example.org", "https://example.com/?q=é"])
}

pub(crate) fn color() -> Random {
    words(&["#0a6fb3", "#FFFFFF"])
}

pub(crate) fn expiry() -> Random {
    prop_oneof![
        integer(60..=100_000),
        words(&["2030-01-31T12:00:00", "2030-01-31 12:00:00", "2030-01-31T1200", "2030-01-31T12:00:00.5Z"])
    ]
    .boxed()
}

/// A map whose keys begin with a letter of our choice, so that two maps can be kept apart.
pub(crate) fn map(first_letter: char, value: Random) -> Random {
    let key = "[a-z0-9_]{0,5}".prop_map(move |rest| format!("{first_letter}{rest}"));
    btree_map(key, value, 0..3).prop_map(|map| Value::Object(map.into_iter().collect())).boxed()
}

/// Any JSON at all.
pub(crate) fn free() -> Random {
    let leaf = prop_oneof![Just(Value::Null), flag(), number(), text(), any::<u64>().prop_map(Value::from)];
    leaf.prop_recursive(3, 8, 3, |inner| {
        let inner = inner.boxed();
        prop_oneof![array(inner.clone(), 0..=3), map('k', inner)].boxed()
    })
    .boxed()
}
