//! The parts of bodies that calls which are served refuse or take without effect. Each is sent once, beside the same body without
//! it: so nothing else is refused, and what has no effect changes nothing.

use std::fmt::Write;

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::Reply;

use super::Outcome;

/// Tab-separated: what the part is of, its name, what becomes of it, the method, the path, a body with the part, where in the body
/// it is, and what stands there without it, if anything.
const PARTS: &str = include_str!("parts.tsv");

const ABOUT: &str = "Calls that are served may refuse parts of their bodies, and take some without effect. The test sends each of these, \
and sees that the same body without it succeeds; what is without effect makes no difference to what devices get.";

/// A device that pushes reach.
const CHANNEL: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d6";

struct Part {
    area: &'static str,
    name: &'static str,
    claim: Claim,
    method: &'static str,
    path: String,
    with: Value,
    without: Value,
}

/// What becomes of a part. One that is refused is refused whatever is claimed of it.
#[derive(Clone, Copy)]
enum Claim {
    /// It is not in the table once it is served.
    Refused,
    WithoutEffect,
    /// An audience that nobody is in.
    Nobody,
    /// Devices are given a text as it is written.
    AsWritten,
}

/// The table of the parts.
pub(super) async fn table(app: &TestApp) -> String {
    let known = prepare(app).await;
    let mut rows = String::new();
    for part in PARTS.lines().filter(|line| !line.starts_with('#')).map(|line| Part::read(line, &known)) {
        if let Some(outcome) = part.outcome(app).await {
            writeln!(rows, "| {} | {} | {} |", part.area, part.name, outcome.replace('|', "\\|")).unwrap();
        }
    }
    format!("\n## Parts of bodies\n\n{ABOUT}\n\n| in | part | here |\n|---|---|---|\n{rows}")
}

/// Makes what the bodies are about, and answers what it is called.
async fn prepare(app: &TestApp) -> Vec<(&'static str, String)> {
    let device = json!({"channel": {"device_type": "ios", "opt_in": true, "push_address": "CD".repeat(32)}});
    let made = app.master().put(&format!("/api/channels/{CHANNEL}"), device).await;
    assert!(made.status.is_success(), "{}", made.text());
    let uploaded = app.master().post("/api/bulk/ios", format!("ua_channel_id\n{CHANNEL}\n")).await.expect(200);
    let list = json!({"name": "parts", "add": {"g": ["t"]}});
    app.master().post("/api/tag-lists", list).await.expect(201);
    app.step_all().await;
    let upload = uploaded["bulk_id"].as_str().unwrap().to_owned();
    vec![("{channel}", CHANNEL.to_owned()), ("{app_key}", app.app.key.clone()), ("{bulk_id}", upload)]
}

impl Part {
    fn read(line: &'static str, known: &[(&'static str, String)]) -> Self {
        let [area, name, claim, method, path, body, place, instead] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("eight cells: {line}")
        };
        let fill = |text: &str| known.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value));
        let read =
            |text: &str| serde_json::from_str::<Value>(&fill(text)).unwrap_or_else(|error| panic!("{error}: {text}"));
        let claim = match claim {
            "refused" => Claim::Refused,
            "without effect" => Claim::WithoutEffect,
            "nobody" => Claim::Nobody,
            "as written" => Claim::AsWritten,
            other => panic!("{other} is no claim: {line}"),
        };
        let with = read(body);
        let mut without = with.clone();
        if !instead.is_empty() {
            *without.pointer_mut(place).unwrap() = read(instead);
        } else if let Some((parent, key)) = place.rsplit_once('/') {
            without.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key).unwrap();
        }
        assert_ne!(with, without, "{line}");
        Self { area, name, claim, method, path: fill(path), with, without }
    }

    /// `None` if the part is served.
    async fn outcome(&self, app: &TestApp) -> Option<String> {
        let usual = self.call(app, &self.without).await;
        assert!(usual.status.is_success(), "{} without {}: {}", self.path, self.name, usual.text());
        let usual = sent(app, &usual).await;
        let reply = self.call(app, &self.with).await;
        if !reply.status.is_success() {
            return Some(refusal(&reply));
        }
        let sent = sent(app, &reply).await;
        match self.claim {
            Claim::Refused => None,
            Claim::WithoutEffect => {
                assert_eq!(sent, usual, "{} makes a difference", self.name);
                assert!(!sent.is_empty(), "{} is about a push that reaches nobody", self.name);
                Some("taken without effect".to_owned())
            }
            Claim::Nobody => {
                assert!(!usual.is_empty() && sent.is_empty(), "{} is true of somebody", self.name);
                Some("taken, and nobody is meant".to_owned())
            }
            Claim::AsWritten => {
                let path = format!("/api/remote-data/app/{}/ios", app.app.key);
                let shown = app.nobody().get(&path).await.expect(200).to_string();
                shown.contains("{{").then(|| "taken, and shown as it is written".to_owned())
            }
        }
    }

    async fn call(&self, app: &TestApp, body: &Value) -> Reply {
        // What is no JSON is a text.
        let text = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
        let reply = app.master().call(self.method.parse().unwrap(), &self.path, text).await;
        app.step_all().await;
        reply
    }
}

fn refusal(reply: &Reply) -> String {
    let path = reply.json()["details"]["path"].as_str().map(|path| format!("`{path}`: ")).unwrap_or_default();
    match Outcome::of(reply) {
        Outcome::Served => panic!("{} is no refusal", reply.status),
        Outcome::NothingThere(sentence) => format!("404: {path}{sentence}"),
        Outcome::Refused(status, sentence) => format!("{status}: {path}{sentence}"),
    }
}

/// What devices get of an accepted push, without the ids in it; nothing of other calls.
async fn sent(app: &TestApp, reply: &Reply) -> Vec<(Value, Value)> {
    let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    let Some(push) = answer["push_ids"][0].as_str() else { return Vec::new() };
    let sandbox = app.master().get(&format!("/api/sandbox?limit=1000&push_id={push}")).await.expect(200);
    let deliveries = sandbox["deliveries"].as_array().unwrap().iter();
    deliveries.map(|one| (one["channel_id"].clone(), one["request"]["body"]["aps"].clone())).collect()
}
