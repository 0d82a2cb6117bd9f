//! The architecture, checked: which crate may use which, what may appear where, and what every file looks like.

use std::fs;
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 400;

/// Tables of data, which may be as long as what they list.
const TABLES: [&str; 0] = [];

/// Who may depend on whom. A crate that is not listed here is a new room of the house: decide where it stands.
const ARROWS: [(&str, &[&str]); 8] = [
    ("model", &[]),
    ("audience", &["model"]),
    ("store", &["model"]),
    ("providers", &["model"]),
    ("engine", &["model", "audience", "store", "providers"]),
    ("api", &["model", "store", "engine"]),
    ("aerogram", &["model", "store", "providers", "engine", "api"]),
    ("testkit", &["model", "audience", "store", "providers", "engine", "api"]),
];

/// Libraries that have a home.
const HOMES: [(&str, &[&str]); 8] = [
    ("axum", &["api", "aerogram"]),
    ("rusqlite", &["store"]),
    ("tokio-postgres", &["store"]),
    ("hyper-rustls", &["providers"]),
    ("rustls", &["providers"]),
    ("hyper", &["providers", "api", "testkit"]),
    ("hyper-util", &["providers", "api", "testkit"]),
    ("clap", &["aerogram"]),
];

/// Words that may appear only in source files whose path begins with one of these.
const WORDS: [(&str, &[&str]); 6] = [
    ("rusqlite::", &["crates/store/src/db"]),
    ("tokio_postgres::", &["crates/store/src/db"]),
    ("hyper_util::client", &["crates/providers/"]),
    ("hyper::client", &["crates/providers/"]),
    ("axum::", &["crates/api/", "crates/aerogram/"]),
    ("SystemTime::now", &["crates/model/src/time.rs"]),
];

/// The language of the domain has no input or output and does not wait.
const PURE_DEPENDENCIES: [&str; 8] =
    ["base64", "jiff", "postcard", "roaring", "serde", "serde_json", "thiserror", "uuid"];
const IMPURE_WORDS: [&str; 5] = ["std::fs", "std::net", "std::env", "async fn", "std::thread"];

const NAMES_THAT_SAY_NOTHING: [&str; 6] =
    ["mod.rs", "utils.rs", "util.rs", "helpers.rs", "helper.rs", "common.rs"];

#[test]
fn crates_depend_in_one_direction() {
    let names: Vec<String> = crate_names();
    for name in &names {
        let allowed = ARROWS.iter().find(|(known, _)| known == name).map(|(_, allowed)| *allowed);
        let allowed = allowed.unwrap_or_else(|| panic!("crates/{name} is not in ARROWS"));
        for dependency in dependencies(name, "dependencies") {
            let is_ours = names.contains(&dependency);
            assert!(
                !is_ours || allowed.contains(&dependency.as_str()),
                "{name} must not depend on {dependency}"
            );
        }
    }
}

#[test]
fn libraries_stay_at_home() {
    for name in crate_names() {
        for dependency in dependencies(&name, "dependencies") {
            if let Some((_, homes)) = HOMES.iter().find(|(library, _)| *library == dependency) {
                assert!(
                    homes.contains(&name.as_str()),
                    "{dependency} belongs in {homes:?}, not in {name}"
                );
            }
        }
    }
    for (path, text) in sources() {
        for (word, homes) in WORDS {
            // This file names the words.
            let at_home =
                path.ends_with("it/tidy.rs") || homes.iter().any(|home| path.starts_with(home));
            assert!(
                at_home || !code(&text).contains(word),
                "{path} uses {word}, which belongs under {homes:?}"
            );
        }
    }
}

#[test]
fn the_model_is_pure() {
    for dependency in dependencies("model", "dependencies") {
        assert!(
            PURE_DEPENDENCIES.contains(&dependency.as_str()),
            "model must not depend on {dependency}"
        );
    }
    for (path, text) in sources() {
        if path.starts_with("crates/model/src/") {
            for word in IMPURE_WORDS {
                assert!(!code(&text).contains(word), "{path} uses {word}, but the model is pure");
            }
        }
    }
}

#[test]
fn versions_are_chosen_in_one_place() {
    for name in crate_names() {
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for (dependency, value) in
                manifest(&name).get(section).and_then(toml::Value::as_table).into_iter().flatten()
            {
                let inherited = value.get("workspace").and_then(toml::Value::as_bool);
                assert_eq!(
                    inherited,
                    Some(true),
                    "{name}: {dependency} must say `workspace = true`"
                );
            }
        }
    }
}

#[test]
fn files_are_short_introduce_themselves_and_have_telling_names() {
    let sources = sources();
    assert!(sources.len() > 50, "the walk found only {} files", sources.len());
    for (path, text) in sources {
        let n_lines = text.lines().count();
        let is_table = TABLES.contains(&path.as_str());
        assert!(
            n_lines <= MOST_LINES || is_table,
            "{path} has {n_lines} lines; the limit is {MOST_LINES}"
        );
        assert!(
            text.starts_with("//! "),
            "{path} must begin with a `//!` comment that says what it owns"
        );
        let name = path.rsplit('/').next().unwrap_or(&path);
        assert!(!NAMES_THAT_SAY_NOTHING.contains(&name), "{path}: name it after what it owns");
    }
}

#[test]
fn every_setting_is_documented() {
    let operations = fs::read_to_string(root().join("docs/operations.md")).unwrap();
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_aerogram"))
        .args(["serve", "--help"])
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let mut n_settings = 0;
    for word in help
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with("AEROGRAM_"))
    {
        assert!(
            operations.contains(&format!("`{word}`")),
            "docs/operations.md says nothing about {word}"
        );
        n_settings += 1;
    }
    assert!(n_settings >= 12, "only {n_settings} settings in the help:\n{help}");
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
    fs::read_to_string(root().join("crates").join(name).join("Cargo.toml"))
        .unwrap()
        .parse()
        .unwrap()
}

fn dependencies(name: &str, section: &str) -> Vec<String> {
    let manifest = manifest(name);
    let table = manifest.get(section).and_then(toml::Value::as_table);
    table.into_iter().flatten().map(|(dependency, _)| dependency.clone()).collect()
}

/// Every Rust file of the workspace with its path from the root.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("crates"), root().join("fuzz/fuzz_targets")];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
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
