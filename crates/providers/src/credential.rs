//! Text that proves who we are to another service and must never be logged or shown.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;

use model::json::At;
use model::json::body::{Limited, Within};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A password, key or token of a provider. Written only where it is stored, encrypted, and where it is used.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Credential(String);

impl Credential {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The caller must not print the result.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

impl Limited for Credential {
    type Limits = RangeInclusive<usize>;

    fn limit(schema: &mut Schema, length: Self::Limits) {
        String::limit(schema, length);
    }
}

impl Within for Credential {
    fn read_within(at: &At<'_>, length: Self::Limits) -> Option<Self> {
        at.text(length).map(Self)
    }
}

impl JsonSchema for Credential {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Credential".into()
    }

    /// No answer has it.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "writeOnly": true})
    }
}
