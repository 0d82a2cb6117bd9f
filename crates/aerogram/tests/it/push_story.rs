//! Sending from the command line: nobody is reached by accident.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::lossy::{Loss, Lossy};
use crate::operator_story::{KEY, MASTER_SECRET, Story, register};
use crate::scripted::{Answer, Scripted};
use crate::server::aerogram;
use crate::terminal::Terminal;

const ALL: [&str; 2] = ["--audience", "all"];

/// The exit code and the complaint of a command that was given wrong.
fn misused(story: &Story, arguments: &[&str]) -> String {
    let output = story.command(arguments).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn n_pushes(story: &Story) -> usize {
    story.json(&["pushes"])["pushes"].as_array().unwrap().len()
}

#[test]
fn nothing_is_sent_by_accident() {
    let story = Story::begin();
    register(&story.server.url);
    let without_audience = misused(&story, &["push", "Hello"]);
    assert!(without_audience.contains("--audience"), "{without_audience}");
    for typed in ["statuss", "stauts", "pause", "lst", "STATUS"] {
        let refused = misused(&story, &["push", "--audience", "all", "--yes", "--", typed]);
        assert!(refused.contains("Nothing was sent") && refused.contains("--alert"), "{refused}");
    }
    let unquoted = misused(&story, &["push", "--audience", "all", "--yes", "Hi", "there"]);
    assert!(unquoted.contains("'there' is one word too many: put the text in quotes."), "{unquoted}");
    let unasked = misused(&story, &["push", "Hello", "--audience", "all"]);
    assert!(unasked.contains("--yes") && unasked.contains("--dry-run"), "{unasked}");
    assert_eq!(n_pushes(&story), 0);
    story.says(&["push", "--alert", "statuss", "--audience", "all", "--yes"]);
    assert_eq!(n_pushes(&story), 1);
}

#[test]
fn all_pushes_are_listed_with_or_without_the_word() {
    let story = Story::begin();
    register(&story.server.url);
    for text in ["Hello", "A long list"] {
        story.says(&["push", text, "--audience", "all", "--yes"]);
    }
    let n_listed =
        |arguments: &[&str]| story.json(&[&["pushes"], arguments].concat())["pushes"].as_array().unwrap().len();
    assert_eq!(
        [n_listed(&[]), n_listed(&["list"]), n_listed(&["Hello"]), n_listed(&["--search", "list"])],
        [2, 2, 1, 1]
    );
}

#[test]
fn a_look_sends_nothing() {
    let story = Story::begin();
    register(&story.server.url);
    let look = story.says(&["push", "Hello", "--audience", r#"{"tag": "news"}"#, "--dry-run"]);
    assert!(look.starts_with("It would reach 1 device:\n  android: 1 match, 1 reachable"), "{look}");
    assert!(look.contains("They would see:\n  android: Hello (") && !look.contains("ios"), "{look}");
    let look = story.says(&["push", "Hello", "--audience", r#"{"tag": "newz"}"#, "--dry-run"]);
    assert!(look.starts_with("It would reach nobody.\nwarning: ") && look.contains("Did you mean news?"), "{look}");
    assert!(!look.contains("They would see"), "{look}");
    let look = story.json(&["push", "Hello", "--audience", "all", "--dry-run"]);
    assert_eq!((&look["ok"], &look["pushes"][0]["reach"]["reachable"]), (&json!(true), &json!(1)));
    assert!(look["pushes"][0]["preview"]["previews"].is_array());
    let refused = story.refused(&["push", "Hello", "--audience", r#"{"tag": 7}"#, "--dry-run"]);
    assert!(refused.contains("400 Bad Request") && refused.contains("audience.tag"), "{refused}");
    assert_eq!(n_pushes(&story), 0);
}

/// Nobody has looked at the audience of a push that was sent with --yes.
#[test]
fn a_push_that_probably_misses_somebody_is_sent_with_a_warning() {
    let story = Story::begin();
    register(&story.server.url);
    let sent = |arguments: &[&str]| {
        let output = story.command(&[&["push", "--yes"], arguments].concat()).output().unwrap();
        let (said, noted) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(output.status.success() && said.lines().count() == 1, "{said}{noted}");
        noted
    };
    let noted = sent(&["Hello", "--audience", r#"{"tag": "newz"}"#]);
    assert!(noted.starts_with("warning: audience.tag: ") && noted.ends_with("Did you mean news?\n"), "{noted}");
    assert_eq!(sent(&["Hello", "--audience", r#"{"tag": "news"}"#]), "");
    assert_eq!(sent(&["Hello", "--audience", r#"{"tag": "newz"}"#, "--json"]), "");
    assert_eq!(n_pushes(&story), 3);

    let asked = Scripted::start(|asked| match asked.path.as_str() {
        "/api/push" => Answer::json(202, &json!({"ok": true, "push_ids": ["00000000-0000-4000-8000-000000000001"]})),
        _ => Answer::json(500, &json!({"ok": false, "error": "broken"})),
    });
    let noted = sent(&["Hello", "--audience", r#"{"tag": "newz"}"#, "--url", &asked.url]);
    assert_eq!(
        (noted.as_str(), asked.asked()),
        ("", vec!["POST /api/push".to_owned(), "POST /api/audience/explain".to_owned()])
    );
}

#[test]
fn a_push_to_a_platform_without_credentials_is_warned_of() {
    let story = Story::begin();
    register(&story.server.url);
    story.says(&["app", "mode", KEY, "production"]);
    let warning = "warning: device_types: 1 android device would get nothing: ";
    let look = story.says(&[&["push", "Hello", "--dry-run"][..], &ALL].concat());
    assert!(look.contains(warning) && look.contains(&format!("`aerogram platform set {KEY} fcm …`")), "{look}");
    let output = story.command(&[&["push", "Hello", "--yes"][..], &ALL].concat()).output().unwrap();
    let noted = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && noted.starts_with(warning), "{noted}");
}

/// A push may say something on some platforms only, and nothing that is read on any.
#[test]
fn a_look_tells_which_platforms_get_nothing() {
    let story = Story::begin();
    register(&story.server.url);
    let look = |more: Value| {
        let mut push = json!({"audience": "all", "device_types": "all"});
        push.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        std::fs::write(story.folder.path().join("push.json"), push.to_string()).unwrap();
        let look = story.says(&["push", "--file", "push.json", "--dry-run"]);
        look.lines().find(|line| line.starts_with("  android: ") && !line.contains(" match, ")).unwrap().to_owned()
    };
    let banner = look(json!({"in_app": {"alert": "Look", "display_type": "banner"}}));
    assert!(banner.starts_with("  android: no text (") && banner.ends_with(" bytes)"), "{banner}");
    let message = look(json!({"message": {"title": "Inbox", "body": "<p>"}}));
    assert!(message.starts_with("  android: no text (") && message.ends_with(" bytes)"), "{message}");
    let only_ios = look(json!({"notification": {"ios": {"alert": "Look"}}}));
    assert_eq!(only_ios, "  android: The push has nothing to say on this platform.");
    assert_eq!(n_pushes(&story), 0);
    let mut terminal = Terminal::start(story.command(&["push", "--file", "push.json"]));
    terminal.wait_for("Send it? [y/N] ");
    terminal.types("n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("nothing to say on this platform"), "{shown}");
}

#[test]
fn somebody_at_a_terminal_is_asked() {
    let story = Story::begin();
    register(&story.server.url);
    let send = [&["push", "Hello"][..], &ALL].concat();
    for answer in ["", "n", "nonsense"] {
        let mut terminal = Terminal::start(story.command(&send));
        terminal.wait_for("Send it? [y/N] ");
        terminal.types(answer);
        let (code, shown) = terminal.end();
        assert_eq!(code, Some(1), "{shown}");
        assert!(shown.contains("It would reach 1 device") && shown.contains("Nothing was sent."), "{shown}");
    }
    assert_eq!(n_pushes(&story), 0);
    let mut terminal = Terminal::start(story.command(&send));
    terminal.wait_for("Send it? [y/N] ");
    terminal.types("y");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    let push = story.json(&["pushes"])["pushes"][0]["push_id"].as_str().unwrap().to_owned();
    assert!(shown.contains(&push), "{shown}");
}

#[test]
fn a_push_is_followed_until_it_is_done() {
    let story = Story::begin();
    register(&story.server.url);
    let followed = story.says(&[&["push", "Hello", "--yes", "--follow"][..], &ALL].concat());
    let lines: Vec<&str> = followed.lines().collect();
    assert_eq!(lines[1], "done", "{followed}");
    assert!(lines.last().unwrap().starts_with("total"), "{followed}");
    let followed = story.says(&[&["push", "Hello", "--yes", "--follow", "--json"][..], &ALL].concat());
    let answers: Vec<Value> = followed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers[0]["push_ids"][0], answers[1]["push"]["push_id"]);
    assert_eq!((&answers[1]["push"]["state"], &answers[1]["push"]["total"]["pending"]), (&json!("done"), &json!(0)));
    let (code, shown) =
        Terminal::start(story.command(&[&["push", "Hello", "--yes", "--follow"][..], &ALL].concat())).end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("done"), "{shown}");
}

#[test]
fn a_push_that_fails_for_everybody_fails_when_it_is_followed() {
    let story = Story::begin();
    register(&story.server.url);
    story.says(&["app", "mode", KEY, "production"]);
    let follow = [&["push", "Hello", "--yes", "--follow"][..], &ALL].concat();
    let output = story.command(&follow).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[1] == "failed" && said.contains("no credentials for the platform android"), "{said}");
    assert!(story.says(&["push", "status", lines[0]]).starts_with("failed\n"), "it can be told");
    let output = story.command(&[&follow[..], &["--json"]].concat()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let answer: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!((&answer["push"]["state"], &answer["push"]["total"]["failed"]), (&json!("done"), &json!(1)));
    // What is in an inbox has not failed.
    let message = json!({"title": "Hello", "body": "You have mail."});
    let push = json!({
        "audience": "all", "device_types": "all", "notification": {"alert": "Hello"}, "message": message,
    });
    std::fs::write(story.folder.path().join("push.json"), push.to_string()).unwrap();
    let said = story.says(&["push", "--file", "push.json", "--yes", "--follow"]);
    assert_eq!(said.lines().nth(1), Some("done"), "{said}");
}

#[test]
fn a_push_is_followed_through_hiccups() {
    let folder = tempfile::tempdir().unwrap();
    let id = "00000000-0000-4000-8000-000000000001";
    let counts = |pending: u64| json!({"targeted": 2, "delivered": 2 - pending, "gone": 0, "failed": 0, "expired": 0, "canceled": 0, "pending": pending});
    let status = move |state: &str, pending: u64| {
        let push =
            json!({"push_id": id, "state": state, "total": counts(pending), "platforms": {"android": counts(pending)}});
        Answer::json(200, &json!({"ok": true, "push": push}))
    };
    let busy = || Answer::with(503, "Retry-After: 0\r\n", "{}");
    let mut next =
        vec![status("done", 0), Answer::Break, Answer::json(502, &json!({})), busy(), status("sending", 1), busy()];
    let service = Scripted::start(move |asked| match asked.path.as_str() {
        "/api/push" => Answer::json(202, &json!({"ok": true, "push_ids": [id]})),
        "/api/audience/explain" => Answer::json(500, &json!({"ok": false, "error": "broken"})),
        _ => next.pop().unwrap(),
    });
    let mut command = aerogram(folder.path());
    command.args(["push", "Hello", "--audience", "all", "--yes", "--follow", "--url", &service.url]);
    let output = command.env("AEROGRAM_APP_KEY", KEY).env("AEROGRAM_MASTER_SECRET", MASTER_SECRET).output().unwrap();
    let (said, complaint) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{complaint}");
    assert!(said.starts_with(&format!("{id}\ndone\n")), "{said}");
    assert_eq!(complaint.matches("is asked again").count(), 1, "once is enough: {complaint}");
    let n_sent = service.asked().iter().filter(|asked| *asked == "POST /api/push").count();
    assert_eq!((n_sent, service.asked().len()), (1, 8));
}

#[test]
fn a_push_that_can_be_followed_no_longer_is_said_to_be_sent() {
    let folder = tempfile::tempdir().unwrap();
    let id = "00000000-0000-4000-8000-000000000001";
    let service = Scripted::start(move |asked| match asked.path.as_str() {
        "/api/push" => Answer::json(202, &json!({"ok": true, "push_ids": [id]})),
        _ => Answer::json(500, &json!({"ok": false, "error": "broken"})),
    });
    let mut command = aerogram(folder.path());
    command.args(["push", "Hello", "--audience", "all", "--yes", "--follow", "--url", &service.url]);
    let output = command.env("AEROGRAM_APP_KEY", KEY).env("AEROGRAM_MASTER_SECRET", MASTER_SECRET).output().unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{complaint}");
    assert!(complaint.contains(&format!("It was sent; `aerogram push status {id}`")), "{complaint}");
    assert!(complaint.contains("500"), "{complaint}");
}

#[test]
fn a_push_whose_answer_is_lost_is_not_sent_twice() {
    let story = Story::begin();
    register(&story.server.url);
    let way = Lossy::to(&story.server.url);
    let send = [&["push", "Hello", "--yes", "--url", &way.url][..], &ALL].concat();
    way.lose(&[Loss::Broken]);
    let id = story.says(&send);
    let pushes = story.json(&["pushes"])["pushes"].clone();
    assert_eq!(pushes.as_array().unwrap().len(), 1, "it was sent again");
    assert_eq!(pushes[0]["push_id"], id.trim());
    way.lose(&[Loss::Unknown]);
    let id = story.says(&send);
    assert!(way.has_lost_all() && story.json(&["pushes"]).to_string().contains(id.trim()), "{id}");
    assert_eq!(n_pushes(&story), 2, "it was sent again");
    let ways = [
        [Loss::Broken, Loss::Broken],
        [Loss::Broken, Loss::Unknown],
        [Loss::Unknown, Loss::Broken],
        [Loss::Unknown, Loss::Unknown],
    ];
    for (n, losses) in ways.iter().enumerate() {
        way.lose(losses);
        let doubt = story.refused(&send);
        assert!(doubt.starts_with("aerogram: It may have been sent: see `aerogram pushes`"), "{doubt}");
        assert_eq!(doubt.contains("503 Service Unavailable"), matches!(losses[1], Loss::Unknown), "{doubt}");
        assert_eq!(n_pushes(&story), 3 + n);
    }
    let wrong = ["push", "Hello", "--yes", "--url", &way.url, "--audience", r#"{"tag": 7}"#];
    let refused = story.refused(&wrong);
    assert!(refused.contains("400 Bad Request") && !refused.contains("may have been sent"), "{refused}");
    let away = story.refused(&[&["push", "Hello", "--yes", "--url", "http://127.0.0.1:1"][..], &ALL].concat());
    assert!(away.contains("No server answers") && !away.contains("may have been sent"), "{away}");
}

#[test]
fn a_file_may_hold_several_pushes() {
    let story = Story::begin();
    register(&story.server.url);
    let push =
        |audience: Value| json!({"audience": audience, "device_types": "all", "notification": {"alert": "Hello"}});
    let pushes = json!([push(json!("all")), push(json!({"tag": "nobody"}))]);
    std::fs::write(story.folder.path().join("pushes.json"), pushes.to_string()).unwrap();
    let look = story.says(&["push", "--file", "pushes.json", "--dry-run"]);
    assert!(look.contains("It would reach 1 device") && look.contains("It would reach nobody."), "{look}");
    assert_eq!(story.says(&["push", "--file", "pushes.json", "--yes"]).lines().count(), 2);
}
