//! Schemas that no type of the edge has: of answers that a room makes, and of values in common forms.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::operation::MakeSchema;

/// The answer to accepted pushes.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; a room makes the answer")]
pub(crate) struct Accepted {
    operation_id: uuid::Uuid,
    push_ids: Vec<uuid::Uuid>,
    /// One per push that has a Message Center message.
    message_ids: Vec<String>,
    /// Where the landing pages that came with the pushes are served.
    content_urls: Vec<String>,
    /// One per push that has localizations.
    localized_ids: Vec<uuid::Uuid>,
}

/// The answer to pushes that were made of templates.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; a room makes the answer")]
pub(crate) struct SentTemplates {
    operation_id: uuid::Uuid,
    push_ids: Vec<uuid::Uuid>,
}

/// An object of any keys.
pub(crate) type Free = Map<String, Value>;

/// Rows under the name of a report, with a link to more of them.
pub(crate) fn rows(name: &str, row: &Schema) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {name: {"type": "array", "items": row}, "next_page": {"type": "string"}},
        "required": [name],
    })
}

/// The schema of an answer itself, not a reference to it. What its type says about itself is for readers of the code.
pub(super) fn answer(generator: &mut SchemaGenerator, make: MakeSchema) -> Value {
    let mut schema = make(generator).to_value();
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("description");
    }
    tidy(&mut schema);
    leave_out_null(&mut schema);
    schema
}

/// Removes the names of the number types of Rust, which mean nothing to others.
pub(super) fn tidy(schema: &mut Value) {
    in_all_objects(schema, &|keys| {
        let format = keys.get("format").and_then(Value::as_str).unwrap_or_default();
        if format.starts_with("uint") || format.starts_with("int") || format == "double" {
            keys.remove("format");
        }
    });
}

/// Removes null from keys that are left out instead of being null, as in all answers.
pub(super) fn leave_out_null(schema: &mut Value) {
    in_all_objects(schema, &|keys| {
        let required: Vec<Value> = keys.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        if let Some(Value::Object(properties)) = keys.get_mut("properties") {
            let optional = properties.iter_mut().filter(|(name, _)| !required.contains(&json!(name)));
            optional.for_each(|(_, property)| without_null(property));
        }
    });
}

fn in_all_objects(schema: &mut Value, change: &impl Fn(&mut Map<String, Value>)) {
    match schema {
        Value::Object(keys) => {
            change(keys);
            keys.values_mut().for_each(|below| in_all_objects(below, change));
        }
        Value::Array(values) => values.iter_mut().for_each(|below| in_all_objects(below, change)),
        _ => {}
    }
}

fn without_null(property: &mut Value) {
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            property["type"] = only.clone();
        }
    }
    if let Some(Value::Array(forms)) = property.get_mut("anyOf") {
        forms.retain(|form| form["type"] != "null");
        if let [only] = &forms[..] {
            let (only, description) = (only.clone(), property.get("description").cloned());
            *property = only;
            if let Some(description) = description {
                property["description"] = description;
            }
        }
    }
}
