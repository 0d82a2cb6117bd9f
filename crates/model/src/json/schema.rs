//! JSON Schemas of declared bodies, made from tables so that each declaration adds little code.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Json, OneOrMany};

/// A part of an object.
pub enum Part {
    Key {
        key: &'static str,
        about: &'static str,
        is_required: bool,
        schema: fn(&mut SchemaGenerator) -> Schema,
    },
    /// An object whose keys stand among those of this one.
    Flattened(fn(&mut SchemaGenerator) -> Schema),
}

/// One form of an object that has several.
pub struct Variant {
    pub about: &'static str,
    /// The key and the word that tell it from the others.
    pub tag: Option<(&'static str, &'static str)>,
    pub parts: &'static [Part],
}

/// An object with these keys and no others.
pub fn object(schemas: &mut SchemaGenerator, parts: &[Part]) -> Schema {
    let mut schema = json_schema!({"type": "object", "additionalProperties": false});
    add_parts(schemas, &mut schema, parts);
    schema
}

/// An object of one of several forms.
pub fn variants(schemas: &mut SchemaGenerator, variants: &[Variant]) -> Schema {
    let forms: Vec<Schema> = variants
        .iter()
        .map(|variant| {
            let mut schema = json_schema!({"type": "object", "additionalProperties": false});
            if let Some((tag, word)) = variant.tag {
                add_key(&mut schema, tag, json_schema!({"type": "string", "const": word}), true);
            }
            add_parts(schemas, &mut schema, variant.parts);
            describe(&mut schema, variant.about);
            schema
        })
        .collect();
    json_schema!({"oneOf": forms})
}

/// One of these words, each with its meaning.
pub fn words(about: &str, words: &[(&str, &str)]) -> Schema {
    let mut schema = match words.iter().any(|(_, meaning)| !meaning.is_empty()) {
        false => json_schema!({"type": "string", "enum": words.iter().map(|(word, _)| *word).collect::<Vec<_>>()}),
        true => {
            let one = |(word, meaning): &(&str, &str)| {
                let mut schema = json_schema!({"const": word});
                describe(&mut schema, meaning);
                schema
            };
            json_schema!({"type": "string", "oneOf": words.iter().map(one).collect::<Vec<_>>()})
        }
    };
    describe(&mut schema, about);
    schema
}

/// A string of this many characters.
pub fn text(length: RangeInclusive<usize>) -> Schema {
    let mut schema = json_schema!({"type": "string"});
    limit_length(&mut schema, "minLength", "maxLength", &length);
    schema
}

pub fn describe(schema: &mut Schema, about: &str) {
    if !about.is_empty() {
        schema.insert("description".to_owned(), about.into());
    }
}

/// Says what a key means that is not given.
pub fn set_default(schema: &mut Schema, default: &impl Serialize) {
    schema.insert("default".to_owned(), json!(default));
}

/// The keywords for a length. Those that say nothing are left out.
pub fn limit_length(schema: &mut Schema, least: &str, most: &str, length: &RangeInclusive<usize>) {
    if *length.start() > 0 {
        schema.insert(least.to_owned(), (*length.start()).into());
    }
    if *length.end() < usize::MAX {
        schema.insert(most.to_owned(), (*length.end()).into());
    }
}

pub fn limit_range(schema: &mut Schema, least: impl Into<Value>, most: impl Into<Value>) {
    schema.insert("minimum".to_owned(), least.into());
    schema.insert("maximum".to_owned(), most.into());
}

/// As [`limit_range`], for numbers that may have no limit.
pub fn limit_number(schema: &mut Schema, range: &RangeInclusive<f64>) {
    if *range != (f64::MIN..=f64::MAX) {
        limit_range(schema, *range.start(), *range.end());
    }
}

/// Changes the schema under a keyword, wherever in the alternatives it stands.
pub fn change(schema: &mut Schema, keyword: &str, how: impl FnOnce(&mut Schema)) {
    let Some(object) = schema.as_object_mut() else { return };
    let holder = match object.contains_key(keyword) {
        true => Some(object),
        false => object
            .values_mut()
            .filter_map(Value::as_array_mut)
            .flatten()
            .find_map(|form| form.as_object_mut().filter(|form| form.contains_key(keyword))),
    };
    if let Some(inner) = holder.and_then(|holder| holder.get_mut(keyword))
        && let Ok(schema) = inner.try_into()
    {
        let schema: &mut Schema = schema;
        how(schema);
    }
}

fn add_parts(schemas: &mut SchemaGenerator, schema: &mut Schema, parts: &[Part]) {
    for part in parts {
        match part {
            Part::Key { key, about, is_required, schema: value } => {
                let mut value = value(schemas);
                describe(&mut value, about);
                add_key(schema, key, value, *is_required);
            }
            Part::Flattened(flattened) => {
                let mut flattened = flattened(schemas);
                open(flattened.ensure_object());
                // The keys of several schemas belong to one object, so that only all of them together know
                // every key.
                schema.remove("additionalProperties");
                schema.insert("unevaluatedProperties".to_owned(), false.into());
                let all = schema.ensure_object().entry("allOf").or_insert_with(|| json!([]));
                all.as_array_mut().into_iter().for_each(|all| all.push(flattened.clone().to_value()));
            }
        }
    }
}

fn add_key(schema: &mut Schema, key: &str, value: Schema, is_required: bool) {
    let object = schema.ensure_object();
    if let Some(properties) = object.entry("properties").or_insert_with(|| json!({})).as_object_mut() {
        properties.insert(key.to_owned(), value.to_value());
    }
    if is_required && let Some(required) = object.entry("required").or_insert_with(|| json!([])).as_array_mut() {
        required.push(key.into());
    }
}

/// Lets an object and its forms have other keys.
fn open(schema: &mut Map<String, Value>) {
    schema.remove("additionalProperties");
    schema.remove("unevaluatedProperties");
    for forms in ["oneOf", "anyOf"] {
        let forms = schema.get_mut(forms).and_then(Value::as_array_mut);
        forms.into_iter().flatten().filter_map(Value::as_object_mut).for_each(open);
    }
}

/// Any value.
impl JsonSchema for Json {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        true.into()
    }
}

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMany{}", T::schema_name()).into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let one = schemas.subschema_for::<T>();
        json_schema!({"anyOf": [one, {"type": "array", "items": one}]})
    }
}
