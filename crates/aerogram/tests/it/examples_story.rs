//! The examples in the help of every command, run by a shell against a server with a fresh app.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::operator_story::{KEY, MASTER_SECRET, Story, register};
use crate::web_story::PUBLIC_KEY;

/// Examples that cannot run here, by their beginnings, and why.
const NOT_RUN: [(&str, &str); 11] = [
    ("aerogram serve", "goes on until it is stopped"),
    ("aerogram sim --", "goes on until it is stopped"),
    ("aerogram sim\n", "goes on until it is stopped"),
    ("aerogram sandbox --follow", "goes on until it is stopped"),
    ("aerogram events tail --channel", "goes on until it is stopped"),
    ("aerogram migrate", "needs a database that no server uses"),
    ("aerogram secrets accept", "needs a database that no server uses"),
    ("aerogram copy", "needs PostgreSQL"),
    ("AEROGRAM_AIRSHIP_KEY", "needs another service; `import_story` runs it"),
    ("aerogram webhook test", "needs somebody who takes events"),
    ("aerogram push resume", "needs a push that is held back"),
];

/// The lines below "Examples:" in the help of a command, and in that of all commands below it.
fn collect(story: &Story, words: &[&str], found: &mut Vec<String>) {
    let help = story.says(&[words, &["--help"]].concat());
    let (_, examples) = help.split_once("Examples:\n").unwrap_or_else(|| panic!("{words:?} has no examples: {help}"));
    found.extend(examples.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()));
    let Some((_, below)) = help.split_once("\nCommands:\n") else { return };
    let names = below.lines().take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    for name in names.filter_map(|line| line.split_whitespace().next()) {
        collect(story, &[words, &[name]].concat(), found);
    }
}

/// Makes what the words in capitals of an example stand for, anew for each: some examples delete it.
struct Maker<'a> {
    story: &'a Story,
    /// An app besides the one that commands log in as.
    key: String,
    channel: String,
}

impl<'a> Maker<'a> {
    fn new(story: &'a Story) -> Self {
        let key = story.json(&["app", "create", "Another"])["app"]["key"].as_str().unwrap().to_owned();
        story.says(&["platform", "set", &key, "webpush", "--subject", "mailto:push@example.com"]);
        story.says(&["app", "rotate", &key, "--secret", "master", "--overlap-hours", "1"]);
        let channel = register(&story.server.url);
        story.says(&["user", "associate", "jo", &channel]);
        Self { story, key, channel }
    }

    fn made(&self, kind: &str) -> String {
        self.story.says(&[kind, "create", &format!("{kind}.json")]).trim().to_owned()
    }

    fn value(&self, word: &str) -> String {
        let id = |answer: &Value, pointer: &str| answer.pointer(pointer).unwrap().as_str().unwrap().to_owned();
        let json = |arguments: &[&str]| self.story.json(arguments);
        match word {
            "KEY" => self.key.clone(),
            "CHANNEL_ID" => self.channel.clone(),
            "PUSH_ID" => self.story.says(&["push", "Hello", "--audience", "all", "--yes"]).trim().to_owned(),
            "TOKEN_ID" => id(&json(&["token", "create", &self.key, "A", "--role", "viewer"]), "/token_id"),
            "CLIENT_ID" => id(&json(&["oauth-client", "create", &self.key, "A", "--role", "viewer"]), "/client_id"),
            "WEBHOOK_ID" => {
                let url = "https://events.example.com/in";
                id(&json(&["webhook", "add", &self.key, url, "--disabled"]), "/webhook/webhook_id")
            }
            "PLACE_ID" => id(&json(&["location", "search", "Portland"]), "/features/0/id"),
            "PRIVACY_ID" => self.story.says(&["privacy", "erase", "--named-user", "ann", "--yes"]).trim().to_owned(),
            "SEGMENT_ID" => self.made("segment"),
            "SCHEDULE_ID" => self.made("schedule"),
            "EXPERIMENT_ID" => self.made("experiment"),
            "PIPELINE_ID" => self.made("pipeline"),
            "TEMPLATE_ID" => self.made("template"),
            other => panic!("The test does not know what '{other}' in an example stands for."),
        }
    }

    /// The example with values.
    fn filled(&self, example: &str) -> String {
        let is_word = |word: &str| word == "KEY" || word.ends_with("_ID");
        let words = example.split(' ').map(|word| if is_word(word) { self.value(word) } else { word.to_owned() });
        words.collect::<Vec<_>>().join(" ")
    }
}

