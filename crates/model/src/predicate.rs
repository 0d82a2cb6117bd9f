//! Predicates: conditions over JSON. Devices evaluate those of data for apps, the service those that filter the stream of events.
//!
//! ```text
//! predicate = {"and": [predicate, ...]} | {"or": [predicate, ...]} | {"not": predicate} | {"not": [predicate]}
//!           | {"scope"?: KEY or [KEY, ...], "key"?: KEY, "value": matcher, "ignore_case"?: BOOLEAN}
//! matcher   = {"equals": JSON} | {"at_least": NUMBER, "at_most": NUMBER}, one of them is enough | {"is_present": BOOLEAN}
//!           | {"version_matches": RANGE} | {"array_contains": predicate, "index"?: INTEGER} | {"array_length": predicate}
//!           | {"string_begins": TEXT} | {"string_ends": TEXT} | {"string_contains": TEXT}
//! ```

#[cfg(test)]
mod tests;
mod version_range;

use schemars::json_schema;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::json::At;
use crate::json::body::Read;
use crate::limits;
use version_range::VersionRange;

/// A condition over JSON: a matcher with `value`, or `and`, `or` or `not` with others.
// Printed as it was given: devices read it.
#[derive(Clone, Debug, PartialEq, Read)]
#[body(schema = json_schema!({"type": "object", "properties": {
    "key": {"type": "string"},
    "scope": {"type": ["string", "array"]},
    "value": {"type": "object"},
    "ignore_case": {"type": "boolean"},
    "and": {"type": "array"},
    "or": {"type": "array"},
    "not": {"type": ["array", "object"]},
}}))]
pub struct Predicate {
    source: Value,
    test: Test,
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    And(Vec<Test>),
    Or(Vec<Test>),
    Not(Box<Test>),
    Matches {
        /// The keys that lead to the value.
        path: Vec<String>,
        matcher: Matcher,
        ignore_case: bool,
    },
}

#[derive(Clone, Debug, PartialEq)]
enum Matcher {
    Equals(Value),
    Within { at_least: Option<f64>, at_most: Option<f64> },
    IsPresent(bool),
    Version(VersionRange),
    ArrayContains { item: Box<Test>, index: Option<usize> },
    ArrayLength(Box<Test>),
    Begins(String),
    Ends(String),
    Contains(String),
}

/// The keys of matchers, of which a matcher has one. Bounds are two keys of one matcher.
const KEYS: [&str; 9] = [
    "equals",
    "is_present",
    "array_contains",
    "array_length",
    "version_matches",
    "version",
    "string_begins",
    "string_ends",
    "string_contains",
];
const BOUNDS: [&str; 2] = ["at_least", "at_most"];
const ONE_MATCHER: &str = "A matcher is exactly one of 'equals', 'at_least' and 'at_most', 'is_present', 'version_matches', \
                           'array_contains', 'array_length', 'string_begins', 'string_ends' and 'string_contains'.";

impl Predicate {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let test = Test::parse(at)?;
        if test.n_matchers() > limits::PREDICATE_MATCHERS {
            return at.invalid(format!("A predicate has at most {} matchers.", limits::PREDICATE_MATCHERS));
        }
        Some(Self { test, source: at.json().to_value() })
    }

    pub fn holds(&self, value: &Value) -> bool {
        self.test.holds(value)
    }
}

impl Serialize for Predicate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.source.serialize(serializer)
    }
}

impl Test {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let members = |at: &At<'_>| at.array(0..=usize::MAX, Self::parse);
        let test = if fields.has("and") {
            fields.required("and", members).map(Self::And)
        } else if fields.has("or") {
            fields.required("or", members).map(Self::Or)
        } else if fields.has("not") {
            let member = fields.required("not", |at| at.one_or_many(1..=1, Self::parse));
            member.and_then(|member| member.into_vec().pop()).map(|member| Self::Not(Box::new(member)))
        } else {
            let scope = fields.optional("scope", |at| at.one_or_many(0..=usize::MAX, At::any_text));
            let key = fields.optional("key", At::any_text);
            let ignore_case = fields.optional("ignore_case", At::boolean).unwrap_or(false);
            let matcher = fields.required("value", Matcher::parse);
            let path = scope.into_iter().flat_map(|scope| scope.into_vec()).chain(key).collect();
            matcher.map(|matcher| Self::Matches { path, matcher, ignore_case })
        };
        fields.finish();
        test
    }

    /// A predicate without a matcher counts as one.
    fn n_matchers(&self) -> usize {
        match self {
            Self::And(members) | Self::Or(members) => members.iter().map(Self::n_matchers).sum::<usize>().max(1),
            Self::Not(member) => member.n_matchers(),
            Self::Matches { matcher: Matcher::ArrayContains { item, .. } | Matcher::ArrayLength(item), .. } => {
                1 + item.n_matchers()
            }
            Self::Matches { .. } => 1,
        }
    }

    fn holds(&self, value: &Value) -> bool {
        match self {
            Self::And(members) => members.iter().all(|member| member.holds(value)),
            Self::Or(members) => members.iter().any(|member| member.holds(value)),
            Self::Not(member) => !member.holds(value),
            Self::Matches { path, matcher, ignore_case } => {
                let found = path.iter().try_fold(value, |value, key| value.get(key));
                matcher.holds(found.unwrap_or(&Value::Null), *ignore_case)
            }
        }
    }
}

