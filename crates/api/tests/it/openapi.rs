//! The OpenAPI document and the page that shows it: complete, current, and true.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, iter};

use api::{Route, openapi_document, routes};
use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use testkit::app::{TestApp, on_each_database};

use crate::access::fill;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json")
}

fn operation<'d>(document: &'d Value, route: &Route) -> &'d Value {
    &document["paths"][route.path.replace("{*", "{")][route.method.as_str().to_lowercase()]
}

/// All operations with their methods and paths.
fn operations(document: &Value) -> impl Iterator<Item = (&'static str, &str, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    paths
        .iter()
        .flat_map(|(path, item)| METHODS.iter().map(move |method| (*method, path.as_str(), &item[method])))
        .filter(|(.., operation)| !operation.is_null())
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "whoever runs the tests says with a variable that the file is to be written"
)]
fn the_document_is_that_of_the_routes() {
    let made = format!("{}\n", lines(&openapi_document(), 0));
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        fs::write(file(), &made).unwrap();
    }
    let kept = fs::read_to_string(file()).unwrap();
    assert!(kept == made, "docs/openapi.json is out of date; run UPDATE_OPENAPI=1 cargo test -p api --test it openapi");
}

/// The document with a line for each route and each component: changes can be read, and blanks take no room.
fn lines(value: &Value, depth: usize) -> String {
    const ROUTES: usize = 3;
    match value {
        Value::Object(keys) if depth < ROUTES && !keys.is_empty() => {
            let line =
                |(key, value): (&String, &Value)| format!("{}: {}", Value::from(key.as_str()), lines(value, depth + 1));
            format!("{{\n{}\n}}", keys.iter().map(line).collect::<Vec<_>>().join(",\n"))
        }
        _ => value.to_string(),
    }
}

