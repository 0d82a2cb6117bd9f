//! The measured program: the release build of `aerogram`, as a process of its own.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::http::{Connection, request};
use crate::usage::Process;

pub(crate) const APP_KEY: &str = "benchmark_key_00000000";
const APP_SECRET: &str = "benchmark_app_00000000";
const MASTER_SECRET: &str = "benchmark_master_00000";
const OPERATOR_TOKEN: &str = "the-operator-of-the-benchmark";

/// The key of all nodes of one database.
const SECRETS_KEY: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const LOG: &str = "node.log";

/// The file of the database in the folder of a server.
pub(crate) const DATABASE: &str = "aerogram.db";
/// The key with which secrets are sealed, in the same folder.
pub(crate) const KEY_FILE: &str = "aerogram-data/secrets.key";

pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

pub(crate) fn refuse_debug_build() -> Result<()> {
    ensure!(!cfg!(debug_assertions), "A debug build says nothing about speed; use `cargo run --release -p bench`.");
    Ok(())
}

/// Builds the server, so that one command measures the sources as they are.
pub(crate) fn build() -> Result<()> {
    let mut cargo = Command::new(env!("CARGO"));
    // Both, because building one of them alone would build their common dependencies once more with other features.
    cargo
        .args(["build", "--quiet", "-p", "aerogram", "-p", "bench"])
        .args((!cfg!(debug_assertions)).then_some("--release"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    // `cargo run` sets variables about this package, which would make dependencies that read them build once more.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
            cargo.env_remove(name);
        }
    }
    let built = cargo.output().context("cargo cannot be started")?;
    ensure!(built.status.success(), "The server cannot be built:\n{}", String::from_utf8_lossy(&built.stderr));
    Ok(())
}

/// The server that was built with this program.
pub(crate) fn program() -> Result<PathBuf> {
    Ok(std::env::current_exe().context("this program has no path")?.with_file_name("aerogram"))
}

/// What devices do faster here than a node lets those of one app.
const UNLIMITED: [&str; 8] = [
    "CHANNELS_PER_MINUTE",
    "TAGS_PER_MINUTE",
    "TAGS",
    "PROPERTIES_PER_MINUTE",
    "NAMED_USERS_PER_MINUTE",
    "ATTRIBUTES_PER_MINUTE",
    "EVENTS_PER_MINUTE",
    "UPLOADS_PER_MINUTE",
];

impl Server {
    /// Starts on the data of a folder and returns when requests are accepted.
    pub(crate) fn start(folder: &Path) -> Result<Self> {
        Self::start_on(folder, &format!("sqlite:{DATABASE}"))
    }

    /// Starts in a folder, on any database.
    pub(crate) fn start_on(folder: &Path, database: &str) -> Result<Self> {
        Self::spawn(&program()?, folder, database, ANY_PORT, None)
    }

    /// As [`Server::start_on`], of another build.
    pub(crate) fn start_program(program: &Path, folder: &Path, database: &str) -> Result<Self> {
        Self::spawn(program, folder, database, ANY_PORT, None)
    }

    /// Starts one of several nodes, whose log is kept in its folder.
    pub(crate) fn start_node(folder: &Path, database: &str, listen: SocketAddr) -> Result<Self> {
        let log =
            OpenOptions::new().create(true).append(true).open(folder.join(LOG)).context("a log cannot be kept")?;
        Self::spawn(&program()?, folder, database, listen, Some(log))
    }

