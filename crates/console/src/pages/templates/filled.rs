//! The message of a template with the usual values of its variables, for people to look at.

use serde_json::{Map, Value};

/// Variables without a usual value stand in brackets.
pub(super) fn push(push: &Map<String, Value>, variables: &[Map<String, Value>]) -> Map<String, Value> {
    let values: Vec<(&str, String)> = variables.iter().filter_map(value).collect();
    push.iter().map(|(key, value)| (key.clone(), fill(value, &values))).collect()
}

fn value(variable: &Map<String, Value>) -> Option<(&str, String)> {
    let key = variable.get("key")?.as_str()?;
    let usual = variable.get("default_value").and_then(Value::as_str);
    Some((key, usual.map_or_else(|| format!("[{key}]"), str::to_owned)))
}

fn fill(value: &Value, values: &[(&str, String)]) -> Value {
    match value {
        Value::String(text) => Value::String(values.iter().fold(text.clone(), |text, (key, value)| {
            text.replace(&format!("{{{{{key}}}}}"), value).replace(&format!("{{{{ {key} }}}}"), value)
        })),
        Value::Array(all) => all.iter().map(|value| fill(value, values)).collect(),
        Value::Object(all) => {
            Value::Object(all.iter().map(|(key, value)| (key.clone(), fill(value, values))).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn variables_get_their_usual_values() {
        let template =
            json!({"notification": {"alert": "Hi {{name}}, {{ greeting }}", "badge": 1, "tags": ["{{name}}"]}});
        let variables =
            json!([{"key": "name", "default_value": null}, {"key": "greeting", "default_value": "welcome"}]);
        let variables: Vec<Map<String, Value>> =
            variables.as_array().unwrap().iter().map(|variable| variable.as_object().unwrap().clone()).collect();
        let filled = push(template.as_object().unwrap(), &variables);
        assert_eq!(filled["notification"], json!({"alert": "Hi [name], welcome", "badge": 1, "tags": ["[name]"]}));
    }
}
