//! Predicates: conditions over JSON that devices evaluate.

use schemars::json_schema;
use serde::Serialize;
use serde_json::Value;

use crate::json::At;
use crate::json::body::Read;

/// A condition that devices evaluate over JSON: a matcher with `value`, or `and`, `or` or `not` with others.
// Kept as it was given: devices read it.
#[derive(Clone, Debug, PartialEq, Serialize, Read)]
#[serde(transparent)]
#[body(schema = json_schema!({"type": "object", "properties": {
    "key": {"type": "string"},
    "scope": {"type": ["string", "array"]},
    "value": {"type": "object"},
    "ignore_case": {"type": "boolean"},
    "and": {"type": "array"},
    "or": {"type": "array"},
    "not": {"type": ["array", "object"]},
}}))]
pub struct Predicate(Value);

/// The keys of matchers that take a text.
const TEXTS: [&str; 5] = ["version_matches", "version", "string_begins", "string_ends", "string_contains"];
const ONE_MATCHER: &str = "A matcher is exactly one of 'equals', 'at_least' and 'at_most', 'is_present', 'version_matches', \
                           'array_contains', 'array_length', 'string_begins', 'string_ends' and 'string_contains'.";

impl Predicate {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        check(at)?;
        Some(Self(at.json().to_value()))
    }
}

fn check(at: &At<'_>) -> Option<()> {
    let mut fields = at.object()?;
    let joined = ["and", "or"].into_iter().find(|key| fields.has(key));
    if let Some(key) = joined {
        fields.required(key, |at| at.array(0..=usize::MAX, check))?;
    } else if fields.has("not") {
        fields.required("not", |at| at.one_or_many(1..=1, check))?;
    } else {
        fields.optional("key", At::any_text);
        fields.optional("scope", |at| at.one_or_many(0..=usize::MAX, At::any_text));
        fields.optional("ignore_case", At::boolean);
        fields.required("value", matcher)?;
    }
    fields.finish();
    Some(())
}

fn matcher(at: &At<'_>) -> Option<()> {
    let mut fields = at.object()?;
    let is_range = fields.has_any(&["at_least", "at_most"]);
    let named = ["equals", "is_present", "array_contains", "array_length"].iter().chain(&TEXTS);
    if named.filter(|key| fields.has(key)).count() + usize::from(is_range) != 1 {
        fields.pass_over_rest::<()>();
        return at.invalid(ONE_MATCHER);
    }
    fields.take("equals");
    for key in ["at_least", "at_most"] {
        fields.optional(key, |at| at.number(f64::MIN..=f64::MAX));
    }
    fields.optional("is_present", At::boolean);
    fields.optional("array_contains", check);
    fields.optional("index", |at| at.integer(0..=i64::MAX));
    fields.optional("array_length", check);
    for key in TEXTS {
        fields.optional(key, At::any_text);
    }
    fields.finish();
    Some(())
}
