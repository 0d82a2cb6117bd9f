//! Where the cells of a listing come from.

use model::time::UtcMillis;
use serde_json::Value;

use crate::output;

/// Where a cell of a listing comes from, by JSON pointers into the item.
pub(crate) enum Cell {
    At(&'static str),
    /// The end of a URL.
    EndOf(&'static str),
    /// Milliseconds since 1970.
    Millis(&'static str),
    /// How many elements there are.
    Count(&'static str),
    /// The elements of an array, or what lies in each of them.
    Each(&'static str, &'static str),
    /// The values of those keys of an object that end like this.
    KeysEnding(&'static str, &'static str),
}

impl Cell {
    pub(super) fn of(&self, item: &Value) -> String {
        let array = |pointer: &str| item.pointer(pointer).and_then(Value::as_array);
        let text = match self {
            Cell::At(pointer) => item.pointer(pointer).and_then(brief),
            Cell::EndOf(pointer) => {
                let url = item.pointer(pointer).and_then(Value::as_str);
                url.and_then(|url| url.rsplit('/').next()).map(str::to_owned)
            }
            Cell::Millis(pointer) => {
                item.pointer(pointer).and_then(Value::as_i64).map(|millis| UtcMillis(millis).to_api())
            }
            Cell::Count(pointer) => array(pointer).map(|all| all.len().to_string()),
            Cell::Each(pointer, inside) => {
                array(pointer).map(|all| joined(all.iter().filter_map(|one| one.pointer(inside))))
            }
            Cell::KeysEnding(pointer, end) => {
                let object = item.pointer(pointer).and_then(Value::as_object);
                object.map(|all| joined(all.iter().filter(|(key, _)| key.ends_with(end)).map(|(_, value)| value)))
            }
        };
        output::shortened(text.as_deref().filter(|text| !text.is_empty()).unwrap_or("-"))
    }
}

fn brief(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        // Of what is chosen by its key, such as the time of a schedule, the first value tells most.
        Value::Object(parts) => parts.iter().next().map(|(key, value)| match value {
            Value::String(text) => text.clone(),
            _ => key.clone(),
        }),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => Some(value.to_string()),
    }
}

fn joined<'a>(values: impl Iterator<Item = &'a Value>) -> String {
    values.filter_map(brief).collect::<Vec<_>>().join(", ")
}
