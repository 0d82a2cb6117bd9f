//! Puts the document together: paths, components, tags and the words around them.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::operation::{Area, Content, Envelope, Operation, RequestBody, SuccessfulAnswer};
use super::query::{self, Parameter};
use super::{refusals, security, shape, variables};
use crate::error::ErrorBody;
use crate::routes::{Route, docs, routes};

pub(super) const VENDOR_JSON: &str = "application/vnd.urbanairship+json; version=3";
pub(super) const PLAIN_JSON: &str = "application/json";

const ABOUT: &str = "Aerogram serves version 3 of the messaging API that Airship's client libraries speak, and operator \
    routes of its own. Bodies are JSON. Answers are objects with `\"ok\": true`, unless a route shows otherwise; those to \
    requests that changed something have an `operation_id`. Below `/api` the media type of answers is \
    `application/vnd.<vendor>+json; version=3` with the vendor word of the `Accept` header, elsewhere `application/json`. \
    Date-times are UTC. Every answer has an `X-Request-Id`, which is also in the log of the server.";

/// The whole document. Routes without a description are left out, which a test notices.
pub fn document() -> Value {
    // Of answers, keys that are left out are never null; bodies may have both. So each have definitions of their own.
    let (mut answers, mut bodies) = (generator(), generator());
    let routes = routes();
    let areas = docs::areas();
    let mut paths = Map::new();
    for area in &areas {
        for (n, operation) in area.operations.iter().enumerate() {
            let is_described = |route: &&Route| route.method == operation.method && route.path == operation.path;
            let Some(route) = routes.iter().find(is_described) else {
                panic!("{} {} is described, but no route", operation.method, operation.path)
            };
            let path = paths.entry(variables::path(route.path)).or_insert_with(|| json!({}));
            let mut shown = shown(&mut answers, &mut bodies, area, route, operation);
            // The order of the reference, since objects have none.
            shown["x-order"] = json!(n);
            path[route.method.as_str().to_lowercase()] = shown;
        }
    }
    let error = shape::answer(&mut answers, <ErrorBody as schemars::JsonSchema>::json_schema);
    let mut schemas = components(answers, bodies);
    schemas.insert("Error".to_owned(), error);
    let tags: Vec<_> = areas.iter().map(|area| json!({"name": area.name, "description": area.text})).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Aerogram",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "./"}],
        "tags": tags,
        "paths": paths,
        "components": {
            "securitySchemes": security::schemes(),
            "responses": refusals::components(),
            "schemas": schemas,
        },
    })
}

/// All definitions. What bodies and answers share is defined as in bodies.
fn components(mut answers: SchemaGenerator, mut bodies: SchemaGenerator) -> Map<String, Value> {
    let of_bodies = bodies.take_definitions(true);
    let mut all = Map::new();
    for (name, mut schema) in answers.take_definitions(true) {
        assert!(of_bodies.get(&name).is_none_or(|other| *other == schema), "two schemas are called {name}: rename one");
        shape::tidy(&mut schema);
        shape::leave_out_null(&mut schema);
        all.insert(name, schema);
    }
    for (name, mut schema) in of_bodies {
        shape::tidy(&mut schema);
        all.insert(name, schema);
    }
    all
}

fn generator() -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    settings.into_generator()
}

fn shown(
    answers: &mut SchemaGenerator,
    bodies: &mut SchemaGenerator,
    area: &Area,
    route: &Route,
    operation: &Operation,
) -> Value {
    let mut shown = json!({
        "operationId": operation_id(operation.summary),
        "summary": operation.summary,
        "description": operation.text,
        "tags": [area.name],
        "security": security::of(route.access),
        "parameters": parameters(route, operation),
        "responses": responses(answers, route, operation),
    });
    if let Some(body) = &operation.body {
        shown["requestBody"] = request_body(bodies, body);
    }
    if operation.is_stream {
        // Tools that wait for the end of an answer leave such routes out.
        shown["x-stream"] = json!(true);
    }
    shown
}

/// "List channels" becomes `list-channels`, which is also the anchor in the reference.
fn operation_id(summary: &str) -> String {
    let words = summary.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

fn parameters(route: &Route, operation: &Operation) -> Value {
    let is_given = |name: &str| operation.parameters.iter().any(|given| given.place == "path" && given.name == name);
    let names = variables::names(route.path).filter(|name| !is_given(name));
    let general = names.filter_map(variables::variable);
    let key = route.takes_idempotency_key.then(|| {
        let schema = json!({"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"});
        let text = "A repeat of the request with the same key gets the first answer again and changes nothing.";
        query::header("Idempotency-Key", text, schema)
    });
    let all: Vec<Value> = general
        .chain(key)
        .map(|one| one.to_json())
        .chain(operation.parameters.iter().map(Parameter::to_json))
        .collect();
    all.into()
}

fn request_body(generator: &mut SchemaGenerator, body: &RequestBody) -> Value {
    let mut schema = (body.schema)(generator).to_value();
    shape::tidy(&mut schema);
    let mut content = json!({"schema": schema});
    if let Some(example) = &body.example {
        content["example"] = example.clone();
    }
    json!({"required": body.is_required, "content": {body.media_type: content}})
}

fn responses(generator: &mut SchemaGenerator, route: &Route, operation: &Operation) -> Value {
    let mut responses = refusals::of(route, operation);
    for answer in &operation.answers {
        let response =
            responses.entry(answer.status.to_string()).or_insert_with(|| json!({"description": answer.text}));
        let media = if route.path.starts_with("/api/") { VENDOR_JSON } else { PLAIN_JSON };
        add_answer(generator, response, answer, media);
    }
    responses.into()
}

/// An answer whose status is there already is another form of that one.
fn add_answer(generator: &mut SchemaGenerator, response: &mut Value, answer: &SuccessfulAnswer, media: &str) {
    match answer.content {
        None => {}
        Some(Content::Text { media_type }) => {
            response["content"][media_type] = json!({"schema": {"type": "string"}});
        }
        Some(Content::Any) => response["content"]["*/*"] = json!({}),
        Some(Content::Json { schema, envelope }) => {
            let mut schema = shape::answer(generator, schema);
            wrap(&mut schema, envelope);
            response["content"][media] = json!({"schema": schema});
        }
    }
    for (name, text) in &answer.headers {
        response["headers"][name] = json!({"description": text, "schema": {"type": "string"}});
    }
}

/// Adds the keys that answers share. An answer of several forms has them beside the keys of each form.
fn wrap(schema: &mut Value, envelope: Envelope) {
    let mut keys = Map::new();
    if envelope != Envelope::Bare {
        keys.insert("ok".to_owned(), json!({"type": "boolean", "const": true}));
    }
    if envelope == Envelope::Changed {
        keys.insert("operation_id".to_owned(), json!({"type": "string", "format": "uuid"}));
    }
    if keys.is_empty() {
        return;
    }
    let mut required: Vec<Value> = keys.keys().map(|key| json!(key)).collect();
    required.extend(schema["required"].as_array().into_iter().flatten().cloned());
    schema["type"] = json!("object");
    schema["required"] = required.into();
    for (key, value) in keys {
        schema["properties"][key] = value;
    }
}
