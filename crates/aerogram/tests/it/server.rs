//! The program running as a server, started and stopped as an operator would.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::Value;

const SERVING: &str = "serving";

pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
    /// What it says on standard output until it ends.
    stdout: Option<std::process::ChildStdout>,
    log: Option<std::thread::JoinHandle<String>>,
}

pub(crate) fn aerogram(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aerogram"));
    // Tests keep their connections, and a server that stops would wait for their next request.
    command.current_dir(folder).env_clear().env("AEROGRAM_DRAIN_SECONDS", "0");
    command
}

impl Server {
    /// Starts on a free port and returns when it serves.
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::start_at(folder, "127.0.0.1:0", arguments)
    }

    /// Starts on a certain port, as one that is started again does.
    pub(crate) fn start_at(folder: &Path, listen: &str, arguments: &[&str]) -> Self {
        let mut command = aerogram(folder);
        command.args(["serve", "--listen", listen, "--log", "json"]).args(arguments);
        Self::start_command(command)
    }

    /// Starts on a disk on which no file grows beyond some ten kilobytes.
    pub(crate) fn start_on_full_disk(folder: &Path) -> Self {
        let mut command = Command::new("/bin/sh");
        // The soft limit, which can be raised again; and a write beyond it is to fail, not to end the process.
        command.args(["-c", r#"trap '' XFSZ; ulimit -S -f 128; exec "$0" "$@""#, env!("CARGO_BIN_EXE_aerogram")]);
        command.args(["serve", "--listen", "127.0.0.1:0", "--log", "json"]).current_dir(folder).env_clear();
        Self::start_command(command)
    }

    /// Starts where few files may be open unless the program asks for more.
    pub(crate) fn start_with_few_files(folder: &Path) -> Self {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", r#"ulimit -S -n 256; exec "$0" "$@""#, env!("CARGO_BIN_EXE_aerogram")]);
        command.args(["serve", "--listen", "127.0.0.1:0", "--log", "json"]).current_dir(folder).env_clear();
        Self::start_command(command)
    }

    /// Makes room on the disk of [`Server::start_on_full_disk`].
    pub(crate) fn make_room(&self) {
        prlimit(Some(Pid::from_child(&self.child)), Resource::Fsize, Rlimit { current: None, maximum: None }).unwrap();
    }

    /// Starts and returns when it has said something in its log as well.
    pub(crate) fn start_and_hear(folder: &Path, message: &str) -> Self {
        let mut command = aerogram(folder);
        command.args(["serve", "--listen", "127.0.0.1:0", "--log", "json"]);
        Self::start_until(command, message)
    }

    pub(crate) fn start_command(command: Command) -> Self {
        Self::start_until(command, SERVING)
    }

    fn start_until(mut command: Command, message: &str) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        let (mut url, mut is_heard) = (None, false);
        let url = loop {
            if let (Some(url), true) = (&url, is_heard) {
                break format!("http://{url}");
            }
            let start = said.len();
            assert_ne!(log.read_line(&mut said).unwrap(), 0, "the server ended:\n{said}");
            let Ok(line) = serde_json::from_str::<Value>(&said[start..]) else { continue };
            is_heard |= line["message"] == message;
            if line["message"] == SERVING {
                url = Some(line["listen"].as_str().unwrap().to_owned());
            }
        };
        let stdout = child.stdout.take();
        // Read on, so that the server never waits for its log to be read.
        let log = std::thread::spawn(move || {
            log.read_to_string(&mut said).unwrap();
            said
        });
        Self { child, url, stdout, log: Some(log) }
    }

    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Has it stand still. The signal takes effect when one of its threads sees it, before which the others go on; so this waits
    /// until all of them have stopped.
    pub(crate) fn pause(&self) {
        self.signal("STOP");
        while !self.stands_still() {
            std::thread::yield_now();
        }
    }

    fn stands_still(&self) -> bool {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.process())).unwrap();
        threads.flatten().all(|thread| {
            // A thread that has just ended has no state any more. The state follows the name, which may have any characters.
            let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
            let Some((_, state)) = stat.rsplit_once(") ") else { return true };
            assert!(!state.starts_with(['Z', 'X']), "the server has ended");
            state.starts_with('T')
        })
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// The memory that the system says it has.
    pub(crate) fn resident_mib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() / 1024
    }

    /// Waits for the end. Returns the exit code (`None` after a signal), standard output and the log.
    pub(crate) fn wait(mut self) -> (Option<i32>, String, String) {
        let mut said = String::new();
        self.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        let code = self.child.wait().unwrap().code();
        (code, said, self.log.take().unwrap().join().unwrap())
    }
}

impl Drop for Server {
    /// A failed test leaves no server behind.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
