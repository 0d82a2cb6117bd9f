//! An operator's day, through the commands against a running server.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};
use sim::{Faults, Keys, Protocol, SimSettings, Simulator};
use testkit::client::Caller;

use crate::server::{Server, aerogram};

pub(crate) const KEY: &str = "story-app-key-00000001";
pub(crate) const APP_SECRET: &str = "story-app-secret-00001";
pub(crate) const MASTER_SECRET: &str = "story-master-secret-01";

pub(crate) struct Story {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) server: Server,
}

impl Story {
    pub(crate) fn begin() -> Self {
        Self::begin_with(&[])
    }

    pub(crate) fn begin_with(settings: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let app = ["--app-key", KEY, "--app-secret", APP_SECRET, "--master-secret", MASTER_SECRET];
        let server = Server::start(folder.path(), &[&app, settings].concat());
        Self { folder, server }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = aerogram(self.folder.path());
        command.args(arguments).env("AEROGRAM_URL", &self.server.url);
        command.env("AEROGRAM_APP_KEY", KEY).env("AEROGRAM_MASTER_SECRET", MASTER_SECRET);
        command
    }

    /// What a command prints, which must succeed.
    pub(crate) fn says(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {complaint}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let text = self.says(&[arguments, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    pub(crate) fn refused(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn an_app_with_known_secrets_is_made_without_showing_them_to_others() {
    let story = Story::begin();
    let key = "moved-app-key-00000001";
    let app = json!({"name": "Moved", "mode": "production", "key": key,
        "app_secret": "moved-app-secret-00001", "master_secret": "moved-master-secret-01"});
    let file = story.folder.path().join("app.json");
    std::fs::write(&file, app.to_string()).unwrap();
    let mut create = story.command(&["app", "create", "--file", "-", "--json"]);
    let output = create.stdin(std::fs::File::open(&file).unwrap()).output().unwrap();
    let created: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&created["app"]["key"], &created["app"]["mode"]), (&json!(key), &json!("production")));
    let push =
        ["push", "Hello", "--audience", "all", "--yes", "--app-key", key, "--master-secret", "moved-master-secret-01"];
    story.says(&push);
    let both = story.command(&["app", "create", "Moved", "--file", "app.json"]).output().unwrap();
    assert_eq!(both.status.code(), Some(2));
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
    let rules = story.json(&["app", "named-users", &key, "--associate", "servers", "--tags", "signed"])["app"].clone();
    let wanted = json!({"associate": "servers", "tags": "signed", "attributes": "devices", "subscriptions": "devices"});
    assert_eq!(rules["named_users"], wanted);
    let shown = story.says(&["app", "named-users", &key, "--associate", "default"]);
    assert!(shown.contains("associate") && shown.contains("signed") && !shown.contains("servers"), "{shown}");

    let rotated = story.json(&["app", "rotate", &key, "--secret", "master"]);
    assert_ne!(rotated["master_secret"], created["master_secret"]);
    assert_eq!(rotated.get("app_secret"), None);
    let unsure = story.refused(&["app", "rotate", &key, "--secret", "both"]);
    assert!(unsure.contains("installed") && unsure.contains("--yes"), "{unsure}");
    let rotated = story.json(&["app", "rotate", &key, "--secret", "app", "--yes"]);
    assert_ne!(rotated["app_secret"], created["app_secret"]);
    assert_eq!(rotated.get("master_secret"), None);

    let again = story.refused(&["app", "create", "Twice", "--key", KEY]);
    assert!(again.contains("409"), "{again}");
    story.says(&["app", "delete", &key, "--yes"]);
    assert!(story.refused(&["app", "mode", &key, "production"]).contains("404"));
    assert!(!story.says(&["app", "list"]).contains(&key));
}

#[test]
fn common_models_are_made_once() {
    let story = Story::begin();
    let made = story.says(&["segments", "common-models"]);
    assert!(made.lines().count() > 5 && made.contains(" - UA Generated"), "{made}");
    let again = story.command(&["segments", "common-models"]).output().unwrap();
    assert!(again.status.success());
    assert_eq!(String::from_utf8(again.stdout).unwrap(), "");
    let skipped = String::from_utf8(again.stderr).unwrap();
    assert_eq!(skipped.lines().count(), made.lines().count(), "{skipped}");
}

#[test]
fn platforms_are_configured_without_showing_their_secrets() {
    let story = Story::begin();
    std::fs::write(story.folder.path().join("secret.txt"), "hunter2\n").unwrap();
    let fridge = ["platform", "set", KEY, "open::fridge", "https://fridge.example/hook", "--no-validate", "--auth"];
    let incomplete = story.refused(&[&fridge[..], &["signature"]].concat());
    assert!(incomplete.contains("--secret-file"), "{incomplete}");
    let set = [&fridge[..], &["signature", "--secret-file", "secret.txt"]].concat();
    assert!(story.says(&set).contains("confirmation_code"));
    let list = story.says(&["platform", "list", KEY]);
    assert!(list.contains("open::fridge") && list.contains("https://fridge.example/hook"), "{list}");
    assert!(!story.says(&["platform", "list", KEY, "--json"]).contains("hunter2"));

    let private = story.refused(&["platform", "set", KEY, "open::fridge", "http://10.0.0.1/hook", "--no-validate"]);
    assert!(private.contains("AEROGRAM_ALLOW_PRIVATE_ADDRESSES"), "{private}");
    let unsure = story.refused(&["platform", "delete", KEY, "open::fridge"]);
    assert!(unsure.contains("open::fridge with its credentials") && unsure.contains("--yes"), "{unsure}");
    story.says(&["platform", "show", KEY, "open::fridge"]);
    story.says(&["platform", "delete", KEY, "open::fridge", "--yes"]);
    assert!(story.refused(&["platform", "test", KEY, "open::fridge"]).contains("404"));
}

#[test]
fn credentials_come_from_files_and_are_proven_rotated_and_shown() {
    let story = Story::begin_with(&["--allow-private-addresses"]);
    let files = story.folder.path().join("keys");
    let keys = Keys::in_folder(&files).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let sim = runtime.block_on(Simulator::start(SimSettings { keys: Some(keys), ..SimSettings::default() })).unwrap();
    std::fs::write(files.join("account.json"), sim.service_account(true)).unwrap();
    let secret = std::fs::read_to_string(files.join("apns-key.p8")).unwrap();
    let set = |platform: &str, protocol: Protocol, rest: &[&str]| {
        let url = sim.url(protocol);
        let common = ["platform", "set", KEY, platform, "--endpoint", &url, "--endpoint-ca-file", "keys/ca.pem"];
        story.says(&[&common, rest].concat())
    };
    let ids = ["--topic", sim.topic(), "--team-id", sim::keys::APNS_TEAM_ID, "--key-id", sim::keys::APNS_KEY_ID];
    set("apns", Protocol::Apns, &[&ids[..], &["--key-file", "keys/apns-key.p8"]].concat());
    set("fcm", Protocol::Fcm, &["--service-account-file", "keys/account.json"]);
    set("webpush", Protocol::WebPush, &["--subject", "mailto:push@example.com"]);
    for platform in ["apns", "fcm", "webpush"] {
        assert_eq!(
            story.says(&["platform", "test", KEY, platform]),
            format!("{platform} accepts the configuration.\n")
        );
    }
    // A certificate as a second key, and then as the only one.
    let certificate =
        ["--certificate-file", "keys/apns-certificate.pem", "--key-file", "keys/apns-certificate-key.pem"];
    set("apns", Protocol::Apns, &[&["--add-key", "--topic", sim.topic()], &certificate[..]].concat());
    let shown = story.json(&["platform", "show", KEY, "apns"]);
    assert_eq!((&shown["keys"][0]["auth"], &shown["keys"][1]["auth"]), (&json!("token"), &json!("certificate")));
    let first = shown["keys"][0]["fingerprint"].as_str().unwrap();
    let unsure = story.refused(&["platform", "delete", KEY, "apns", "--key", first]);
    assert!(unsure.contains(first) && unsure.contains("--yes"), "{unsure}");
    assert_eq!(story.json(&["platform", "show", KEY, "apns"])["keys"].as_array().unwrap().len(), 2);
    story.says(&["platform", "delete", KEY, "apns", "--key", first, "--yes"]);
    story.says(&["platform", "test", KEY, "apns"]);

    let list = story.says(&["platform", "list", KEY]);
    assert!(list.contains(sim.topic()) && list.contains(sim::keys::FCM_PROJECT_ID), "{list}");
    let shown = story.says(&["platform", "show", KEY, "fcm"]);
    assert!(shown.contains(sim::keys::FCM_CLIENT_EMAIL), "{shown}");
    assert!(secret.lines().all(|line| !list.contains(line) && !shown.contains(line)), "{list}{shown}");
    assert!(story.refused(&["platform", "set", KEY, "adm", "--topic", "a"]).contains("client_secret"));
}

#[test]
fn provider_endpoints_keep_to_public_addresses() {
    use std::io::Write;
    let story = Story::begin();
    let arguments = ["platform", "set", KEY, "adm", "--client-id", "c", "--client-secret-file", "-"];
    let with_secret = |more: &[&str]| {
        let mut command = story.command(&[&arguments, more].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"hunter2\n").unwrap();
        child.wait_with_output().unwrap()
    };
    let refused = with_secret(&["--endpoint", "http://127.0.0.1:9"]);
    let complaint = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{complaint}");
    assert!(
        complaint.contains("endpoint.url") && complaint.contains("AEROGRAM_ALLOW_PRIVATE_ADDRESSES"),
        "{complaint}"
    );
    assert!(with_secret(&[]).status.success());
    assert_eq!(story.json(&["platform", "show", KEY, "adm"])["keys"][0]["client_id"], "c");
}

#[test]
fn events_are_shown_as_they_happen() {
    let story = Story::begin();
    let channel = register(&story.server.url);
    let mut tail = story
        .command(&["events", "tail", "--types", "push_body,SEND", "--limit", "2", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(tail.stderr.take().unwrap()).read_line(&mut ready).unwrap();
    assert!(ready.starts_with("Waiting for events"), "{ready}");
    let push = story.says(&["push", "Hello", "--yes", "--audience", r#"{"tag": "news"}"#]);
    let shown = tail.wait_with_output().unwrap();
    assert!(shown.status.success());
    let shown = String::from_utf8(shown.stdout).unwrap();
    let events: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&events[0]["type"], &events[1]["type"]), (&json!("PUSH_BODY"), &json!("SEND")));
    assert_eq!(events[1]["body"]["push_id"], push.trim());

    let first =
        story.says(&["events", "tail", "--from", "earliest", "--no-follow", "--channel", &channel, "--limit", "1"]);
    assert!(first.contains(&channel) && first.lines().count() == 1, "{first}");
    let after = events[0]["offset"].as_str().unwrap();
    let rest = story.says(&["events", "tail", "--from", after, "--no-follow"]);
    assert!(rest.contains("SEND  ") && !rest.contains("PUSH_BODY"), "{rest}");
    let wrong = story.refused(&["events", "tail", "--from", "99999999999999999", "--no-follow"]);
    assert!(wrong.contains("400 Bad Request") && wrong.contains("offset"), "{wrong}");
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

    let push = story.says(&["push", "Hello", "--yes", "--audience", r#"{"tag": "news"}"#]);
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
    let wrong = story.refused(&["push", "Hello", "--yes", "--audience", r#"{"tag": 7}"#]);
    assert!(wrong.contains("400 Bad Request") && wrong.contains("audience.tag"), "{wrong}");
}

#[test]
fn a_push_is_steered_while_its_provider_is_down() {
    let story = Story::begin_with(&["--allow-private-addresses"]);
    let files = story.folder.path().join("keys");
    let settings = SimSettings {
        keys: Some(Keys::in_folder(&files).unwrap()),
        faults: Faults { unavailable: 1.0, ..Faults::default() },
        ..SimSettings::default()
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let sim = runtime.block_on(Simulator::start(settings)).unwrap();
    std::fs::write(files.join("account.json"), sim.service_account(true)).unwrap();
    let url = sim.url(Protocol::Fcm);
    let set = ["platform", "set", KEY, "fcm", "--endpoint", &url, "--endpoint-ca-file", "keys/ca.pem"];
    story.says(&[&set[..], &["--service-account-file", "keys/account.json"]].concat());
    register(&story.server.url);

    let push = story.says(&["push", "Hello", "--audience", "all", "--yes"]);
    let push = push.trim();
    runtime.block_on(sim.wait_until(|stats| stats.of(Protocol::Fcm).unavailable > 0));
    assert!(story.says(&["push", "pause", push]).starts_with("paused\n"));
    let status = story.says(&["push", "status", push]);
    assert!(status.starts_with("paused\n") && status.contains("android"), "{status}");
    assert!(status.lines().last().unwrap().starts_with("total"), "{status}");
    assert!(story.says(&["push", "resume", push]).starts_with("sending\n"));
    let canceled = story.json(&["push", "cancel", push]);
    assert_eq!((&canceled["push"]["state"], &canceled["push"]["total"]["canceled"]), (&json!("canceled"), &json!(1)));
    crate::account_story::tells_who_was_left(&story, push);
    let refused = story.refused(&["push", "pause", push]);
    assert!(refused.contains("409") && refused.contains("was canceled"), "{refused}");
    assert!(story.refused(&["push", "status", "no-such-push"]).contains("404"));
    let mut as_operator = aerogram(story.folder.path());
    as_operator.args(["push", "status", push]).env("AEROGRAM_URL", &story.server.url);
    let output = as_operator.output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.starts_with(&format!("canceled (app {KEY})\n")) && shown.contains("fcm"), "{shown}");
    // Without the operator token either is asked for.
    let output = as_operator.args(["--data", "elsewhere"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let asked = String::from_utf8(output.stderr).unwrap();
    assert!(asked.contains("AEROGRAM_APP_KEY") && asked.contains("AEROGRAM_OPERATOR_TOKEN"), "{asked}");
    // One that cannot be used is not the same as none.
    let spoiled = story.folder.path().join("elsewhere");
    std::fs::create_dir_all(&spoiled).unwrap();
    std::fs::write(spoiled.join("operator-token"), "short").unwrap();
    let output = as_operator.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("holds no token"), "{told}");
}

#[test]
fn a_platform_is_paused_and_resumed_and_what_waits_for_it_is_listed() {
    let story = Story::begin();
    register(&story.server.url);
    let nothing = story.says(&["push", "list"]);
    assert_eq!(nothing.lines().count(), 1, "{nothing}");
    let paused = story.says(&["platform", "pause", KEY, "fcm", "--reason", "Wrong text."]);
    assert_eq!(paused, "Nothing is sent to fcm any more; pushes to it wait.\n");
    let push = story.says(&["push", "Hello", "--audience", "all", "--yes"]);
    let push = push.trim();

    // Nothing is configured: the app delivers to the sandbox.
    let list = story.says(&["platform", "list", KEY]);
    let row: Vec<&str> = list.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row, ["fcm", "paused", "not", "configured"], "{list}");
    let shown = story.says(&["platform", "show", KEY, "fcm"]);
    assert!(shown.contains("Wrong text.") && shown.contains("configured       no"), "{shown}");
    let status = loop {
        // Who gets it is found out in the background.
        let status = story.json(&["push", "status", push])["push"].clone();
        if status["state"] == "sending" {
            break status;
        }
    };
    assert_eq!(status["platforms"]["android"]["reason"], "Wrong text.");
    let waiting = story.says(&["push", "list", "--state", "sending"]);
    let row: Vec<&str> = waiting.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!((row[0], row[1], &row[3..]), (KEY, push, &["sending", "0", "1", "fcm:", "Wrong", "text."][..]));
    assert_eq!(story.says(&["push", "list", "--state", "paused"]).lines().count(), 1);
    story.says(&["push", "Hello again", "--audience", "all", "--yes"]);
    let limited = story.says(&["push", "list", "--limit", "1"]);
    assert!(limited.contains(push) && limited.contains("There are more"), "{limited}");

    assert_eq!(story.says(&["platform", "resume", KEY, "fcm"]), "Deliveries to fcm go on.\n");
    let sent = story.says(&["events", "tail", "--types", "SEND", "--from", "earliest", "--limit", "2"]);
    assert!(sent.contains(push), "{sent}");
    assert_eq!(story.json(&["sandbox"])["deliveries"].as_array().unwrap().len(), 2);
    assert!(story.refused(&["platform", "show", KEY, "fcm"]).contains("404"));
    assert!(story.refused(&["platform", "pause", KEY, "open::unheard-of"]).contains("404"));
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
pub(crate) async fn register(url: &str) -> String {
    let channel = json!({ "channel": {
        "device_type": "android", "opt_in": true, "push_address": "address", "set_tags": true, "tags": ["news"],
    }});
    let device = Caller::new(url.to_owned()).basic(KEY, APP_SECRET);
    let answer = device.post("/api/channels", channel).await.expect(201);
    answer["channel_id"].as_str().unwrap().to_owned()
}
