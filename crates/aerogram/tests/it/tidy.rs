//! The architecture, checked: which crate may use which, what may appear where, and what every file looks like.

use std::fs;
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 400;
/// Of a comment, which the formatter leaves as it is.
const MOST_COLUMNS: usize = 132;

/// Tables of data, which may be as long as what they list.
const TABLES: [&str; 2] = ["crates/testkit/src/bad_channels.rs", "crates/testkit/src/bad_pushes.rs"];

/// Who may depend on whom, each on crates that stand before it. A crate that is not listed here is new: decide where it stands.
const ARROWS: [(&str, &[&str]); 29] = [
    ("model_derive", &[]),
    ("personalization", &[]),
    ("model", &["model_derive", "personalization"]),
    ("boxed", &[]),
    ("websocket", &[]),
    ("trust", &[]),
    ("audience", &["model"]),
    ("geo", &["model"]),
    ("store", &["model", "trust"]),
    ("providers", &["model", "trust"]),
    // The rooms of the engine, from the ground up: each may use the ones before it.
    ("base", &["model", "store"]),
    ("jobs", &["boxed", "model", "store", "base"]),
    ("tenancy", &["boxed", "model", "store", "providers", "base", "jobs"]),
    ("accounts", &["boxed", "model", "store", "providers", "base", "tenancy"]),
    ("index", &["boxed", "model", "audience", "store", "base", "tenancy"]),
    ("devices", &["boxed", "model", "audience", "geo", "store", "base", "jobs", "tenancy", "index"]),
    ("targeting", &["boxed", "model", "audience", "geo", "store", "base", "jobs", "tenancy", "index", "devices"]),
    (
        "sending",
        &[
            "boxed",
            "personalization",
            "model",
            "audience",
            "store",
            "providers",
            "base",
            "jobs",
            "tenancy",
            "index",
            "devices",
            "targeting",
        ],
    ),
    (
        "live",
        &[
            "boxed",
            "model",
            "audience",
            "store",
            "base",
            "tenancy",
            "index",
            "devices",
            "targeting",
            "sending",
            "websocket",
        ],
    ),
    (
        "events",
        &[
            "boxed",
            "model",
            "audience",
            "store",
            "providers",
            "base",
            "jobs",
            "tenancy",
            "index",
            "devices",
            "targeting",
            "sending",
            "live",
        ],
    ),
    (
        "campaigns",
        &[
            "boxed",
            "model",
            "audience",
            "store",
            "base",
            "jobs",
            "tenancy",
            "index",
            "devices",
            "targeting",
            "sending",
            "events",
        ],
    ),
    ("remote_data", &["boxed", "model", "store", "base", "tenancy", "targeting", "sending"]),
    (
        "engine",
        &[
            "boxed",
            "model",
            "store",
            "providers",
            "base",
            "jobs",
            "tenancy",
            "accounts",
            "index",
            "devices",
            "targeting",
            "sending",
            "live",
            "events",
            "campaigns",
            "remote_data",
        ],
    ),
    (
        "api",
        &[
            "model",
            "geo",
            "providers",
            "tenancy",
            "accounts",
            "devices",
            "targeting",
            "sending",
            "live",
            "events",
            "campaigns",
            "remote_data",
            "engine",
        ],
    ),
    ("console", &["model", "tenancy", "accounts", "engine", "api"]),
    ("sim", &["model", "websocket"]),
    (
        "aerogram",
        &["model", "store", "providers", "tenancy", "accounts", "devices", "events", "engine", "api", "console", "sim"],
    ),
    ("testkit", &["model", "store", "providers", "tenancy", "devices", "engine", "api"]),
    ("bench", &["model", "audience", "geo", "store", "index", "engine", "console", "sim", "testkit"]),
];

