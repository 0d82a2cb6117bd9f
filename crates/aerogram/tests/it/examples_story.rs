//! The examples in the help of every command, run by a shell: against a server with a fresh app, beside one that was stopped, or
//! until they say that they are ready.

mod apart;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use testkit::event_receiver::EventReceiver;

use crate::operator_story::{KEY, MASTER_SECRET, Story, register};
use crate::web_story::PUBLIC_KEY;
use apart::Apart;

/// An example that needs another service, by its beginning; `import_story` runs it.
const OF_ANOTHER_SERVICE: &str = "AEROGRAM_AIRSHIP_KEY";

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
    /// Where a webhook sends to.
    receiver: &'a EventReceiver,
}

impl<'a> Maker<'a> {
    fn new(story: &'a Story, receiver: &'a EventReceiver) -> Self {
        let key = story.json(&["app", "create", "Another"])["app"]["key"].as_str().unwrap().to_owned();
        story.says(&["platform", "set", &key, "webpush", "--subject", "mailto:push@example.com"]);
        story.says(&["app", "rotate", &key, "--secret", "master", "--overlap-hours", "1"]);
        let channel = register(&story.server.url);
        story.says(&["user", "associate", "jo", &channel]);
        Self { story, key, channel, receiver }
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
                let url = self.receiver.url();
                id(&json(&["webhook", "add", &self.key, &url, "--disabled"]), "/webhook/webhook_id")
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
        let filled = words.collect::<Vec<_>>().join(" ");
        if let Some(push) = filled.strip_prefix("aerogram push resume ") {
            self.story.says(&["push", "pause", push]);
        }
        filled
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
        ("gold.csv", "named_user\njo\n".to_owned()),
        ("crm.csv", "named_user,plan\njo,gold\n".to_owned()),
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

/// A shell that finds the program, and nothing else of ours.
fn shell(folder: &Path, line: &str) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_aerogram")).parent().unwrap();
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", line]).current_dir(folder).env_clear().env("PATH", program);
    shell
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
    let receiver = runtime.block_on(EventReceiver::start());
    let apart = Apart::new();
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
    let mut failed = Vec::new();
    for example in examples.iter().filter(|example| !example.starts_with(OF_ANOTHER_SERVICE)) {
        let is_about = example.split(' ').any(|word| word == "KEY" || word == "jo" || word.ends_with("_ID"));
        let line = if is_about { Maker::new(&story, &receiver).filled(example) } else { example.clone() };
        let told = apart.run(&line).unwrap_or_else(|| {
            let mut shell = shell(folder, &line);
            shell.env("AEROGRAM_URL", &story.server.url).env("AEROGRAM_APP_KEY", KEY);
            shell.env("AEROGRAM_MASTER_SECRET", MASTER_SECRET);
            apart::run(shell, &line)
        });
        if let Err(complaint) = told {
            failed.push(format!("{line}\n  {complaint}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
