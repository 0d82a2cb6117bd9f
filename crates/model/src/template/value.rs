//! The value of a variable, as callers give it: any text, or a value that has an obvious text.

use crate::json::{At, Json};

/// Numbers and booleans stand for their text, and null for no value at all.
pub(crate) fn variable_value(at: &At<'_>) -> Option<Option<String>> {
    match at.json() {
        Json::Null => Some(None),
        Json::Bool(value) => Some(Some(value.to_string())),
        Json::Number(number) => Some(Some(number.to_string())),
        Json::String(text) => Some(Some(text.clone())),
        Json::Array(_) | Json::Object(_) => at.string().map(|text| Some(text.to_owned())),
    }
}
