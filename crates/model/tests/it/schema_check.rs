//! A check of values against the part of JSON Schema that our schemas use. Patterns of values are not checked.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// The keys of the value that the schema knows, or the reason that it refuses the value.
pub(crate) fn check(root: &Value, schema: &Value, value: &Value) -> Result<BTreeSet<String>, String> {
    let schema = match schema {
        Value::Bool(true) => return Ok(BTreeSet::new()),
        Value::Object(schema) => schema,
        other => return Err(format!("{other} accepts nothing")),
    };
    let mut known = BTreeSet::new();
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(&reference[1..]).ok_or_else(|| format!("{reference} leads nowhere"))?;
        known.extend(check(root, target, value)?);
    }
    for part in forms(schema, "allOf") {
        known.extend(check(root, part, value)?);
    }
    for keyword in ["anyOf", "oneOf"] {
        let results: Vec<_> = forms(schema, keyword).map(|form| check(root, form, value)).collect();
        if !results.is_empty() && results.iter().all(Result::is_err) {
            let reasons: Vec<String> = results.into_iter().filter_map(Result::err).collect();
            return Err(format!("{value}: none of {keyword}: {}", reasons.join("; ")));
        }
        known.extend(results.into_iter().flatten().flatten());
    }
    let types: Vec<&str> = match schema.get("type") {
        None => Vec::new(),
        Some(Value::String(one)) => vec![one],
        Some(many) => many.as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
    };
    if !types.is_empty() && !types.iter().any(|name| is_of_type(value, name)) {
        return Err(format!("{value} is not of type {types:?}"));
    }
    if schema.get("const").is_some_and(|wanted| wanted != value)
        || schema.get("enum").is_some_and(|all| !has(all, value))
    {
        return Err(format!("{value} is not among the words of {schema:?}"));
    }
    within(schema, value)?;
    if let Value::Array(items) = value
        && let Some(item) = schema.get("items")
    {
        items.iter().try_for_each(|value| check(root, item, value).map(drop))?;
    }
    if let Value::Object(object) = value {
        check_keys(root, schema, object, &mut known)?;
    }
    Ok(known)
}

fn check_keys(
    root: &Value,
    schema: &Map<String, Value>,
    object: &Map<String, Value>,
    known: &mut BTreeSet<String>,
) -> Result<(), String> {
    for required in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        object.get(required).ok_or_else(|| format!("'{required}' is missing"))?;
    }
    let mut own = BTreeSet::new();
    for (key, value) in object {
        let property = schema.get("properties").and_then(|properties| properties.get(key));
        let patterns = schema.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
        for schema in property.into_iter().chain(patterns.filter(|(pattern, _)| fits(pattern, key)).map(|(_, it)| it)) {
            check(root, schema, value).map_err(|reason| format!("{key}: {reason}"))?;
            own.insert(key.clone());
        }
        if !own.contains(key)
            && let Some(schema) = schema.get("additionalProperties")
        {
            check(root, schema, value).map_err(|reason| format!("{key} is unknown: {reason}"))?;
        }
    }
    known.extend(own);
    match object.keys().find(|key| !known.contains(*key)) {
        Some(key) if schema.get("unevaluatedProperties") == Some(&Value::Bool(false)) => {
            Err(format!("{key} is unknown"))
        }
        _ => Ok(()),
    }
}

/// The patterns of keys that our schemas have.
fn fits(pattern: &str, key: &str) -> bool {
    match pattern {
        "^open::" => key.starts_with("open::"),
        "^([aA][nN][dD]|[oO][rR])$" => ["and", "or"].contains(&key.to_ascii_lowercase().as_str()),
        "^[nN][oO][tT]$" => key.eq_ignore_ascii_case("not"),
        other => panic!("teach this check the pattern {other}"),
    }
}

fn within(schema: &Map<String, Value>, value: &Value) -> Result<(), String> {
    let (measured, least, most) = match value {
        Value::String(text) => (Some(text.chars().count() as f64), "minLength", "maxLength"),
        Value::Array(items) => (Some(items.len() as f64), "minItems", "maxItems"),
        Value::Object(object) => (Some(object.len() as f64), "minProperties", "maxProperties"),
        Value::Number(number) => (number.as_f64(), "minimum", "maximum"),
        Value::Null | Value::Bool(_) => return Ok(()),
    };
    let limit = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let Some(measured) = measured else { return Ok(()) };
    match limit(least).is_none_or(|least| measured >= least) && limit(most).is_none_or(|most| measured <= most) {
        true => Ok(()),
        false => Err(format!("{value} is not within {least} and {most}")),
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => {
            name == "number" || name == "integer" && number.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}

fn has(all: &Value, value: &Value) -> bool {
    all.as_array().is_some_and(|all| all.contains(value))
}

fn forms<'s>(schema: &'s Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'s Value> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten()
}
