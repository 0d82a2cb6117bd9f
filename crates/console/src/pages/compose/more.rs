//! Parts of a push that the form has no fields for, as JSON that is laid over what the fields say.

use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// What somebody has written as JSON; nothing if that is empty.
pub(crate) fn read(text: &str) -> Result<Map<String, Value>> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(parts)) => Ok(parts),
        Ok(_) => Err(Error::invalid("more", "The rest of the message has to be a JSON object.")),
        Err(error) => Err(Error::invalid("more", &format!("The rest of the message is no JSON: {error}."))),
    }
}

/// Lays one object over another: objects are joined, and everything else is replaced.
pub(crate) fn lay_over(base: &mut Map<String, Value>, more: Map<String, Value>) {
    for (key, value) in more {
        match (base.get_mut(&key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => lay_over(below, above),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// What has to be laid over `base` to get `whole`; `None` if something would have to be taken away.
pub(crate) fn difference(whole: &Map<String, Value>, base: &Map<String, Value>) -> Option<Map<String, Value>> {
    if base.keys().any(|key| !whole.contains_key(key)) {
        return None;
    }
    let mut more = Map::new();
    for (key, value) in whole {
        match (value, base.get(key)) {
            (value, Some(same)) if value == same => {}
            (Value::Object(above), Some(Value::Object(below))) => {
                more.insert(key.clone(), difference(above, below)?.into());
            }
            (value, _) => {
                more.insert(key.clone(), value.clone());
            }
        }
    }
    Some(more)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn object() -> impl Strategy<Value = Map<String, Value>> {
        let leaf =
            prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), "[a-c]{0,2}".prop_map(Value::from)];
        let value = leaf.prop_recursive(3, 16, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::btree_map("[a-c]", inner, 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        });
        proptest::collection::btree_map("[a-c]", value, 0..4).prop_map(|map| map.into_iter().collect())
    }

    proptest! {
        #[test]
        fn a_difference_gives_back_the_whole(whole in object(), base in object()) {
            if let Some(more) = difference(&whole, &base) {
                let mut laid = base;
                lay_over(&mut laid, more);
                prop_assert_eq!(laid, whole);
            }
        }
    }

    #[test]
    fn objects_are_joined_and_the_rest_is_replaced() {
        let Value::Object(mut base) = json!({"a": {"b": 1, "c": [1]}, "d": 2}) else { panic!("an object") };
        lay_over(&mut base, read(r#"{"a": {"c": [2], "e": null}, "f": 3}"#).unwrap());
        assert_eq!(Value::from(base), json!({"a": {"b": 1, "c": [2], "e": null}, "d": 2, "f": 3}));
        assert!(read(" ").unwrap().is_empty() && read("[]").is_err() && read("{").is_err());
    }
}
