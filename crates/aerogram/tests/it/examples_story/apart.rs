//! Examples that run apart from the server of the others: those that need a service that was stopped, and those that go on until
//! somebody stops them.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use store::DatabaseUrl;
use tempfile::TempDir;
use testkit::store::{Database, Home, databases};

use super::shell;
use crate::server::Server;

/// So long an example that goes on may take until it is ready, on the busiest machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Examples that go on until they are stopped, by their beginnings, and what each says when it is ready.
const GO_ON: [(&str, &str); 4] = [
    ("aerogram serve", "serving"),
    ("aerogram sim", "aerogram platform set KEY open::sim"),
    ("aerogram sandbox --follow", "Waiting for deliveries."),
    ("aerogram events tail --channel", "Waiting for events."),
];
/// Examples that need a database that no server uses.
const STOPPED: [&str; 3] = ["aerogram migrate", "aerogram copy", "aerogram secrets accept"];

/// The folder of a service that was stopped, and where it can be copied to.
pub(super) struct Apart {
    folder: TempDir,
    target: Home,
}

impl Apart {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path(), &[]);
        server.signal("TERM");
        assert_eq!(server.wait().0, Some(0));
        let database = if databases().contains(&Database::Postgres) { Database::Postgres } else { Database::Sqlite };
        Self { folder, target: Home::new(database) }
    }

    /// Runs an example that needs no server, or is one. `None` if it is not of that kind.
    pub(super) fn run(&self, line: &str) -> Option<Result<(), String>> {
        let is_server =
            line.starts_with("aerogram serve") || line == "aerogram sim" || line.starts_with("aerogram sim --");
        if !is_server && !STOPPED.iter().any(|begin| line.starts_with(begin)) {
            return None;
        }
        let target = match &self.target.url {
            DatabaseUrl::Sqlite(path) => format!("sqlite:{}", path.display()),
            DatabaseUrl::Postgres(url) => url.clone(),
        };
        // Ports that are free here, and a database that is there.
        let mut line = line.replace(":8080", ":0").replace("postgres://aerogram@db.example.com/aerogram", &target);
        if line.starts_with("aerogram sim") {
            line += " --listen 127.0.0.1:0 --plain-listen 127.0.0.1:0";
        }
        let mut shell = shell(self.folder.path(), &line);
        shell.env("AEROGRAM_LISTEN", "127.0.0.1:0").env("AEROGRAM_DRAIN_SECONDS", "0");
        Some(run(shell, &line))
    }
}

/// Runs an example in its shell, until it ends or says that it is ready.
pub(super) fn run(shell: Command, line: &str) -> Result<(), String> {
    match readiness(line) {
        Some(ready) => until(&shell, ready),
        None => to_the_end(shell),
    }
}

/// What an example says when it is ready, if it does not end by itself.
fn readiness(line: &str) -> Option<&'static str> {
    let goes_on = GO_ON.iter().find(|(begin, _)| line.starts_with(begin) && !line.starts_with("aerogram sim devices"));
    goes_on.map(|(_, ready)| *ready)
}

fn to_the_end(mut command: Command) -> Result<(), String> {
    let output = command.output().unwrap();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()) }
}

/// Runs a shell's one command until it has said something, and then stops it as a service manager would.
fn until(line: &Command, ready: &str) -> Result<(), String> {
    let arguments: Vec<_> = line.get_args().map(|argument| argument.to_str().unwrap().to_owned()).collect();
    let mut command = Command::new(line.get_program());
    command.arg("-c").arg(format!("exec {} 2>&1", arguments[1])).env_clear();
    command.envs(line.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(line.get_current_dir().unwrap()).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (said, lines) = mpsc::channel();
    let output = BufReader::new(child.stdout.take().unwrap());
    // Read on, so that it never waits for its output to be read.
    let reading = std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            drop(said.send(line));
        }
    });
    let mut heard = Vec::new();
    let is_ready = loop {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) if line.contains(ready) => break true,
            Ok(line) => heard.push(line),
            Err(_) => break false,
        }
    };
    // It may have ended by itself, too early.
    let _ = kill_process(Pid::from_child(&child), Signal::TERM);
    let status = child.wait().unwrap();
    reading.join().unwrap();
    // What only shows something ends as any program does.
    let is_well = status.success() || status.signal() == Some(Signal::TERM.as_raw());
    if is_ready && is_well { Ok(()) } else { Err(format!("{status}: {}", heard.join("\n  "))) }
}