/// Libraries that have a home.
const HOMES: [(&str, &[&str]); 16] = [
    ("proc-macro2", &["model_derive"]),
    ("quote", &["boxed", "model_derive"]),
    ("syn", &["boxed", "model_derive"]),
    ("axum", &["api", "console"]),
    ("maud", &["console"]),
    ("rusqlite", &["store"]),
    ("tokio-postgres", &["store"]),
    ("hyper-rustls", &["providers"]),
    ("rustls", &["trust", "providers", "store", "live", "api", "sim", "bench", "testkit"]),
    ("tokio-rustls", &["providers", "store", "api", "sim", "bench", "testkit"]),
    ("rustls-native-certs", &["trust"]),
    ("webpki-roots", &["trust"]),
    ("h2", &["providers", "sim", "bench", "testkit"]),
    ("hyper", &["providers", "api", "sim", "testkit", "bench"]),
    ("hyper-util", &["providers", "api", "sim", "testkit", "bench"]),
    ("clap", &["aerogram", "bench"]),
];

/// Words that may appear only in source files whose path begins with one of these.
const WORDS: [(&str, &[&str]); 7] = [
    ("rusqlite::", &["crates/store/src/db"]),
    ("tokio_postgres::", &["crates/store/src/db"]),
    ("hyper_util::client", &["crates/providers/"]),
    // What forwarding to webhooks is compared with is the library alone. A balancer has to know whether a request was sent.
    ("hyper::client", &["crates/providers/", "crates/bench/src/webhooks/", "crates/testkit/src/balanced.rs"]),
    ("axum::", &["crates/api/", "crates/console/"]),
    ("SystemTime::now", &["crates/model/src/time.rs"]),
    // Whatever the edge needs of the database, a room has a method for.
    ("engine.store()", &["crates/engine/tests/", "crates/testkit/"]),
];

/// The language of the domain has no input or output and does not wait. It asks the system for the time: rustix reads the clock
/// that nobody sets.
const PURE_DEPENDENCIES: [&str; 14] = [
    "base64",
    "csv-core",
    "jiff",
    "model_derive",
    "personalization",
    "postcard",
    "roaring",
    "rustix",
    "schemars",
    "serde",
    "serde_json",
    "strsim",
    "thiserror",
    "uuid",
];
const IMPURE_WORDS: [&str; 5] = ["std::fs", "std::net", "std::env", "async fn", "std::thread"];

const NAMES_THAT_SAY_NOTHING: [&str; 6] = ["mod.rs", "utils.rs", "util.rs", "helpers.rs", "helper.rs", "common.rs"];

#[test]
fn crates_depend_in_one_direction() {
    let mut wrong = Wrong::default();
    let names = crate_names();
    for name in &names {
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| known == name) else {
            wrong.unless(false, || format!("crates/{name} is not in ARROWS"));
            continue;
        };
        for dependency in dependencies(name) {
            let fine = !names.contains(&dependency) || allowed.contains(&dependency.as_str());
            wrong.unless(fine, || format!("{name} must not depend on {dependency}"));
        }
    }
    for (place, (name, allowed)) in ARROWS.iter().enumerate() {
        let used = dependencies(name);
        for other in *allowed {
            let stands_before = ARROWS[..place].iter().any(|(before, _)| before == other);
            wrong.unless(stands_before, || format!("{name} stands before {other} and must not use it"));
            wrong.unless(used.iter().any(|used| used == other), || format!("{name} does not use {other}; forbid it"));
        }
    }
    wrong.must_be_empty();
}

#[test]
fn libraries_stay_at_home() {
    let mut wrong = Wrong::default();
    for name in crate_names() {
        for dependency in dependencies(&name) {
            if let Some((_, homes)) = HOMES.iter().find(|(library, _)| *library == dependency) {
                let fine = homes.contains(&name.as_str());
                wrong.unless(fine, || format!("{dependency} belongs in {homes:?}, not in {name}"));
            }
        }
    }
    for (path, text) in sources() {
        // This file names the words.
        for (word, homes) in WORDS.iter().filter(|_| !path.ends_with("it/tidy.rs")) {
            let fine = homes.iter().any(|home| path.starts_with(home)) || !code(&text).contains(word);
            wrong.unless(fine, || format!("{path} uses {word}, which belongs under {homes:?}"));
        }
    }
    wrong.must_be_empty();
}