#[test]
fn every_route_is_described() {
    let document = openapi_document();
    let mut wrong = Vec::new();
    for route in routes() {
        let operation = operation(&document, &route);
        let shown = format!("{} {}", route.method, route.path);
        if operation.is_null() {
            wrong.push(format!("{shown} has no description; add one in crates/api/src/routes/docs"));
            continue;
        }
        for key in ["summary", "description"] {
            if operation[key].as_str().is_none_or(|text| text.trim().is_empty()) {
                wrong.push(format!("{shown} has no {key}"));
            }
        }
        let answers = operation["responses"].as_object().unwrap();
        if !answers.keys().any(|status| status.starts_with('2'))
            && !operation["description"].as_str().unwrap().contains("always answered with 404")
        {
            wrong.push(format!("{shown} has no answer"));
        }
        let parameters = operation["parameters"].as_array().unwrap();
        for name in route.path.split('/').filter_map(|segment| segment.strip_prefix('{')) {
            let name = name.trim_matches(['*', '}']);
            if !parameters.iter().any(|one| one["in"] == "path" && one["name"] == name) {
                wrong.push(format!("{shown} does not describe {{{name}}}"));
            }
        }
        for one in parameters.iter().filter(|one| one["description"].as_str().is_none_or(str::is_empty)) {
            wrong.push(format!("{shown} says nothing about {}", one["name"]));
        }
        let takes_key = parameters.iter().any(|one| one["name"] == "Idempotency-Key");
        if takes_key != route.takes_idempotency_key {
            wrong.push(format!("{shown}: Idempotency-Key"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert_eq!(operations(&document).count(), routes().len());
}

#[test]
fn ids_and_names_are_unique_and_speak() {
    let document = openapi_document();
    let ids: Vec<&str> =
        operations(&document).map(|(.., operation)| operation["operationId"].as_str().unwrap()).collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    let twice: Vec<_> = unique.iter().filter(|id| ids.iter().filter(|other| other == id).count() > 1).collect();
    assert!(twice.is_empty(), "two routes have the same summary: {twice:?}");
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(!name.ends_with(|c: char| c.is_ascii_digit()), "two schemas are called {name}: rename one");
    }
}

#[test]
fn every_error_code_is_explained() {
    let table = include_str!("../../src/error.rs");
    let document = fs::read_to_string(file()).unwrap();
    let is_code =
        |word: &&str| word.len() == 5 && word.bytes().all(|b| b.is_ascii_digit()) && word.starts_with(['4', '5']);
    let codes: BTreeSet<&str> = table.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_code).collect();
    assert!(codes.len() > 20, "{codes:?}");
    let missing: Vec<_> = codes.iter().filter(|code| !document.contains(&format!("({code})"))).collect();
    assert!(missing.is_empty(), "docs/openapi.json does not mention {missing:?}");
}

/// The names of the values that the handlers of each module read from the query, by the text of its files.
fn read_by_handlers() -> BTreeMap<String, BTreeSet<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/routes");
    let mut read: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut folders = vec![folder.clone()];
    while let Some(at) = folders.pop() {
        for path in fs::read_dir(&at).unwrap().map(|entry| entry.unwrap().path()) {
            let relative = path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
            if relative.starts_with("docs") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if relative.ends_with(".rs") {
                let module = relative.split(['/', '.']).next().unwrap().to_owned();
                read.entry(module).or_default().extend(names_in(&fs::read_to_string(&path).unwrap()));
            }
        }
    }
    read
}

fn names_in(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for call in text.split("params.").skip(1) {
        let (reader, rest) = call.split_once('(').unwrap_or_default();
        match reader {
            "limit" => names.extend(["limit".to_owned()]),
            "dates" => names.extend(["start".to_owned(), "end".to_owned()]),
            _ => names.extend(rest.strip_prefix('"').and_then(|rest| Some(rest.split_once('"')?.0.to_owned()))),
        }
    }
    names
}

/// The module of the handler of each route, by the text of the tables.
fn modules() -> Vec<(String, String, String)> {
    let tables = [
        include_str!("../../src/routes.rs"),
        include_str!("../../src/routes/data_for_apps.rs"),
        include_str!("../../src/routes/operator.rs"),
    ];
    let lines = tables.iter().flat_map(|table| table.lines()).map(str::trim);
    let parsed = lines.filter_map(|line| {
        let (method, rest) = line.split_once("(\"/")?;
        let (path, rest) = rest.split_once("\", ")?;
        let (_, handler) = rest.split_once(", ")?;
        Some((method.to_owned(), format!("/{}", path.replace("{*", "{")), handler.split("::").next()?.to_owned()))
    });
    parsed.filter(|(method, ..)| METHODS.contains(&method.as_str())).collect()
}

#[test]
fn the_parameters_that_handlers_read_are_those_of_the_document() {
    let document = openapi_document();
    let modules = modules();
    assert_eq!(modules.len(), routes().len(), "a route of the table is not on a line of its own");
    let mut declared: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (method, path, module) in modules {
        let parameters = document["paths"][&path][&method]["parameters"].as_array().unwrap().iter();
        let names = parameters.filter(|one| one["in"] == "query").map(|one| one["name"].as_str().unwrap().to_owned());
        declared.entry(module).or_default().extend(names);
    }
    let mut read = read_by_handlers();
    // The aliases of places are a table of their own.
    read.entry("location".to_owned()).or_default().extend(geo::Code::ALL.map(|code| code.name().to_owned()));
    for (module, names) in &declared {
        let nothing = BTreeSet::new();
        let read = read.get(module).unwrap_or(&nothing);
        assert_eq!(names, read, "what the document declares of routes/{module}.rs, and what is read there");
    }
}

#[tokio::test]
async fn declared_parameters_are_read() {
    on_each_database(async |app| {
        let document = openapi_document();
        let mut n_refused = 0;
        for (method, path, operation) in operations(&document) {
            let parameters = operation["parameters"].as_array().unwrap().iter();
            for parameter in parameters.filter(|one| one["in"] == "query") {
                let schema = &parameter["schema"];
                let is_checked = schema["format"] == "uuid" || schema["type"] == "integer" || !schema["enum"].is_null();
                if !is_checked {
                    continue;
                }
                let name = parameter["name"].as_str().unwrap();
                let path = format!("{}?{name}=no-such-value", fill(&path.replace("{key}", &app.app.key)));
                let refused = caller(&app, operation).call(method.to_uppercase().parse().unwrap(), &path, "").await;
                // Without what a path names there is nothing to ask a question about.
                if refused.status != 404 {
                    let refused = refused.expect(400);
                    assert!(refused["error"].as_str().unwrap().contains(name), "{method} {path}: {refused}");
                    n_refused += 1;
                }
            }
        }
        assert!(n_refused > 30, "{n_refused} are too few");
    })
    .await;
}

fn caller(app: &TestApp, operation: &Value) -> testkit::client::Caller {
    match operation["security"][0].as_object().and_then(|scheme| scheme.keys().next()).map(String::as_str) {
        Some("operator_token") => app.operator(),
        Some(_) => app.master(),
        None => app.nobody().clone(),
    }
}

#[test]
fn examples_of_bodies_fit_their_schemas() {
    assert_eq!(testkit::conformance::problems_of_examples(), Vec::<String>::new());
}

#[tokio::test]
async fn examples_of_bodies_are_valid() {
    on_each_database(async |app| {
        let kiosk =
            json!({"type": "open", "opt_in": true, "address": "lobby-9", "open": {"open_platform_name": "kiosk"}});
        app.master().post("/api/channels/open", json!({"channel": kiosk})).await.expect(200);
        let document = openapi_document();
        let mut n_tried = 0;
        for (method, path, operation) in operations(&document) {
            let contents = operation["requestBody"]["content"].as_object();
            let Some((media_type, content)) = contents.and_then(|all| all.iter().next()) else { continue };
            let is_for_inbox = operation["security"][0].get("inbox").is_some();
            // Templates, files and keys of platforms are not there, and the secrets of the caller are to stay.
            let left_out = ["templates/push", "templates/schedules", "api/bulk-send", "/keys", "/rotate"];
            // There is no such OAuth client.
            if path == "/token" || is_for_inbox || left_out.iter().any(|part| path.contains(part)) {
                continue;
            }
            let path = fill(&path.replace("{key}", &app.app.key));
            let example = &content["example"];
            let body =
                if media_type.contains("json") { example.to_string() } else { example.as_str().unwrap().to_owned() };
            let caller = caller(&app, operation);
            let request = caller.request(method.to_uppercase().parse::<Method>().unwrap(), &path);
            let request = request.header("x-ua-channel-id", fill("{channel_id}")).body(Bytes::from(body)).unwrap();
            let (reply, _) = caller.open(request).await;
            assert!(
                ![400, 401, 405, 500].contains(&reply.status.as_u16()),
                "{method} {path}: {} to {example}",
                reply.status
            );
            n_tried += 1;
        }
        assert!(n_tried > 50, "{n_tried}");
    })
    .await;
}

#[tokio::test]
async fn the_page_loads_nothing_from_elsewhere() {
    on_each_database(async |app| {
        let page = app.nobody().get("/docs").await;
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        let text = page.text();
        for inline in ["<style", " style=", " onclick=", "<script>", "http://", "https://"] {
            assert!(!text.contains(inline), "{inline}");
        }
        // Relative to the page, which a proxy may have put under another path.
        for path in ["docs/docs.js", "docs/docs.css"] {
            assert!(text.contains(&format!("\"{path}\"")), "{path}");
            assert_eq!(app.nobody().get(&format!("/{path}")).await.status, 200);
        }
    })
    .await;
}

#[tokio::test]
async fn documents_are_packed_and_fetched_once() {
    on_each_database(async |app| {
        let nobody = app.nobody();
        let plain = nobody.get("/openapi.json").await;
        assert_eq!(plain.expect(200)["openapi"], "3.1.0");
        assert_eq!(plain.header("content-type"), Some("application/json"));
        let ask = |name: &str, value: &str| {
            nobody.request(Method::GET, "/openapi.json").header(name, value).body(Bytes::new()).unwrap()
        };
        let (packed, mut body) = nobody.open(ask("accept-encoding", "br, gzip")).await;
        assert_eq!(packed.header("content-encoding"), Some("gzip"));
        assert_eq!(packed.header("etag"), plain.header("etag"));
        let mut n_bytes = 0;
        while let Some(chunk) = body.chunk().await.unwrap() {
            n_bytes += chunk.len();
        }
        assert!(n_bytes > 0 && n_bytes < plain.body.len() / 3, "{n_bytes} of {}", plain.body.len());
        let same = nobody.send(ask("if-none-match", plain.header("etag").unwrap())).await;
        assert_eq!((same.status.as_u16(), same.body.len()), (304, 0));
        let other = nobody.send(ask("if-none-match", "\"something-else\"")).await;
        assert_eq!(other.status, 200);
    })
    .await;
}

#[test]
fn references_lead_somewhere() {
    let document = openapi_document();
    let mut values = vec![&document];
    while let Some(value) = values.pop() {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            assert!(document.pointer(reference.strip_prefix('#').unwrap()).is_some(), "{reference}");
        }
        let below: Box<dyn Iterator<Item = &Value>> = match value {
            Value::Object(keys) => Box::new(keys.values()),
            Value::Array(items) => Box::new(items.iter()),
            _ => Box::new(iter::empty()),
        };
        values.extend(below);
    }
}