    fn spawn(
        program: &Path,
        folder: &Path,
        database: &str,
        listen: SocketAddr,
        kept_log: Option<File>,
    ) -> Result<Self> {
        let mut child = Command::new(program)
            .args(["serve", "--allow-private-addresses"])
            .arg(format!("--listen={listen}"))
            .args(["--app-key", APP_KEY, "--app-secret", APP_SECRET, "--master-secret", MASTER_SECRET])
            .args(["--operator-token", OPERATOR_TOKEN])
            .arg(format!("--database={database}"))
            .current_dir(folder)
            .env_clear()
            // Not as arguments: earlier builds do not know them.
            .envs(UNLIMITED.map(|what| (format!("AEROGRAM_DEVICE_{what}"), "1000000000")))
            // One app gets half of them.
            .env("AEROGRAM_LIVE_CONNECTIONS", "1000000")
            .envs(kept_log.is_some().then_some(("AEROGRAM_SECRETS_KEY", SECRETS_KEY)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} cannot be started", program.display()))?;
        let log = child.stderr.take().context("the server has no log")?;
        match address(log, kept_log) {
            Ok(address) => Ok(Self { child, address }),
            Err(error) => {
                drop(child.kill());
                drop(child.wait());
                Err(error)
            }
        }
    }

    pub(crate) fn process(&self) -> Process {
        Process(self.child.id())
    }

    pub(crate) fn signal(&self, name: &str) -> Result<()> {
        let signaled = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        ensure!(signaled.context("kill cannot be started")?.success(), "The server cannot be sent SIG{name}.");
        Ok(())
    }

    /// Stops as a service manager would.
    pub(crate) fn stop(mut self) -> Result<()> {
        self.signal("TERM")?;
        ensure!(self.child.wait()?.success(), "The server did not stop properly.");
        Ok(())
    }
}

impl Drop for Server {
    /// A measurement that fails leaves no server behind.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// An app and its secrets.
pub(crate) struct App {
    pub(crate) key: String,
    app_secret: String,
    pub(crate) master_secret: String,
}

impl App {
    /// The app that every server is started with.
    pub(crate) fn first() -> Self {
        let [key, app_secret, master_secret] = [APP_KEY, APP_SECRET, MASTER_SECRET].map(str::to_owned);
        Self { key, app_secret, master_secret }
    }

    pub(crate) async fn create(connection: &mut Connection) -> Result<Self> {
        let create = request("POST", "/operator/apps", &operator_authorization(), r#"{"name": "another"}"#);
        let made = connection.expect(&create).await?;
        let text = |value: &Value| value.as_str().map(str::to_owned).context("an app without a key or secrets");
        let [key, app_secret, master_secret] =
            [&made["app"]["key"], &made["app_secret"], &made["master_secret"]].map(text);
        Ok(Self { key: key?, app_secret: app_secret?, master_secret: master_secret? })
    }

    /// The value of the `Authorization` header of its devices.
    pub(crate) fn device(&self) -> String {
        self.basic(&self.app_secret)
    }

    /// The value of the `Authorization` header of its servers.
    pub(crate) fn master(&self) -> String {
        self.basic(&self.master_secret)
    }

    fn basic(&self, secret: &str) -> String {
        format!("Basic {}", STANDARD.encode(format!("{}:{secret}", self.key)))
    }
}

/// The value of the `Authorization` header of each kind of caller of the first app.
pub(crate) fn device_authorization() -> String {
    App::first().device()
}

pub(crate) fn master_authorization() -> String {
    App::first().master()
}

pub(crate) fn operator_authorization() -> String {
    format!("Bearer {OPERATOR_TOKEN}")
}

/// Waits for the line that says where the server listens, and has the rest of the log read by a thread: a log without a
/// reader would stop the server.
fn address(log: ChildStderr, mut kept_log: Option<File>) -> Result<SocketAddr> {
    let mut log = BufReader::new(log);
    let mut said = String::new();
    loop {
        let start = said.len();
        if log.read_line(&mut said)? == 0 {
            bail!("The server ended:\n{said}");
        }
        if let Some(kept) = &mut kept_log {
            kept.write_all(&said.as_bytes()[start..])?;
        }
        let mut words = said[start..].split_whitespace();
        if words.any(|word| word == "serving") {
            let address = words.find_map(|word| word.strip_prefix("listen=")?.parse().ok());
            std::thread::spawn(move || {
                let mut buffer = vec![0; 1 << 16];
                while let Ok(n_bytes @ 1..) = log.read(&mut buffer) {
                    // A log that cannot be kept is lost, which disturbs nothing.
                    if let Some(kept) = &mut kept_log {
                        drop(kept.write_all(&buffer[..n_bytes]));
                    }
                }
            });
            return address.context("the server does not say where it listens");
        }
    }
}