#[test]
fn the_model_is_pure() {
    let mut wrong = Wrong::default();
    for dependency in dependencies("model") {
        let fine = PURE_DEPENDENCIES.contains(&dependency.as_str());
        wrong.unless(fine, || format!("model must not depend on {dependency}"));
    }
    for (path, text) in sources().iter().filter(|(path, _)| path.starts_with("crates/model/src/")) {
        for word in IMPURE_WORDS {
            wrong.unless(!code(text).contains(word), || format!("{path} uses {word}, but the model is pure"));
        }
    }
    wrong.must_be_empty();
}

#[test]
fn versions_are_chosen_in_one_place() {
    let mut wrong = Wrong::default();
    for name in crate_names() {
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let manifest = manifest(&name);
            let table = manifest.get(section).and_then(toml::Value::as_table);
            for (dependency, value) in table.into_iter().flatten() {
                let fine = value.get("workspace").and_then(toml::Value::as_bool) == Some(true);
                wrong.unless(fine, || format!("{name}: {dependency} must say `workspace = true`"));
            }
        }
    }
    wrong.must_be_empty();
}

#[test]
fn files_are_short_introduce_themselves_and_have_telling_names() {
    let mut wrong = Wrong::default();
    let (programs, scripts) = (sources(), scripts());
    assert!(programs.len() > 50, "the walk found only {} files", programs.len());
    assert!(scripts.len() > 5, "the walk found only {} scripts", scripts.len());
    for (path, text) in programs.into_iter().chain(scripts) {
        let n_lines = text.lines().count();
        let fine = n_lines <= MOST_LINES || TABLES.contains(&path.as_str());
        wrong.unless(fine, || format!("{path} has {n_lines} lines; the limit is {MOST_LINES}"));
        let introduction = if path.starts_with("sdk/") { "// " } else { "//! " };
        wrong.unless(text.starts_with(introduction), || {
            format!("{path} must begin with a `{}` comment that says what it owns", introduction.trim())
        });
        for (index, line) in text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("//")) {
            let fine = line.chars().count() <= MOST_COLUMNS;
            wrong.unless(fine, || format!("{path}:{}: wrap the comment at {MOST_COLUMNS} columns", index + 1));
        }
        let name = path.rsplit('/').next().unwrap_or(&path);
        wrong.unless(!NAMES_THAT_SAY_NOTHING.contains(&name), || format!("{path}: name it after what it owns"));
    }
    wrong.must_be_empty();
}

#[test]
fn every_setting_is_documented() {
    let operations = fs::read_to_string(root().join("docs/operations.md")).unwrap();
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_aerogram")).args(["serve", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let mut n_settings = 0;
    for word in
        help.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| word.starts_with("AEROGRAM_"))
    {
        assert!(operations.contains(&format!("`{word}`")), "docs/operations.md says nothing about {word}");
        n_settings += 1;
    }
    assert!(n_settings >= 12, "only {n_settings} settings in the help:\n{help}");
}

/// Everything that is wrong, so that a test names all of it at once.
#[derive(Default)]
struct Wrong(Vec<String>);

impl Wrong {
    fn unless(&mut self, fine: bool, what: impl FnOnce() -> String) {
        if !fine {
            self.0.push(what());
        }
    }

    fn must_be_empty(self) {
        assert!(self.0.is_empty(), "\n{}", self.0.join("\n"));
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn crate_names() -> Vec<String> {
    let entries = fs::read_dir(root().join("crates")).unwrap().map(Result::unwrap);
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().join("Cargo.toml").exists())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn manifest(name: &str) -> toml::Table {
    fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap().parse().unwrap()
}

fn dependencies(name: &str) -> Vec<String> {
    let manifest = manifest(name);
    let table = manifest.get("dependencies").and_then(toml::Value::as_table);
    table.into_iter().flatten().map(|(dependency, _)| dependency.clone()).collect()
}

/// Every Rust file of the workspace with its path from the root.
pub(crate) fn sources() -> Vec<(String, String)> {
    files(vec![root().join("crates"), root().join("fuzz")], "rs")
}

/// Every script of the SDK for web pages, likewise.
fn scripts() -> Vec<(String, String)> {
    files(vec![root().join("sdk")], "js")
}

fn files(mut folders: Vec<PathBuf>, kind: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == kind) {
                let relative = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
                found.push((relative, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

/// The file without its comments, which may speak of anything.
fn code(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}
