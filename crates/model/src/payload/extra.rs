//! The `extra` maps of the overrides: key and value pairs for the app itself, and the keys that are taken.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::json::At;
use crate::json::body::Read;

pub type TextExtra = BTreeMap<String, String>;
pub type JsonExtra = BTreeMap<String, Value>;

/// String values only, without the keys that Firebase keeps for itself.
pub fn android(at: &At<'_>) -> Option<TextExtra> {
    let entries = at.object()?.rest().into_iter().map(|(key, value)| {
        if is_taken_by_firebase(key) {
            return value.invalid(format!("The key '{key}' is reserved by Firebase; choose another one."));
        }
        Some((key.to_owned(), value.any_text()?))
    });
    entries.collect::<Vec<_>>().into_iter().collect()
}

/// Any values, without `aps`, which belongs to Apple.
pub fn ios(at: &At<'_>) -> Option<JsonExtra> {
    let extra = JsonExtra::read(at)?;
    if extra.contains_key("aps") {
        return at.invalid_key("aps", "The key 'aps' is reserved by Apple; choose another one.");
    }
    Some(extra)
}

fn is_taken_by_firebase(key: &str) -> bool {
    matches!(key, "from" | "message_type" | "data") || key.starts_with("google") || key.starts_with("gcm")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn reserved_keys_are_named() {
        let text = TextExtra::read;
        let path = |body: &str, read: fn(&At<'_>) -> Option<TextExtra>| {
            parse(body.as_bytes(), read).err().map(|problems| problems.first().path.clone())
        };
        for key in ["from", "message_type", "data", "google.x", "googleplex", "gcm"] {
            assert_eq!(path(&format!(r#"{{"ok":"", "{key}":"x"}}"#), android).as_deref(), Some(key));
        }
        assert_eq!(path(r#"{"fromage":"", "my_google":"", "From":""}"#, android), None);
        assert_eq!(path(r#"{"from":"", "aps":""}"#, text), None);
        assert_eq!(path(r#"{"a":1}"#, text).as_deref(), Some("a"));
        assert_eq!(path(r#"{"a":null}"#, android).as_deref(), Some("a"));

        let problems = parse(br#"{"a":{"b":[1]},"aps":{}}"#, ios).unwrap_err();
        assert_eq!(problems.first().path, "aps");
        assert_eq!(parse(br#"{"a":{"b":[1]}}"#, ios).unwrap()["a"], serde_json::json!({"b": [1]}));
    }
}
