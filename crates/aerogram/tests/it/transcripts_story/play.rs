//! One playing of a story: a server of its own with three devices, and a shell for each command.

use std::path::Path;
use std::process::{Command, Stdio};

use testkit::event_receiver::EventReceiver;
use tokio::runtime::Runtime;

use crate::operator_story::{KEY, MASTER_SECRET, Story};
use crate::terminal::Terminal;

use super::screen::Screen;
use super::script::{Outcome, Step};
use super::words::Words;

/// What asks ends so.
const PROMPT: &str = "[y/N] ";

/// An iPhone and an Android phone of one person, and an Android phone of nobody in particular.
const DEVICES: [(&str, &str); 3] = [
    (
        "0190a000-0000-4000-8000-000000000001",
        r#""ios", "push_address": "aa", "named_user_id": "ann", "tags": ["news", "vip"]"#,
    ),
    (
        "0190a000-0000-4000-8000-000000000002",
        r#""android", "push_address": "b", "named_user_id": "ann", "tags": ["news"]"#,
    ),
    ("0190a000-0000-4000-8000-000000000003", r#""android", "push_address": "c", "tags": ["sport"]"#),
];

pub(super) struct Scene {
    story: Story,
    words: Words,
    /// Where webhooks can send to. It takes everything.
    _receiver: EventReceiver,
}

impl Scene {
    pub(super) fn new(runtime: &Runtime) -> Self {
        // What the system allows does not matter to these few.
        let few = ["--connections", "100", "--live-connections", "100", "--allow-private-addresses"];
        let (story, mut words) = (Story::begin_with(&few), Words::default());
        let receiver = runtime.block_on(EventReceiver::start());
        words.know_place(&receiver.url(), "RECEIVER");
        let token = "a".repeat(64);
        let line = |(id, rest): &(&str, &str)| {
            let rest = rest.replace("\"aa\"", &format!("{token:?}"));
            format!("{{\"channel_id\": {id:?}, \"opt_in\": true, \"set_tags\": true, \"device_type\": {rest}}}\n")
        };
        let devices = story.folder.path().join("devices.jsonl");
        std::fs::write(&devices, DEVICES.iter().map(line).collect::<String>()).unwrap();
        story.says(&["import", "jsonl", "devices.jsonl"]);
        std::fs::remove_file(devices).unwrap();
        for (number, (id, _)) in DEVICES.iter().enumerate() {
            words.know(id, &format!("CHANNEL-{}", number + 1));
        }
        Self { story, words, _receiver: receiver }
    }

    pub(super) fn play_on_terminal(&mut self, step: &Step) -> Outcome {
        let mut terminal = Terminal::start(self.shell(step));
        if let Some(answer) = &step.answer
            && terminal.shows(PROMPT)
        {
            terminal.types(answer);
        }
        let (code, written) = terminal.end();
        let screen = Screen::of(&written);
        let output = self.told(step, &screen.lines().join("\n"));
        Outcome { output, errors: Vec::new(), is_colored: screen.is_colored, code: code.unwrap() }
    }

    pub(super) fn play_in_pipe(&mut self, step: &Step) -> Outcome {
        let output = self.shell(step).stdin(Stdio::null()).output().unwrap();
        let mut told = |bytes: &[u8]| self.told(step, String::from_utf8_lossy(bytes).trim_end());
        let (shown, errors) = (told(&output.stdout), told(&output.stderr));
        Outcome { output: shown, errors, is_colored: false, code: output.status.code().unwrap() }
    }

    fn shell(&self, step: &Step) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_aerogram")).parent().unwrap().display();
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &self.words.filled(&step.command)]).current_dir(self.story.folder.path()).env_clear();
        shell.env("PATH", format!("{program}:/usr/bin:/bin")).env("TERM", "xterm");
        shell.env("AEROGRAM_URL", &self.story.server.url);
        shell.env("AEROGRAM_APP_KEY", KEY).env("AEROGRAM_MASTER_SECRET", MASTER_SECRET);
        shell
    }

    fn told(&mut self, step: &Step, output: &str) -> Vec<String> {
        self.words.told(&step.command, output).lines().map(|line| line.trim_end().to_owned()).collect()
    }
}
