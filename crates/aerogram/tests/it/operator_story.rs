//! An operator's day, through the commands against a running server.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use bytes::Bytes;
use providers::http::{AddressPolicy, Client};
use serde_json::{Value, json};

use crate::server::{Server, aerogram};

const KEY: &str = "story-app-key-00000001";
const APP_SECRET: &str = "story-app-secret-00001";
const MASTER_SECRET: &str = "story-master-secret-01";

struct Story {
    folder: tempfile::TempDir,
    server: Server,
}

impl Story {
    fn begin() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let app = ["--app-key", KEY, "--app-secret", APP_SECRET, "--master-secret", MASTER_SECRET];
        let server = Server::start(folder.path(), &app);
        Self { folder, server }
    }

    fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = aerogram(self.folder.path());
        command.args(arguments).env("AEROGRAM_URL", &self.server.url);
        command.env("AEROGRAM_APP_KEY", KEY).env("AEROGRAM_MASTER_SECRET", MASTER_SECRET);
        command
    }

    /// What a command prints, which must succeed.
    fn says(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {complaint}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let text = self.says(&[arguments, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn apps_are_made_listed_changed_and_deleted() {
    let story = Story::begin();
    let created = story.json(&["app", "create", "Shop", "--mode", "production"]);
    let key = created["app"]["key"].as_str().unwrap().to_owned();
    assert_eq!(created["app"]["mode"], "production");

    let list = story.says(&["app", "list"]);
    assert!(list.starts_with("KEY "), "{list}");
    assert!(list.contains(&key) && list.contains("Shop") && list.contains(KEY), "{list}");

    story.says(&["app", "mode", &key, "development"]);
    assert_eq!(story.json(&["app", "list"])["apps"][1]["mode"], "development");

    let rotated = story.json(&["app", "rotate", &key, "--secret", "master"]);
    assert_ne!(rotated["master_secret"], created["master_secret"]);
    assert_eq!(rotated.get("app_secret"), None);

    let again = story.refused(&["app", "create", "Twice", "--key", KEY]);
    assert!(again.contains("409"), "{again}");
    story.says(&["app", "delete", &key, "--yes"]);
    assert!(story.refused(&["app", "mode", &key, "production"]).contains("404"));
    assert!(!story.says(&["app", "list"]).contains(&key));
}

#[test]
fn platforms_are_configured_without_showing_their_secrets() {
    let story = Story::begin();
    let set = [
        "platform",
        "set",
        KEY,
        "open::fridge",
        "https://fridge.example/hook",
        "--auth",
        "signature",
        "--secret",
        "hunter2",
        "--no-validate",
    ];
    assert!(story.says(&set).contains("confirmation_code"));
    let list = story.says(&["platform", "list", KEY]);
    assert!(list.contains("open::fridge") && list.contains("https://fridge.example/hook"), "{list}");
    assert!(!story.says(&["platform", "list", KEY, "--json"]).contains("hunter2"));

    let private = story.refused(&["platform", "set", KEY, "open::fridge", "http://10.0.0.1/hook", "--no-validate"]);
    assert!(private.contains("AEROGRAM_ALLOW_PRIVATE_ADDRESSES"), "{private}");
    story.says(&["platform", "delete", KEY, "open::fridge"]);
    assert!(story.refused(&["platform", "test", KEY, "open::fridge"]).contains("404"));
}

#[test]
fn a_push_is_followed_into_the_sandbox() {
    let story = Story::begin();
    let channel = register(&story.server.url);
    let mut follower = story
        .command(&["sandbox", "--follow", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(follower.stderr.take().unwrap()).read_line(&mut ready).unwrap();
    assert!(ready.starts_with("Waiting for deliveries"), "{ready}");

    let push = story.says(&["push", "Hello", "--audience", r#"{"tag": "news"}"#]);
    let mut line = String::new();
    BufReader::new(follower.stdout.take().unwrap()).read_line(&mut line).unwrap();
    follower.kill().unwrap();
    follower.wait().unwrap();
    let delivery: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(delivery["push_id"], push.trim());
    assert_eq!(delivery["channel_id"], channel.as_str());

    let listed = story.json(&["sandbox", "--push", push.trim()]);
    assert_eq!(listed["deliveries"], json!([delivery]));
    let shown = story.says(&["sandbox", "--channel", &channel]);
    assert!(shown.contains(&channel) && shown.contains("Hello"), "{shown}");
    let wrong = story.refused(&["push", "Hello", "--audience", r#"{"tag": 7}"#]);
    assert!(wrong.contains("400 Bad Request") && wrong.contains("audience.tag"), "{wrong}");
    assert_eq!(story.says(&["push", "Hello", "--validate"]), "The push is valid.\n");
}

#[test]
fn the_doctor_finds_what_is_wrong() {
    use std::os::unix::fs::PermissionsExt;
    let story = Story::begin();
    let report = story.says(&["doctor"]);
    assert_eq!(report.lines().filter(|line| line.starts_with("ok ")).count(), 6, "{report}");
    let key = story.folder.path().join("aerogram-data/secrets.key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let output = story.command(&["doctor"]).output().unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert!(report.contains("FAIL  files") && report.contains("chmod 600"), "{report}");
}

#[test]
fn the_first_start_shows_credentials_once_and_sigterm_ends_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    server.signal("TERM");
    let (code, shown, log) = server.wait();
    assert_eq!(code, Some(0), "{log}");
    for name in ["AEROGRAM_APP_KEY=", "AEROGRAM_APP_SECRET=", "AEROGRAM_MASTER_SECRET="] {
        let value = shown.split(name).nth(1).and_then(|rest| rest.lines().next()).unwrap();
        assert_eq!(value.len(), 22, "{shown}");
        assert!(name == "AEROGRAM_APP_KEY=" || !log.contains(value), "{log}");
    }
    assert!(shown.contains("aerogram-data/operator-token"), "{shown}");
    assert!(log.contains("\"stopped\""), "{log}");

    let server = Server::start(folder.path(), &[]);
    server.signal("INT");
    let (code, shown, log) = server.wait();
    assert_eq!((code, shown.as_str()), (Some(0), ""), "{log}");
}

#[test]
fn a_second_process_on_the_same_file_is_refused() {
    let story = Story::begin();
    let output = aerogram(story.folder.path()).args(["serve", "--listen", "127.0.0.1:0"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("aerogram.db"), "{complaint}");
}

/// What the SDK in an app does when it starts.
#[tokio::main(flavor = "current_thread")]
async fn register(url: &str) -> String {
    use base64::Engine as _;
    let credentials = base64::engine::general_purpose::STANDARD.encode(format!("{KEY}:{APP_SECRET}"));
    let channel = json!({ "channel": {
        "device_type": "android", "opt_in": true, "push_address": "address", "set_tags": true, "tags": ["news"],
    }});
    let request = http::Request::post(format!("{url}/api/channels"))
        .header(http::header::AUTHORIZATION, format!("Basic {credentials}"))
        .body(Bytes::from(channel.to_string()))
        .unwrap();
    let answer = Client::new(AddressPolicy::ANY).send(request).await.unwrap();
    assert_eq!(answer.status(), 201, "{:?}", answer.body());
    let answer: Value = serde_json::from_slice(answer.body()).unwrap();
    answer["channel_id"].as_str().unwrap().to_owned()
}
