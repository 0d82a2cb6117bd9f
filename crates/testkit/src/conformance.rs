//! Whether answers are what the OpenAPI document says. Every answer to a [`Caller`](crate::client::Caller) is looked up, so that
//! all tests of the API are tests of the document.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use http::{HeaderMap, Method, StatusCode, header};
use serde_json::Value;

static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../docs/openapi.json")).expect("the document is JSON"));

/// Panics if the document describes the route, and not this answer to it.
pub(crate) fn check(method: &Method, path: &str, status: StatusCode, headers: &HeaderMap, body: &[u8]) {
    let Some((template, operation)) = operation(method, path) else { return };
    let shown = || format!("{method} {template}: {status} {}", String::from_utf8_lossy(body));
    let response = &operation["responses"][status.as_str()];
    // A method or a version that a path does not have is refused before there is a route.
    assert!(!response.is_null() || status == StatusCode::METHOD_NOT_ALLOWED, "not in the document: {}", shown());
    let response = resolved(response);
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    // What is packed is compared with the plain text by its own test.
    let is_packed = headers.contains_key(header::CONTENT_ENCODING);
    if body.is_empty() || is_packed || !essence(content_type).ends_with("json") {
        return;
    }
    let Some(contents) = response["content"].as_object() else { return };
    // Callers choose the word of the vendor.
    let is_json = |name: &&String| essence(name).ends_with("json");
    let Some(media_type) = contents.keys().find(is_json) else { return };
    let value: Value = serde_json::from_slice(body).unwrap_or_else(|error| panic!("{error}: {}", shown()));
    if let Err(problem) = fits(&contents[media_type]["schema"], &value, "") {
        panic!("{problem}, unlike the document: {}", shown());
    }
}

/// What is wrong with the examples of bodies, by their own schemas.
pub fn problems_of_examples() -> Vec<String> {
    let operations = DOCUMENT["paths"].as_object().into_iter().flatten().flat_map(|(path, item)| {
        item.as_object().into_iter().flatten().map(move |(method, operation)| (method, path, operation))
    });
    let problem = |(method, path, operation): (&String, &String, &'static Value)| {
        let contents = operation["requestBody"]["content"].as_object()?;
        let (_, content) = contents.iter().find(|(name, _)| essence(name).ends_with("json"))?;
        let problem = fits(&content["schema"], &content["example"], "").err()?;
        Some(format!("{method} {path}: {problem}"))
    };
    operations.filter_map(problem).collect()
}

fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

/// The operation that a path leads to: of several the one with the fewest variables.
fn operation(method: &Method, path: &str) -> Option<(&'static str, &'static Value)> {
    let path = path.split('?').next()?.trim_end_matches('/');
    let segments: Vec<&str> = path.split('/').collect();
    let is_variable = |segment: &str| segment.starts_with('{');
    let fits = |template: &str| {
        let parts: Vec<&str> = template.split('/').collect();
        parts.len() == segments.len()
            && parts.iter().zip(&segments).all(|(part, segment)| is_variable(part) || part == segment)
    };
    let paths = DOCUMENT["paths"].as_object()?;
    let found = paths.iter().filter(|(template, _)| fits(template));
    let n_variables = |template: &str| template.split('/').filter(|part| is_variable(part)).count();
    let (template, item) = found.min_by_key(|(template, _)| n_variables(template))?;
    Some((template.as_str(), item.get(method.as_str().to_lowercase())?))
}

fn resolved(schema: &'static Value) -> &'static Value {
    match schema["$ref"].as_str().and_then(|reference| DOCUMENT.pointer(reference.strip_prefix('#')?)) {
        Some(found) => resolved(found),
        None => schema,
    }
}

/// As [`fits_part`], and with no key that the document does not know.
fn fits(schema: &'static Value, value: &Value, path: &str) -> Result<(), String> {
    fits_part(schema, value, path)?;
    let mut known = BTreeSet::new();
    let (Some(keys), true) = (value.as_object(), add_known_keys(schema, &mut known)) else { return Ok(()) };
    match keys.keys().find(|name| !known.contains(name.as_str())) {
        Some(unknown) => Err(format!("'{path}.{unknown}' is not in the document")),
        None => Ok(()),
    }
}

/// Notes the keys that a schema and its parts name. False if it allows others.
fn add_known_keys(schema: &'static Value, known: &mut BTreeSet<&'static str>) -> bool {
    let schema = resolved(schema);
    let parts = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten();
    let mut n_parts = 0;
    for part in parts {
        n_parts += 1;
        if !add_known_keys(part, known) {
            return false;
        }
    }
    let properties = schema["properties"].as_object();
    known.extend(properties.into_iter().flat_map(|properties| properties.keys().map(String::as_str)));
    let is_open = schema.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false))
        || schema.get("patternProperties").is_some();
    let says_something = properties.is_some() || n_parts > 0 || schema["type"] == "null";
    says_something && !is_open
}

/// The part of JSON Schema that the document uses.
fn fits_part(schema: &'static Value, value: &Value, path: &str) -> Result<(), String> {
    let schema = resolved(schema);
    let refuse = |what: String| Err(format!("'{path}' {what}"));
    let types: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|name| is_of_type(value, name)) {
        return refuse(format!("is {value}, not {types:?}"));
    }
    if schema.get("const").is_some_and(|only| only != value) {
        return refuse(format!("is {value}, not {}", schema["const"]));
    }
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
        return refuse(format!("is {value}, not one of {}", schema["enum"]));
    }
    if let (Some("uuid"), Some(text)) = (schema["format"].as_str(), value.as_str())
        && uuid::Uuid::try_parse(text).is_err()
    {
        return refuse(format!("is {value}, which is no UUID"));
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        fits_part(part, value, path)?;
    }
    for forms in ["anyOf", "oneOf"].map(|key| schema[key].as_array()).into_iter().flatten() {
        let problems: Vec<_> = forms.iter().filter_map(|form| fits_part(form, value, path).err()).collect();
        if problems.len() == forms.len() {
            return refuse(format!("has none of its forms ({})", problems.join("; ")));
        }
    }
    if let Some(items) = value.as_array() {
        let schema = schema.get("items").filter(|items| items.is_object());
        for (n, item) in items.iter().enumerate() {
            schema.map_or(Ok(()), |schema| fits(schema, item, &format!("{path}[{n}]")))?;
        }
    }
    value.as_object().map_or(Ok(()), |keys| fits_keys(schema, keys, path))
}

fn fits_keys(schema: &'static Value, keys: &serde_json::Map<String, Value>, path: &str) -> Result<(), String> {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|name| !keys.contains_key(*name)) {
        return Err(format!("'{path}' has no '{missing}'"));
    }
    for (name, value) in keys {
        let path = format!("{path}.{name}");
        // The patterns of the document are operators in any letter case, which differ by their values.
        let patterns = schema["patternProperties"].as_object();
        let mut by_pattern = patterns.into_iter().flat_map(serde_json::Map::values);
        match (schema["properties"].get(name), schema.get("additionalProperties")) {
            (Some(property), _) => fits(property, value, &path)?,
            (None, _) if by_pattern.any(|pattern| fits(pattern, value, &path).is_ok()) => {}
            (None, Some(Value::Bool(false))) => return Err(format!("'{path}' is not in the document")),
            (None, Some(other)) if other.is_object() => fits(other, value, &path)?,
            (None, _) => {}
        }
    }
    Ok(())
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}
