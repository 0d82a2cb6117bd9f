//! What an app is itself, its mode and its rules, goes out and comes in where the operator says so, and never looser unseen.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::import_story::{get, stories, write};
use crate::operator_story::{KEY, Story};
use crate::terminal::Terminal;

#[test]
fn an_app_takes_its_rules_along_if_the_operator_says_so() {
    for (story, other) in stories().into_iter().zip(stories()) {
        let path = format!("/operator/apps/{KEY}");
        let rules = json!({"name": "Shop", "mode": "production", "named_users": {"associate": "devices"}, "approval_above": 500,
            "web_origins": ["https://shop.example.com"]});
        story.says(&["api", "PATCH", &path, "-d", &rules.to_string()]);
        let app = |story: &Story| {
            let mut app = get(story, &path)["app"].clone();
            app.as_object_mut().unwrap().remove("created");
            app
        };
        let (wanted, before) = (app(&story), app(&other));
        story.says(&["export", "plain.jsonl"]);
        assert_eq!(std::fs::read_to_string(story.folder.path().join("plain.jsonl")).unwrap(), "");
        story.says(&["export", "shop.jsonl", "--with-app"]);
        let text = std::fs::read_to_string(story.folder.path().join("shop.jsonl")).unwrap();
        assert!(text.starts_with("{\"app\":{") && !text.contains("secret") && !text.contains(KEY), "{text}");
        write(&other, "shop.jsonl", text);
        let said = other.says(&["import", "jsonl", "shop.jsonl"]);
        assert!(said.contains("--with-app sets them"), "{said}");
        assert_eq!(app(&other), before);
        // What changes is shown. Nobody is asked about stricter rules, but about pages that may register browsers.
        let with_app = ["import", "jsonl", "shop.jsonl", "--with-app"];
        let dry = other.command(&[&with_app[..], &["--dry-run", "--json"]].concat()).output().unwrap();
        let (total, told): (Value, _) =
            (serde_json::from_slice(&dry.stdout).unwrap(), String::from_utf8(dry.stderr).unwrap());
        let counts = ["rows", "unchecked", "passed_over", "refused"].map(|key| total[key].as_u64().unwrap());
        assert_eq!((dry.status.code(), counts), (Some(0), [1, 0, 0, 0]), "{told}");
        let looser = "web_origins: none -> https://shop.example.com (looser)";
        for change in ["mode: development -> production\n", "approval_above: none -> 500\n", looser] {
            assert!(told.contains(change), "{told}");
        }
        let unasked = other.command(&with_app).stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8(unasked.stderr).unwrap();
        assert_eq!(unasked.status.code(), Some(2), "{told}");
        assert!(told.contains(looser) && told.contains("--yes"), "{told}");
        for (answer, code, then) in [("n", 1, &before), ("y", 0, &wanted)] {
            let mut terminal = Terminal::start(other.command(&with_app));
            terminal.wait_for("Change the app so? [y/N] ");
            terminal.types(answer);
            let (ended, shown) = terminal.end();
            assert_eq!((ended, &app(&other)), (Some(code), then), "{shown}");
        }
        // What is so already wants no word.
        let again = other.command(&with_app).stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8(again.stderr).unwrap();
        assert!(again.status.success() && !told.contains("->"), "{told}");
        let strict = json!({"approval_above": 5, "named_users": {"associate": "servers"}});
        other.says(&["api", "PATCH", &path, "-d", &strict.to_string()]);
        let meant = other.command(&[&with_app[..], &["--yes"]].concat()).output().unwrap();
        let told = String::from_utf8(meant.stderr).unwrap();
        for change in ["approval_above: 5 -> 500 (looser)", "named_users.associate: servers -> devices (looser)"] {
            assert!(told.contains(change), "{told}");
        }
        assert_eq!((meant.status.code(), app(&other)), (Some(0), wanted));
    }
}