impl Matcher {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let mut given: Vec<&str> = KEYS.into_iter().filter(|key| fields.has(key)).collect();
        given.extend(fields.has_any(&BOUNDS).then_some("at_least"));
        let [key] = given[..] else {
            fields.pass_over_rest::<()>();
            return at.invalid(ONE_MATCHER);
        };
        let matcher = match key {
            "equals" => fields.take(key).map(|at| Self::Equals(at.json().to_value())),
            "is_present" => fields.required(key, At::boolean).map(Self::IsPresent),
            "array_contains" => {
                let item = fields.required(key, Test::parse).map(Box::new);
                let index = fields.optional("index", |at| at.integer(0..=i64::MAX));
                let index = index.map(|index| usize::try_from(index).unwrap_or(usize::MAX));
                item.map(|item| Self::ArrayContains { item, index })
            }
            "array_length" => fields.required(key, Test::parse).map(|test| Self::ArrayLength(Box::new(test))),
            "version_matches" | "version" => fields.required(key, VersionRange::parse).map(Self::Version),
            "string_begins" => fields.required(key, At::any_text).map(Self::Begins),
            "string_ends" => fields.required(key, At::any_text).map(Self::Ends),
            "string_contains" => fields.required(key, At::any_text).map(Self::Contains),
            _ => {
                let [at_least, at_most] = BOUNDS.map(|key| fields.optional(key, |at| at.number(f64::MIN..=f64::MAX)));
                Some(Self::Within { at_least, at_most })
            }
        };
        // Of no meaning beside others, and accepted by devices.
        fields.ignore(&["index"]);
        fields.finish();
        matcher
    }

    fn holds(&self, found: &Value, ignore_case: bool) -> bool {
        let text = |holds: &dyn Fn(&str, &str) -> bool, wanted: &str| match (found.as_str(), ignore_case) {
            (Some(found), true) => holds(&found.to_lowercase(), &wanted.to_lowercase()),
            (Some(found), false) => holds(found, wanted),
            (None, _) => false,
        };
        match self {
            Self::Equals(wanted) => are_equal(found, wanted, ignore_case),
            Self::Within { at_least, at_most } => found.as_f64().is_some_and(|number| {
                at_least.is_none_or(|least| number >= least) && at_most.is_none_or(|most| number <= most)
            }),
            Self::IsPresent(is_present) => found.is_null() != *is_present,
            Self::Version(range) => found.as_str().is_some_and(|version| range.contains(version)),
            Self::ArrayContains { item, index } => found.as_array().is_some_and(|items| match index {
                Some(index) => items.get(*index).is_some_and(|found| item.holds(found)),
                None => items.iter().any(|found| item.holds(found)),
            }),
            Self::ArrayLength(test) => found.as_array().is_some_and(|items| test.holds(&Value::from(items.len()))),
            Self::Begins(wanted) => text(&|found, wanted| found.starts_with(wanted), wanted),
            Self::Ends(wanted) => text(&|found, wanted| found.ends_with(wanted), wanted),
            Self::Contains(wanted) => text(&|found, wanted| found.contains(wanted), wanted),
        }
    }
}

/// Numbers are the same however they are written.
fn are_equal(one: &Value, other: &Value, ignore_case: bool) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) if ignore_case => one.to_lowercase() == other.to_lowercase(),
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| are_equal(one, other, ignore_case))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_there = |(key, value): (&String, &Value)| {
                other.get(key).is_some_and(|other| are_equal(value, other, ignore_case))
            };
            one.len() == other.len() && one.iter().all(is_there)
        }
        (one, other) => one == other,
    }
}
