//! A staging server against the simulator, by the commands that the documentation names.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::server::{Server, aerogram};

const KEY: &str = "story-app-key-00000001";
const APP_SECRET: &str = "story-app-secret-00001";
const MASTER_SECRET: &str = "story-master-secret-01";
const N_PLATFORMS: usize = 6;

/// The simulator as a program of its own.
struct Sim {
    child: Child,
    /// What it prints to be pasted.
    commands: Vec<String>,
}

impl Sim {
    fn start(folder: &Path) -> Self {
        let mut child = aerogram(folder)
            .args(["sim", "--listen", "127.0.0.1:0", "--plain-listen", "127.0.0.1:0", "--app", KEY, "--decrypt"])
            .args(["--throttled", "0.1", "--gone", "0.1", "--retry-after", "0", "--latency", "1ms", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let told: Value = serde_json::from_str(&said).unwrap();
        let commands = told["commands"].as_array().unwrap().iter();
        let commands: Vec<String> = commands.map(|command| command.as_str().unwrap().to_owned()).collect();
        assert_eq!(commands.len(), N_PLATFORMS, "{told}");
        Self { child, commands }
    }

    /// The URL behind a word of one of the commands.
    fn root(&self) -> &str {
        let mut words = self.commands[0].split(' ').skip_while(|word| *word != "--endpoint");
        words.nth(1).unwrap()
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn a_push_reaches_simulated_devices_of_every_platform() {
    let folder = tempfile::tempdir().unwrap();
    let sim = Sim::start(folder.path());
    let app = ["--app-key", KEY, "--app-secret", APP_SECRET, "--master-secret", MASTER_SECRET];
    let server = Server::start(folder.path(), &[app.as_slice(), &["--allow-private-addresses"]].concat());
    let says = |arguments: &[&str]| {
        let mut command = aerogram(folder.path());
        command.args(arguments).env("AEROGRAM_URL", &server.url);
        command.env("AEROGRAM_APP_KEY", KEY).env("AEROGRAM_MASTER_SECRET", MASTER_SECRET);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    says(&["app", "mode", KEY, "production"]);
    for command in &sim.commands {
        says(&command.split(' ').skip(1).collect::<Vec<_>>());
    }
    for platform in ["apns", "fcm", "adm", "wns", "webpush"] {
        says(&["platform", "test", KEY, platform]);
    }
    let platforms = "ios,android,amazon,wns,web,open";
    let made = says(&["sim", "devices", "--n", "60", "--platforms", platforms, "--simulator", sim.root(), "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&made).unwrap()["registered"], 60);
    let push = says(&["push", "Hello", "--audience", "all", "--yes"]);

    // Each question takes long enough not to be a nuisance.
    let total = loop {
        let answer: Value = serde_json::from_str(&says(&["push", "status", push.trim(), "--json"])).unwrap();
        if answer["push"]["state"] == "done" {
            break answer["push"]["total"].clone();
        }
    };
    let count = |name: &str| total[name].as_u64().unwrap();
    assert_eq!((count("targeted"), count("delivered") + count("gone"), count("failed")), (60, 60, 0), "{total}");
    assert!((1..20).contains(&count("gone")), "{total}");
}
