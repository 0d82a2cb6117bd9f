//! An export goes on when its server is busy, is away for a while, or breaks off in the middle of an answer.

use std::collections::HashSet;
use std::process::Output;

use serde_json::{Value, json};

use crate::resume_story::{LOGIN, told};
use crate::scripted::{Answer, Asked, Scripted};
use crate::server::aerogram;

const ROWS: &str = "/api/lists/vips/csv";

/// What a service answers to an export of an app that has one list.
fn app_with_a_list(asked: &Asked) -> Answer {
    match asked.path.as_str() {
        "/api/lists" => Answer::json(200, &json!({"lists": [{"name": "vips"}]})),
        _ => Answer::json(
            200,
            &json!({
                "channels": [], "named_users": [], "segments": [], "content_templates": [], "templates": [],
                "constraints": [], "schedules": [], "pipelines": [], "experiments": []
            }),
        ),
    }
}

/// Exports from a service, into `target`.
fn export_from(service: &Scripted, folder: &std::path::Path, target: &str) -> Output {
    aerogram(folder).args(["export", target]).args(LOGIN).args(["--url", &service.url]).output().unwrap()
}

fn lines_of(text: &[u8]) -> Vec<Value> {
    std::str::from_utf8(text).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn an_export_goes_on_when_its_server_is_busy_or_away_for_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let channels = |id: &str, next: Option<&str>| {
        let channel = json!({"channel_id": id, "device_type": "ios", "installed": true, "push_address": "AB"});
        Answer::json(200, &json!({"channels": [channel], "next_page": next}))
    };
    let busy = |status: u16| Answer::with(status, "Retry-After: 0\r\n", "");
    let mut known = HashSet::new();
    let service = Scripted::start(move |asked| {
        let is_first = known.insert(asked.path.clone());
        match asked.path.as_str() {
            "/api/channels?limit=1000" if is_first => busy(429),
            "/api/channels?limit=1000" => channels("first", Some("https://elsewhere/api/channels?start=1")),
            "/api/channels?start=1" if is_first => busy(503),
            "/api/channels?start=1" => channels("second", None),
            "/api/named_users?limit=1000" if is_first => Answer::Break,
            "/api/lists" if is_first => busy(502),
            "/api/lists" => Answer::json(200, &json!({"lists": [{"name": "vips"}]})),
            "/api/lists/vips/csv" if is_first => busy(503),
            "/api/lists/vips/csv" => Answer::with(200, "", "named_user,jo\n"),
            "/api/segments" => Answer::json(200, &json!({"segments": [{"id": "news", "display_name": "News"}]})),
            "/api/segments/news" if is_first => busy(503),
            "/api/segments/news" => Answer::json(200, &json!({"criteria": {"tag": "news"}})),
            _ => Answer::json(
                200,
                &json!({
                    "named_users": [], "content_templates": [], "templates": [], "constraints": [], "schedules": [],
                    "pipelines": [], "experiments": []
                }),
            ),
        }
    });
    let mut export = aerogram(folder.path());
    let output = export.arg("export").args(LOGIN).args(["--url", &service.url]).output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let found: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found.len(), 5, "{text}");
    assert_eq!((&found[0]["channel_id"], &found[1]["channel_id"]), (&json!("first"), &json!("second")));
    assert_eq!(found[3]["list_rows"]["rows"], json!(["named_user,jo"]));
    assert_eq!(found[4]["segment"]["criteria"], json!({"tag": "news"}));

    // A server that has never answered is not waited for: its address may be wrong.
    let output =
        aerogram(folder.path()).arg("export").args(LOGIN).args(["--url", "http://127.0.0.1:9"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(told(&output).contains("No server answers"), "{}", told(&output));
}

#[test]
fn the_rows_of_a_list_whose_answer_breaks_off_are_asked_for_again_and_are_there_once() {
    const N: usize = 2500;
    let rows: Vec<String> = (0..N).map(|n| format!("named_user,user-{n}")).collect();
    let all = rows.join("\n") + "\n";
    for target in ["-", "app.jsonl"] {
        let folder = tempfile::tempdir().unwrap();
        let (all, mut n_asked) = (all.clone(), 0);
        let service = Scripted::start(move |asked| match asked.path.as_str() {
            ROWS => {
                n_asked += 1;
                // The first time it breaks after more than a line's worth, and in the middle of a row.
                let body = if n_asked == 1 { &all[..all.len() / 2 + 3] } else { &all[..] };
                Answer::Text(format!(
                    "HTTP/1.1 200 Told\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    all.len()
                ))
            }
            _ => app_with_a_list(asked),
        });
        let output = export_from(&service, folder.path(), target);
        assert!(output.status.success(), "{}", told(&output));
        let written = match target {
            "-" => output.stdout,
            name => std::fs::read(folder.path().join(name)).unwrap(),
        };
        let found = lines_of(&written);
        let parts: Vec<&Value> = found.iter().filter_map(|line| line.pointer("/list_rows/rows")).collect();
        let sizes: Vec<usize> = parts.iter().map(|part| part.as_array().unwrap().len()).collect();
        assert_eq!(sizes, [1000, 1000, 500]);
        assert!(parts.into_iter().flat_map(|part| part.as_array().unwrap()).eq(&rows), "in another order");
        assert_eq!(service.take(ROWS).len(), 2);
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), usize::from(target != "-"), "{left:?}");
    }
}

#[test]
fn rows_that_end_in_the_middle_of_one_are_no_export() {
    let folder = tempfile::tempdir().unwrap();
    let service = Scripted::start(|asked| match asked.path.as_str() {
        ROWS => Answer::with(200, "", "named_user,jo\nnamed_us"),
        _ => app_with_a_list(asked),
    });
    let output = export_from(&service, folder.path(), "app.jsonl");
    assert_eq!(output.status.code(), Some(1));
    assert!(told(&output).contains("in the middle of a row"), "{}", told(&output));
    assert!(!folder.path().join("app.jsonl").exists());
}
