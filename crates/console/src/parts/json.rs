//! Free-form values: in a few words where they are small, and as they are in a part that opens.

use maud::{Markup, html};
use serde_json::Value;

/// Texts without quotes, and nothing for what is empty.
pub(crate) fn brief(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(brief).collect::<Vec<_>>().join(", "),
        Value::Object(map) if map.is_empty() => String::new(),
        Value::Object(map) => {
            map.iter().map(|(name, value)| format!("{name}: {}", brief(value))).collect::<Vec<_>>().join(", ")
        }
        // Sums of money and the like are kept with a fraction, also where it is zero.
        Value::Number(number) => match number.to_string() {
            text if number.is_f64() => text.strip_suffix(".0").unwrap_or(&text).to_owned(),
            text => text,
        },
        Value::Bool(_) => value.to_string(),
    }
}

/// As it is, over several lines.
pub(crate) fn block(value: &Value) -> Markup {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    html! { pre { code { (text) } } }
}

/// The value behind a word that opens it.
pub(crate) fn folded(word: &str, value: &Value) -> Markup {
    html! { details.fold { summary { (word) } (block(value)) } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_told_in_a_few_words() {
        let value = json!({"name": "shoes", "sizes": [42, 43], "new": true, "more": {}, "none": null});
        assert_eq!(brief(&value), "more: , name: shoes, new: true, none: , sizes: 42, 43");
        assert_eq!((brief(&json!(12.5)), brief(&json!({}))), ("12.5".to_owned(), String::new()));
        assert_eq!([json!(12.0), json!(12)].map(|value| brief(&value)), ["12", "12"]);
    }

    #[test]
    fn markup_in_values_is_text() {
        let shown = folded("Details", &json!({"a": "<script>alert(1)</script>"})).into_string();
        assert!(!shown.contains("<script>") && shown.contains("&lt;script&gt;"), "{shown}");
    }
}
