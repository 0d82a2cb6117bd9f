//! What an app has counted, as tables and as CSV.

use serde_json::json;

use crate::operator_story::{Story, register};

#[test]
fn reports_have_names_totals_and_usual_dates() {
    let story = Story::begin();
    register(&story.server.url);
    let push = story.says(&["push", "Hello", "--yes", "--audience", r#"{"tag": "news"}"#]);
    // Counted when it is sent.
    story.says(&["events", "tail", "--from", "earliest", "--type", "SEND", "--limit", "1"]);

    let ever = ["--start", "2020-01-01", "--end", "2100-01-01 00:00"];
    let pushes = story.says(&[&["report", "pushes"][..], &ever].concat());
    let row: Vec<&str> = pushes.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row[2..], [push.trim(), "TAG_PUSH", "1", "0", "Hello"], "{pushes}");
    assert_eq!(story.says(&["report", "pushes"]).lines().nth(1), pushes.lines().nth(1), "of the last 30 days");
    let totals: Vec<&str> = pushes.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(totals, ["TOTAL", "1", "0"], "{pushes}");
    let csv = story.says(&[&["report", "pushes", "--csv"][..], &ever].concat());
    assert!(csv.starts_with("time,push,type,sends,direct_responses,name_or_text\n") && csv.ends_with(",1,0,Hello\n"));
    let monthly = [&["report", "sends", "--precision", "monthly"][..], &ever].concat();
    let months = story.says(&monthly);
    assert_eq!(months.lines().next(), Some("DATE                 ANDROID  IOS"));
    assert_eq!(months.lines().count(), 1 + 1 + 1, "months without any count are left out: {months}");
    assert_eq!(story.says(&[&monthly[..], &["--csv"]].concat()).lines().count(), 1 + 80 * 12);
    let noted = String::from_utf8(story.command(&monthly).output().unwrap().stderr).unwrap();
    assert_eq!(noted, "959 rows without any count are left out; --csv and --json have them.\n");
    assert!(months.lines().last().unwrap().split_whitespace().eq(["TOTAL", "1", "0"]), "{months}");
    let dated = months.lines().filter(|line| line.starts_with("20"));
    let sent = dated.filter(|line| line.split_whitespace().skip(2).any(|count| count == "1"));
    assert_eq!(sent.count(), 1, "{months}");
    let responses = story.json(&["report", "responses", "--start", "2024-05-01", "--end", "2024-05-02"]);
    assert_eq!(responses["responses"][0]["ios"], json!({"direct": 0, "influenced": 0}));
    let wrong = story.refused(&["report", "opens", "--start", "soon", "--end", "later"]);
    assert!(wrong.contains("start: This must be a date"), "{wrong}");
}
