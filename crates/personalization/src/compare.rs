//! What is true, what is equal, and what comes first: values by what they mean, numbers as numbers.

use std::cmp::Ordering;

use serde_json::Value;

/// Exists, and is neither empty, nor zero, nor false.
pub(crate) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(_) => true,
    }
}

/// Whether there is nothing to be shown of it.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Texts are compared as numbers only where the other value is one.
pub(crate) fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(_), _) | (_, Value::Number(_)) => number(a).is_some() && number(a) == number(b),
        (Value::Bool(value), Value::String(text)) | (Value::String(text), Value::Bool(value)) => {
            *text == value.to_string()
        }
        (a, b) => a == b,
    }
}

/// `None` where the two cannot be compared. Dates as texts come in their order.
pub(crate) fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (number(a), number(b), a, b) {
        (Some(a), Some(b), ..) => a.partial_cmp(&b),
        (_, _, Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}
