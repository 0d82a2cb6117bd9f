//! Values of events by their meaning, however a library wrote them: numbers and booleans often come as texts.

use serde_json::{Map, Value};

/// The data of one event. Free-form: every type of event and every library has its own.
pub(super) struct Loose(pub(super) Map<String, Value>);

impl Loose {
    pub(super) fn text(&self, key: &str) -> Option<String> {
        text(self.0.get(key)?)
    }

    /// A text that is not longer than names are. Control characters are left out: no name has them and databases choke on NUL.
    pub(super) fn name(&self, key: &str, most_chars: usize) -> Option<String> {
        name(&self.text(key)?, most_chars)
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        number(self.0.get(key)?)
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        match self.0.get(key)? {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) => text.to_ascii_lowercase().parse().ok(),
            Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Seconds with a fraction, as milliseconds.
    pub(super) fn millis(&self, key: &str) -> Option<u64> {
        millis(self.number(key)?).and_then(|millis| u64::try_from(millis).ok())
    }

    pub(super) fn object(&self, key: &str) -> Option<&Map<String, Value>> {
        self.0.get(key)?.as_object()
    }
}

pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

pub(super) fn name(text: &str, most_chars: usize) -> Option<String> {
    let name: String = text.chars().filter(|c| !c.is_control()).take(most_chars).collect();
    Some(name).filter(|name| !name.trim().is_empty())
}

pub(super) fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    Some(number).filter(|number: &f64| number.is_finite())
}

#[expect(clippy::cast_possible_truncation, reason = "what does not fit is filtered out before")]
pub(super) fn millis(seconds: f64) -> Option<i64> {
    const MOST: f64 = 1e15;
    let millis = (seconds * 1000.0).round();
    (-MOST..=MOST).contains(&millis).then_some(millis as i64)
}
