//! What an app keeps, without curl: listed, shown, made, changed and deleted from the command line.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::operator_story::{KEY, MASTER_SECRET, Story, register};
use crate::scripted::{Answer, Scripted};
use crate::server::aerogram;
use crate::terminal::Terminal;

/// The command that the id of every kind of thing is a word of.
fn made(story: &Story, arguments: &[&str]) -> String {
    let id = story.says(arguments);
    assert_eq!(id.lines().count(), 1, "{id}");
    id.trim().to_owned()
}

#[test]
fn everything_an_app_keeps_has_the_same_five_words() {
    let story = Story::begin();
    let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hello"}});
    let later = json!({"scheduled_time": "2099-01-01T00:00:00"});
    let variant = |alert: &str| json!({"push": {"notification": {"alert": alert}}, "schedule": later});
    let kinds: [(&str, Value, &str); 5] = [
        ("segment", json!({"display_name": "First", "criteria": {"tag": "news"}}), "display_name"),
        ("schedule", json!({"name": "First", "schedule": later, "push": push}), "name"),
        ("template", json!({"name": "First", "variables": [], "push": {"notification": {"alert": "Hello"}}}), "name"),
        (
            "pipeline",
            json!({"name": "First", "enabled": true, "immediate_trigger": "first_open",
                "outcome": {"push": {"audience": "triggered", "device_types": "all", "notification": {"alert": "Hi"}}}}),
            "name",
        ),
        (
            "experiment",
            json!({"name": "First", "audience": "all", "device_types": "all", "variants": [variant("A"), variant("B")]}),
            "name",
        ),
    ];
    for (kind, body, name) in kinds {
        let file = format!("{kind}.json");
        std::fs::write(story.folder.path().join(&file), body.to_string()).unwrap();
        let id = made(&story, &[kind, "create", &file]);
        let listed = story.says(&[kind, "list"]);
        assert!(listed.lines().count() == 2 && listed.contains(&id) && listed.contains("First"), "{kind}: {listed}");
        let shown = story.says(&[kind, "show", &id]);
        assert!(shown.contains("\"First\"") && shown.lines().count() > 3, "{kind}: {shown}");
        let change = [kind, "update", &id, &file, "--set", &format!("{name}=Second")].map(str::to_owned);
        let change: Vec<&str> = change.iter().map(String::as_str).collect();
        if kind == "experiment" {
            let output = story.command(&change).output().unwrap();
            assert_eq!(output.status.code(), Some(2));
        } else {
            assert_eq!(story.says(&change), "changed\n");
            assert!(story.says(&[kind, "list"]).contains("Second"), "{kind}");
        }
        let unsure = story.refused(&[kind, "delete", &id]);
        assert!(unsure.contains(&id) && unsure.contains("--yes"), "{unsure}");
        assert_eq!(story.says(&[kind, "delete", &id, "--yes"]), "deleted\n");
        assert_eq!(story.says(&[kind, "list"]).lines().count(), 1, "{kind}");
    }
}

#[test]
fn parts_on_the_command_line_make_a_thing_without_a_file() {
    let story = Story::begin();
    let id = made(&story, &["segment", "create", "--set", "display_name=News", "--set", r#"criteria={"tag": "news"}"#]);
    assert_eq!(story.json(&["segment", "show", &id])["criteria"], json!({"tag": "news"}));
    let listed = story.json(&["segments", "list", "--limit", "1"]);
    assert_eq!((listed["segments"].as_array().unwrap().len(), &listed["segments"][0]["id"]), (1, &json!(id)));
    let refused = story.refused(&["segment", "create", "--set", "display_name=News"]);
    assert!(refused.contains("400") && refused.contains("criteria"), "{refused}");
    let told = story.refused(&["segment", "create", "--set", "display_name=News", "--json"]);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["ok"], &told["status"]), (&json!(false), &json!(400)), "{told}");
    assert!(told["error"].as_str().unwrap().contains("criteria"), "{told}");
    let schedule = ["schedule.scheduled_time=2099-01-01T00:00:00", "push.audience=all", "push.device_types=all"];
    let set = schedule.iter().chain(&["push.notification.alert=Hello"]).flat_map(|part| ["--set", part]);
    let id = made(&story, &["schedule", "create"].into_iter().chain(set).collect::<Vec<_>>());
    assert!(story.refused(&["schedule", "pause", &id]).contains("The server answered"));
}

