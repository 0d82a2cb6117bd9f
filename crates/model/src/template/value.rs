//! The value of a variable, as callers give it.

use std::borrow::Cow;

use schemars::json_schema;

use crate::json::body::Read;
use crate::json::{At, Json};

/// A text, a number, or true or false. `null` stands for no value.
// Texts of a template show it as text; the language of personalization asks whether it is true.
#[derive(Clone, Debug, PartialEq, Read)]
#[body(schema = json_schema!({"type": ["string", "number", "boolean", "null"]}))]
pub struct VariableValue(Json);

impl VariableValue {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        match at.json() {
            Json::Bool(_) | Json::Number(_) | Json::String(_) => Some(Self(at.json().clone())),
            Json::Null | Json::Array(_) | Json::Object(_) => {
                at.invalid(format!("This must be a string, a number, true or false, not {}.", at.json().kind()))
            }
        }
    }

    pub(super) fn of_text(text: &str) -> Self {
        Self(Json::String(text.to_owned()))
    }

    pub(super) fn json(&self) -> &Json {
        &self.0
    }

    pub(super) fn text(&self) -> Cow<'_, str> {
        match &self.0 {
            Json::String(text) => text.as_str().into(),
            Json::Bool(value) => value.to_string().into(),
            Json::Number(number) => number.to_string().into(),
            Json::Null | Json::Array(_) | Json::Object(_) => "".into(),
        }
    }
}
