//! The examples of docs/api.md, README.md and docs/mobile.md that say they can be run, run: see "Add an endpoint" in
//! CONTRIBUTING.md for their form.

mod curl;

use std::collections::BTreeMap;

use serde_json::Value;
use testkit::app::{TestApp, on_each_database};

use curl::Curl;

const DOCUMENTS: [&str; 3] = [
    include_str!("../../../../docs/api.md"),
    include_str!("../../../../README.md"),
    include_str!("../../../../docs/mobile.md"),
];
/// How documents write the address of the server: readers of the README have one that runs with its defaults.
const BASES: [&str; 2] = ["{base}", "http://127.0.0.1:8080"];
const RUNNABLE: &str = "```sh runnable";
const ANSWER: &str = "```json answer";

/// What a section has to show, in order.
#[derive(Debug, PartialEq)]
enum Example {
    Commands(String),
    /// What the last of the commands before is answered.
    Answer(String),
}

/// The runnable examples of each section of level two.
fn sections(document: &str) -> Vec<(String, Vec<Example>)> {
    let mut sections: Vec<(String, Vec<Example>)> = Vec::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            sections.push((title.to_owned(), Vec::new()));
        }
        let make = match line {
            RUNNABLE => Example::Commands,
            ANSWER => Example::Answer,
            _ => continue,
        };
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        sections.last_mut().expect("examples are in sections").1.push(make(text.join("\n")));
    }
    sections.retain(|(_, examples)| !examples.is_empty());
    sections
}

/// Runs the examples of a section. Ids and passwords in answers become variables: `schedule_ids` is `$SCHEDULE_ID` from then
/// on.
async fn run(app: &TestApp, section: &str, examples: &[Example]) {
    let mut variables = BTreeMap::from([
        ("AEROGRAM_APP_KEY".to_owned(), app.app.key.clone()),
        ("AEROGRAM_APP_SECRET".to_owned(), app.app.app_secret.clone()),
        ("AEROGRAM_MASTER_SECRET".to_owned(), app.app.master_secret.clone()),
    ]);
    let mut last = Value::Null;
    for example in examples {
        match example {
            Example::Commands(text) => {
                for command in curl::commands(text) {
                    let command = command(&variables);
                    last = call(app, section, &command).await;
                    variables.extend(ids(&last));
                    app.step_all().await;
                }
            }
            Example::Answer(text) => {
                let shown: Value =
                    serde_json::from_str(text).unwrap_or_else(|error| panic!("{section}: {error}: {text}"));
                assert_shown(section, &shown, &last);
            }
        }
    }
}

async fn call(app: &TestApp, section: &str, command: &Curl) -> Value {
    let caller = match &command.user {
        Some((key, secret)) => app.nobody().basic(key, secret),
        None => app.nobody().clone(),
    };
    let path = BASES.iter().find_map(|base| command.url.strip_prefix(base));
    let path = path.unwrap_or_else(|| panic!("{section}: {} is elsewhere", command.url));
    let reply = caller.call(command.method.clone(), path, &command.body).await;
    assert!(reply.status.is_success(), "{section}: {command:?}: {} {}", reply.status, reply.text());
    if reply.body.is_empty() { Value::Null } else { reply.json() }
}

fn ids(answer: &Value) -> impl Iterator<Item = (String, String)> {
    let entries = answer.as_object().into_iter().flatten();
    entries.filter_map(|(key, value)| {
        let name = key.strip_suffix('s').unwrap_or(key);
        let id = value.as_str().or_else(|| value.as_array()?.first()?.as_str())?;
        (name.ends_with("_id") || name == "password").then(|| (name.to_uppercase(), id.to_owned()))
    })
}

/// Every key that is shown is there, and nothing is where nothing is shown; what the values are is up to the moment.
#[track_caller]
fn assert_shown(place: &str, shown: &Value, real: &Value) {
    match (shown, real) {
        (Value::Object(shown), Value::Object(real)) => {
            for (key, value) in shown {
                let place = format!("{place}.{key}");
                assert_shown(&place, value, real.get(key).unwrap_or_else(|| panic!("{place} is not in {real:?}")));
            }
        }
        (Value::Array(shown), Value::Array(real)) => {
            assert_eq!(shown.is_empty(), real.is_empty(), "{place}");
            for (shown, real) in shown.iter().zip(real) {
                assert_shown(place, shown, real);
            }
        }
        (shown, real) => {
            assert_eq!(std::mem::discriminant(shown), std::mem::discriminant(real), "{place}: {shown} {real}");
        }
    }
}

#[tokio::test]
async fn examples_of_the_documentation_work() {
    on_each_database(async |app| {
        for document in DOCUMENTS {
            let sections = sections(document);
            assert!(!sections.is_empty(), "examples are marked with {RUNNABLE:?}");
            for (section, examples) in sections {
                run(&app, &section, &examples).await;
            }
        }
    })
    .await;
}

#[test]
fn examples_are_found() {
    let document = "# T\n## A\n```sh\nno\n```\n```sh runnable\ncurl x\n```\n```json answer\n{}\n```\n## B\ntext\n";
    let found = sections(document);
    let examples = vec![Example::Commands("curl x".to_owned()), Example::Answer("{}".to_owned())];
    assert_eq!(found, [("A".to_owned(), examples)]);
}

#[test]
#[should_panic(expected = "S.schedules.url")]
fn what_is_not_there_must_not_be_shown() {
    let answer = serde_json::json!({"schedules": [{"push_ids": []}]});
    assert_shown("S", &serde_json::json!({"schedules": [{"push_ids": []}]}), &answer);
    assert_shown("S", &serde_json::json!({"schedules": [{"url": "…"}]}), &answer);
}