/// A device that has told no time zone has no clock to go by.
#[test]
fn a_schedule_by_local_time_tells_whom_it_leaves_out() {
    let story = Story::begin();
    register(&story.server.url);
    let with_zone = json!({"channel_id": "0190a000-0000-4000-8000-000000000001", "device_type": "android", "opt_in": true,
        "push_address": "b", "set_tags": true, "tags": ["sport"], "timezone": "Europe/Berlin"});
    std::fs::write(story.folder.path().join("devices.jsonl"), format!("{with_zone}\n")).unwrap();
    story.says(&["import", "jsonl", "devices.jsonl"]);
    let noted = |time: &str, audience: &str, more: &[&str]| {
        let (time, audience) = (format!("schedule.{time}=2099-01-01T09:00:00"), format!("push.audience={audience}"));
        let parts = [time.as_str(), audience.as_str(), "push.device_types=all", "push.notification.alert=Hello"];
        let set = parts.into_iter().flat_map(|part| ["--set", part]);
        let words: Vec<&str> = ["schedule", "create"].into_iter().chain(set).chain(more.iter().copied()).collect();
        let output = story.command(&words).output().unwrap();
        let noted = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && !output.stdout.is_empty(), "{noted}");
        noted
    };
    let (local, one) = ("local_scheduled_time", "1 device has no time zone and gets nothing.");
    for audience in ["all", r#"{"tag": "news"}"#] {
        assert_eq!(noted(local, audience, &[]), format!("warning: schedule.{local}: {one}\n"));
    }
    assert_eq!(noted(local, r#"{"tag": "sport"}"#, &[]), "");
    assert_eq!(noted("scheduled_time", "all", &[]), "");
    assert_eq!(noted(local, "all", &["--json"]), "");
}

#[test]
fn a_list_is_filled_and_read() {
    let story = Story::begin();
    let channel = register(&story.server.url);
    story.says(&["list", "create", "--set", "name=vips"]);
    let rows = format!("ios_channel,{channel}\nnamed_user,jo\n");
    std::fs::write(story.folder.path().join("vips.csv"), rows).unwrap();
    assert_eq!(story.says(&["list", "upload", "vips", "vips.csv"]), "uploaded\n");
    let rows = story.says(&["list", "download", "vips"]);
    assert!(rows.contains("named_user,jo") && rows.contains(&channel), "{rows}");
    assert!(story.says(&["list", "errors", "vips"]).starts_with("line,error"));
    assert!(story.says(&["list", "list"]).contains("vips"));
}

#[test]
fn any_call_can_be_made() {
    let story = Story::begin();
    let channel = register(&story.server.url);
    let listed: Value = serde_json::from_str(&story.says(&["api", "GET", "/api/channels"])).unwrap();
    assert_eq!(listed["channels"][0]["channel_id"], channel.as_str());
    let tags = json!({"audience": {"android_channel": channel}, "add": {"crm": ["vip"]}}).to_string();
    story.says(&["api", "post", "/api/channels/tags", "-d", &tags]);
    std::fs::write(story.folder.path().join("push.json"), r#"{"audience": "all"}"#).unwrap();
    let refused = story.refused(&["api", "POST", "/api/push", "-d", "@push.json"]);
    assert!(refused.contains("400") && refused.contains("device_types"), "{refused}");
    let apps: Value = serde_json::from_str(&story.says(&["api", "GET", "/operator/apps"])).unwrap();
    assert_eq!(apps["apps"].as_array().unwrap().len(), 1);
    assert!(story.refused(&["api", "DELETE", "/api/segments/none"]).contains("404"));
}

#[test]
fn what_anybody_may_ask_takes_no_credentials() {
    let (story, elsewhere) = (Story::begin(), tempfile::tempdir().unwrap());
    let ask = |path: &str| {
        aerogram(elsewhere.path()).args(["api", "GET", path, "--url", &story.server.url]).output().unwrap()
    };
    for path in ["/ready", "/health", "/openapi.json"] {
        let output = ask(path);
        assert!(output.status.success(), "{path}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(serde_json::from_slice::<Value>(&output.stdout).unwrap().is_object(), "{path}");
    }
    for path in ["/api/channels", "/operator/apps", "/metrics"] {
        let output = ask(path);
        assert!(!output.status.success() && output.stdout.is_empty(), "{path}");
    }
}

/// The stream of events does not end.
#[test]
fn an_answer_is_printed_as_it_comes() {
    let story = Story::begin();
    let channel = register(&story.server.url);
    story.says(&["tag", "add", "vip", "--channel", &channel]);
    let mut command = story.command(&["api", "GET", "/api/events?start=earliest"]);
    let mut stream = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(stream.stdout.take().unwrap()).lines();
    // An empty line only shows that the stream is alive.
    let first = lines.map(Result::unwrap).find(|line| !line.is_empty()).unwrap();
    stream.kill().unwrap();
    stream.wait().unwrap();
    assert!(serde_json::from_str::<Value>(&first).unwrap()["type"].is_string(), "{first}");
}

#[test]
fn the_body_of_a_call_may_be_of_any_type() {
    let folder = tempfile::tempdir().unwrap();
    let service = Scripted::start(|_| Answer::json(200, &json!({"ok": true})));
    std::fs::write(folder.path().join("vips.csv"), "named_user,jo\n").unwrap();
    let (file, csv) = (["-d", "@vips.csv"], ["--content-type", "text/csv"]);
    let login = ["--app-key", KEY, "--master-secret", MASTER_SECRET, "--url", &service.url];
    for more in [&csv[..], &[]] {
        let mut command = aerogram(folder.path());
        let output =
            command.args(["api", "PUT", "/api/lists/vips/csv"]).args(file).args(more).args(login).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"ok\":true}\n");
    }
    let asked = service.take("/api/lists/vips/csv");
    let types: Vec<_> = asked.iter().map(|asked| asked.content_type.as_deref()).collect();
    assert_eq!(types, [Some("text/csv"), Some("application/json")]);
    assert!(asked.iter().all(|asked| asked.body == "named_user,jo\n"));
    let mut without_body = aerogram(folder.path());
    let output = without_body.args(["api", "GET", "/api/lists"]).args(csv).args(login).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn nodes_are_listed() {
    let story = Story::begin();
    let nodes = story.says(&["nodes"]);
    assert!(nodes.starts_with("NODE") && nodes.contains("alive") && nodes.contains("api,worker"), "{nodes}");
    assert_eq!(story.json(&["nodes"])["nodes"].as_array().unwrap().len(), 1);
    // The terminal is narrower: what says how a node does is whole, and what is not there is named.
    let (code, shown) = Terminal::start(story.command(&["nodes"])).end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.lines().next().unwrap().trim_end().ends_with("JOBS  LOG LAG  DATABASE MS  CLOCK MS"), "{shown}");
    assert!(shown.contains("left out: STARTED"), "{shown}");
}

#[test]
fn shells_and_man_learn_the_commands() {
    let story = Story::begin();
    for shell in ["bash", "zsh", "fish"] {
        assert!(story.says(&["completions", shell]).contains("segment"), "{shell}");
    }
    let pages = story.folder.path().join("man");
    std::fs::create_dir(&pages).unwrap();
    story.says(&["man", "man"]);
    let page = std::fs::read_to_string(pages.join("aerogram-push.1")).unwrap();
    assert!(page.contains("audience") && page.contains(".TH"), "{page}");
}
