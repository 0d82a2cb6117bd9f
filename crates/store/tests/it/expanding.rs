//! Migrations leave the version before working: nodes of both run side by side while they are upgraded one after the other.
//! CONTRIBUTING.md explains the rule; this reads the texts.

use std::fs;
use std::path::Path;

/// The steps of 0.1.0, which had no version before.
const FIRST_STEPS: usize = 12;
/// How the first line of a step begins that takes something away. The version that stopped using it follows.
const UNUSED_SINCE: &str = "-- unused since ";

/// The statements of a step that break nodes of the version before.
fn breaking(sql: &str) -> Vec<String> {
    let lines = sql.lines().map(|line| line.split_once("--").map_or(line, |(code, _)| code));
    let code = lines.collect::<Vec<_>>().join(" ").to_ascii_lowercase();
    let statements = code.split(';').map(|statement| statement.split_whitespace().collect::<Vec<_>>());
    statements.filter(|words| is_breaking(words)).map(|words| words.join(" ")).collect()
}

fn is_breaking(words: &[&str]) -> bool {
    let is_altered = words.starts_with(&["alter", "table"]);
    let takes_away =
        words.first() == Some(&"drop") || is_altered && (words.contains(&"drop") || words.contains(&"rename"));
    // Nodes of the version before do not name a new column in their inserts.
    let is_required = words.windows(2).any(|pair| pair == ["not", "null"]) && !words.contains(&"default");
    takes_away || is_altered && is_required
}

/// The version that a step names as the one that stopped using what the step takes away.
fn unused_since(sql: &str) -> Option<&str> {
    sql.lines().next()?.strip_prefix(UNUSED_SINCE).map(|version| version.trim_end_matches('.'))
}

/// Why a step cannot be released, if so. A version that has not been released may still be running without the change.
fn objection(sql: &str, is_released: impl Fn(&str) -> bool) -> Option<String> {
    let breaking = breaking(sql);
    let first = breaking.first()?;
    match unused_since(sql) {
        Some(version) if is_released(version) => None,
        Some(version) => Some(format!("'{first}' has to wait until {version} has been released")),
        None => Some(format!("'{first}' breaks nodes of the version before; see \"Add a table\" in CONTRIBUTING.md")),
    }
}

#[test]
fn steps_that_break_the_version_before_are_refused() {
    let is_released = |version: &str| version == "0.1.0";
    for fine in [
        "create table a (app bigint not null, id blob not null, primary key (app, id));",
        "-- what drop was for\nalter table a add column b bigint;\ncreate index a_by_b on a (app, b);",
        "alter table a add column b bigint not null default 0;",
        "-- unused since 0.1.0.\nalter table a drop column b;",
        "update a set b = 1 where b is not null;",
    ] {
        assert_eq!(objection(fine, is_released), None, "{fine}");
    }
    for (bad, word) in [
        ("drop table a;", "CONTRIBUTING"),
        ("DROP INDEX a_by_b;", "CONTRIBUTING"),
        ("alter table a\n  drop column b;", "CONTRIBUTING"),
        ("alter table a rename column b to c;", "CONTRIBUTING"),
        ("alter table a rename to c;", "CONTRIBUTING"),
        ("create table b (x bigint);\nalter table a add column b bigint not null;", "add column b"),
        ("-- unused since 0.2.0.\nalter table a drop column b;", "until 0.2.0"),
        ("\n-- unused since 0.1.0.\nalter table a drop column b;", "CONTRIBUTING"),
    ] {
        let objection = objection(bad, is_released);
        assert!(objection.as_ref().is_some_and(|objection| objection.contains(word)), "{bad}: {objection:?}");
    }
}

#[test]
fn all_steps_after_the_first_version_leave_the_version_before_working() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_released = |version: &str| root.join(format!("tests/data/{version}.sql")).exists();
    let mut steps: Vec<_> = fs::read_dir(root.join("migrations")).unwrap().map(|step| step.unwrap().path()).collect();
    steps.sort();
    assert!(steps.len() >= FIRST_STEPS, "{steps:?}");
    for step in &steps[FIRST_STEPS..] {
        let objection = objection(&fs::read_to_string(step).unwrap(), is_released);
        assert_eq!(objection, None, "{}", step.display());
    }
}
