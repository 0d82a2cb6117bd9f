//! Numbers that need not be whole, kept as they were written: `1` and `1.0` print back differently.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Number;

use crate::json::body::{Limited, Within};
use crate::json::{At, Json, schema};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Decimal(Number);

impl Limited for Decimal {
    type Limits = RangeInclusive<f64>;

    fn limit(schema: &mut Schema, range: Self::Limits) {
        schema::limit_range(schema, *range.start(), *range.end());
    }
}

impl Within for Decimal {
    fn read_within(at: &At<'_>, range: Self::Limits) -> Option<Self> {
        Self::parse(at, range)
    }
}

impl JsonSchema for Decimal {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Decimal".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number"})
    }
}

impl Decimal {
    pub fn parse(at: &At<'_>, range: RangeInclusive<f64>) -> Option<Self> {
        at.number(range)?;
        match at.json() {
            Json::Number(number) => Some(Self(number.clone())),
            Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => None,
        }
    }

    /// A share of something: 0 to 1.
    pub fn parse_fraction(at: &At<'_>) -> Option<Self> {
        Self::parse(at, 0.0..=1.0)
    }

    pub fn number(&self) -> &Number {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn fractions_print_as_they_came() {
        for body in ["0", "1", "1.0", "0.25"] {
            let decimal = parse(body.as_bytes(), Decimal::parse_fraction).unwrap();
            assert_eq!(serde_json::to_string(&decimal).unwrap(), body);
        }
        for body in ["-0.1", "1.01", "2", r#""1""#, "null"] {
            parse(body.as_bytes(), Decimal::parse_fraction).unwrap_err();
        }
    }
}
