//! Values of events by their meaning, however a library wrote them: numbers and booleans often come as texts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::data::Data;

/// The data of one event, by key. Free-form: every type of event and every library has its own. Of what a library sends, little is
/// looked at, so a value stays the text that it came as until somebody asks for it.
pub(super) struct Loose<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Loose<'a> {
    pub(super) const fn empty() -> Self {
        Self(Vec::new())
    }

    pub(super) const fn new(fields: Vec<(Cow<'a, str>, &'a RawValue)>) -> Self {
        Self(fields)
    }

    /// `None` for what is no object.
    pub(super) fn of(raw: &'a RawValue) -> Option<Self> {
        match serde_json::from_str(raw.get()).ok()? {
            Data::Fields(fields) => Some(fields),
            Data::Other(_) => None,
        }
    }

    /// The last of several values for a key counts.
    fn raw(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find_map(|(name, value)| (name == key).then_some(*value))
    }

    pub(super) fn get(&self, key: &str) -> Option<Value> {
        read(self.raw(key)?)
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        let raw = self.raw(key)?;
        match plain_text(raw) {
            Some(text) => Some(text.to_owned()).filter(|text| !text.is_empty()),
            None => text(&read(raw)?),
        }
    }

    /// A text that is not longer than names are. Control characters are left out: no name has them and databases choke on NUL.
    pub(super) fn name(&self, key: &str, most_chars: usize) -> Option<String> {
        name_in(self.raw(key)?, most_chars)
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        number_in(self.raw(key)?)
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        match self.get(key)? {
            Value::Bool(flag) => Some(flag),
            Value::String(text) => text.to_ascii_lowercase().parse().ok(),
            Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Seconds with a fraction, as milliseconds.
    pub(super) fn millis(&self, key: &str) -> Option<u64> {
        millis(self.number(key)?).and_then(|millis| u64::try_from(millis).ok())
    }

    pub(super) fn object(&self, key: &str) -> Option<Map<String, Value>> {
        serde_json::from_str(self.raw(key)?.get()).ok()
    }

    /// An object, to be read in the same way.
    pub(super) fn within(&self, key: &str) -> Option<Loose<'a>> {
        Self::of(self.raw(key)?)
    }

    /// The objects of an array.
    pub(super) fn each_within(&self, key: &str) -> Vec<Loose<'a>> {
        let items = self.raw(key).and_then(|raw| serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok());
        items.unwrap_or_default().into_iter().filter_map(Self::of).collect()
    }

    /// All values, by key.
    pub(super) fn by_key(&self) -> BTreeMap<&str, &'a RawValue> {
        self.0.iter().map(|(key, value)| (key.as_ref(), *value)).collect()
    }

    /// All of it, for the log. `None` if a part cannot be read.
    pub(super) fn whole(&self) -> Option<Value> {
        let read = |(key, raw): &(Cow<'a, str>, &'a RawValue)| Some((key.clone().into_owned(), read(raw)?));
        self.0.iter().map(read).collect::<Option<Map<_, _>>>().map(Value::Object)
    }
}

/// Whether arrays and objects stand within each other deeper than readers of JSON accept, when an event stands in a record.
pub(super) fn is_deep(json: &str) -> bool {
    const DEEPEST: usize = 100;
    // Hardly any event has so many of them at all, and to count them is quicker.
    if json.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count() <= DEEPEST {
        return false;
    }
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => depth += 1,
            b']' | b'}' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

/// A text without escapes.
fn plain_text(raw: &RawValue) -> Option<&str> {
    raw.get().strip_prefix('"')?.strip_suffix('"').filter(|text| !text.contains('\\'))
}

fn read(raw: &RawValue) -> Option<Value> {
    serde_json::from_str(raw.get()).ok()
}

pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

pub(super) fn name(text: &str, most_chars: usize) -> Option<String> {
    let is_name = text.len() <= most_chars && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    let name = match is_name {
        true => text.to_owned(),
        false => text.chars().filter(|c| !c.is_control()).take(most_chars).collect(),
    };
    Some(name).filter(|name| !name.trim().is_empty())
}

pub(super) fn name_in(raw: &RawValue, most_chars: usize) -> Option<String> {
    match plain_text(raw) {
        Some(text) => name(text, most_chars),
        None => name(&text(&read(raw)?)?, most_chars),
    }
}

pub(super) fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    Some(number).filter(|number: &f64| number.is_finite())
}

pub(super) fn number_in(raw: &RawValue) -> Option<f64> {
    match plain_text(raw) {
        Some(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        None => number(&read(raw)?),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "what does not fit is filtered out before")]
pub(super) fn millis(seconds: f64) -> Option<i64> {
    const MOST: f64 = 1e15;
    let millis = (seconds * 1000.0).round();
    (-MOST..=MOST).contains(&millis).then_some(millis as i64)
}
