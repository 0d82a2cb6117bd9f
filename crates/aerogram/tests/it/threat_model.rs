//! SECURITY.md and docs/security.md name the tests that show what they say: each of these has to exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The texts between backticks in one line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Whether a source file has a test of this name: a function right after attributes, one of which says that it is a test.
fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim_start).collect();
    let begins =
        |line: &str| [format!("fn {name}("), format!("async fn {name}(")].iter().any(|fun| line.starts_with(fun));
    lines.iter().enumerate().filter(|(_, line)| begins(line)).any(|(index, _)| {
        let mut attributes = lines[..index].iter().rev().take_while(|line| line.starts_with("#["));
        attributes.any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
    })
}

#[test]
fn every_row_of_the_threat_model_names_tests_that_exist() {
    let document = read("SECURITY.md");
    let (_, model) = document.split_once("\n## Threat model\n").expect("SECURITY.md has a threat model");
    let model = model.split("\n## What the program is made of\n").next().unwrap_or(model);
    let is_row = |line: &&str| line.starts_with("| ") && !line.starts_with("| |");
    let rows: Vec<&str> = model.lines().filter(is_row).collect();
    assert!(rows.len() >= 30, "the threat model has only {} rows", rows.len());
    let mut wrong = Vec::new();
    for row in rows {
        let named: Vec<_> = quoted(row).filter_map(|quoted| quoted.split_once(".rs::")).collect();
        if named.is_empty() {
            wrong.push(format!("no test shows this: {row}"));
        }
        for (file, name) in named {
            let source = fs::read_to_string(root().join(format!("{file}.rs"))).unwrap_or_default();
            if !has_test(&source, name) {
                wrong.push(format!("{file}.rs has no test {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn what_shows_the_rest_exists_too() {
    let document = read("SECURITY.md");
    let (_, rest) = document.split_once("\n## What the program is made of\n").expect("SECURITY.md has this section");
    let rows = rest.lines().take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with("| "));
    let scripts: BTreeSet<&str> = rows.flat_map(quoted).filter_map(|quoted| quoted.split(' ').next()).collect();
    assert!(scripts.iter().filter(|path| path.starts_with("scripts/")).count() >= 5, "{scripts:?}");
    for path in scripts.iter().filter(|path| path.contains('/')) {
        assert!(root().join(path).is_file(), "there is no {path}");
    }
}

/// Tests of the integration tests by the name of their file and their own: `neighbours::heads_are_bounded_in_time_and_size`.
#[test]
fn tests_that_docs_security_md_names_exist() {
    let document = read("docs/security.md");
    let named: BTreeSet<(&str, &str)> = document
        .lines()
        .flat_map(quoted)
        .filter(|quoted| quoted.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_:".contains(c)))
        .filter_map(|quoted| quoted.rsplit_once("::"))
        .collect();
    assert!(named.len() >= 8, "{named:?}");
    for (module, name) in named {
        let module = module.replace("::", "/");
        let sources = fs::read_dir(root().join("crates")).expect("there are crates").flatten();
        let mut sources =
            sources.filter_map(|entry| fs::read_to_string(entry.path().join(format!("tests/it/{module}.rs"))).ok());
        assert!(sources.any(|source| has_test(&source, name)), "no tests/it/{module}.rs has a test {name}");
    }
}

#[test]
fn only_tests_count() {
    let source = "#[tokio::test]\nasync fn a() {}\n#[test]\n#[ignore = \"long\"]\n    fn b() {}\nfn c() {}\nfn d_e() {}\n#[test]\nfn d() {}";
    for (name, is_test) in [("a", true), ("b", true), ("c", false), ("d", true), ("d_e", false), ("e", false)] {
        assert_eq!(has_test(source, name), is_test, "{name}");
    }
}