/// The files that examples name.
fn write_files(folder: &Path) {
    let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hello"}});
    let (later, daily) = (json!({"scheduled_time": "2099-01-01T00:00:00"}), json!({"type": "daily", "count": 1}));
    let variant = |alert: &str| json!({"push": {"notification": {"alert": alert}}, "schedule": later});
    let repeated = json!({"scheduled_time": "2099-01-01T00:00:00", "recurring": {"cadence": daily}});
    let triggered = json!({"audience": "triggered", "device_types": "all", "notification": {"alert": "Hi"}});
    let channel = json!({"device_type": "ios", "opt_in": true, "push_address": "AB".repeat(32)});
    let endpoint = json!({"ChannelType": "GCM", "Address": "a-token", "EndpointStatus": "ACTIVE", "OptOut": "NONE"});
    let texts = BTreeMap::from([
        ("push.json", push.to_string()),
        ("segment.json", json!({"display_name": "News", "criteria": {"tag": "news"}}).to_string()),
        ("schedule.json", json!({"name": "Later", "schedule": repeated, "push": push}).to_string()),
        ("template.json", json!({"name": "T", "variables": [], "push": {"notification": {"alert": "Hi"}}}).to_string()),
        (
            "pipeline.json",
            json!({"name": "P", "enabled": true, "immediate_trigger": "first_open", "outcome": {"push": triggered}})
                .to_string(),
        ),
        (
            "experiment.json",
            json!({"name": "E", "audience": "all", "device_types": "all", "variants": [variant("A"), variant("B")]})
                .to_string(),
        ),
        ("vips.csv", "named_user,jo\n".to_owned()),
        ("channels.jsonl", format!("{channel}\n")),
        ("devices.csv", format!("token,plan\n{},gold\n", "CD".repeat(32))),
        ("players.csv", "id,identifier,device_type\n00000000-0000-4000-8000-000000000001,abc,1\n".to_owned()),
        ("part-0.jsonl", format!("{endpoint}\n")),
        ("part-1.jsonl", format!("{endpoint}\n")),
        ("public.pem", PUBLIC_KEY.to_owned()),
    ]);
    for (name, text) in texts {
        std::fs::write(folder.join(name), text).unwrap();
    }
}

#[test]
fn every_example_works() {
    let story = Story::begin_with(&["--allow-private-addresses"]);
    let folder = story.folder.path();
    write_files(folder);
    let keys = sim::Keys::in_folder(&folder.join("keys")).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let settings = sim::SimSettings { keys: Some(keys), ..sim::SimSettings::default() };
    let simulator = runtime.block_on(sim::Simulator::start(settings)).unwrap();
    std::fs::write(folder.join("service-account.json"), simulator.service_account(false)).unwrap();
    std::fs::copy(folder.join("keys/apns-key.p8"), folder.join("AuthKey.p8")).unwrap();
    story.says(&["list", "create", "--set", "name=vips"]);
    // Pushes wait, so that they can be steered.
    story.says(&["platform", "pause", KEY, "fcm"]);

    let mut examples = Vec::new();
    collect(&story, &[], &mut examples);
    let mut seen = std::collections::BTreeSet::new();
    examples.retain(|example| seen.insert(example.clone()));
    assert!(examples.len() > 120, "{}", examples.len());
    let program = Path::new(env!("CARGO_BIN_EXE_aerogram")).parent().unwrap().display().to_string();
    let mut failed = Vec::new();
    for example in examples {
        if NOT_RUN.iter().any(|(begin, _)| format!("{example}\n").starts_with(begin)) {
            continue;
        }
        let is_about = example.split(' ').any(|word| word == "KEY" || word == "jo" || word.ends_with("_ID"));
        let line = if is_about { Maker::new(&story).filled(&example) } else { example.clone() };
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &line]).current_dir(folder).env_clear().env("PATH", &program);
        shell.env("AEROGRAM_URL", &story.server.url).env("AEROGRAM_APP_KEY", KEY);
        let output = shell.env("AEROGRAM_MASTER_SECRET", MASTER_SECRET).output().unwrap();
        if !output.status.success() {
            failed.push(format!("{line}\n  {}", String::from_utf8_lossy(&output.stderr).trim()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
