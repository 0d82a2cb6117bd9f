//! `bench peers`: what a user would pick instead, on the same work in the same run. Parse Server registers devices and pushes to
//! them; `h2load` is part of `bench broadcast`.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};
use testkit::postgres::Cluster;
use tokio::time::sleep;

use crate::Size;
use crate::broadcast;
use crate::clients::{self, Until, Work};
use crate::http::Connection;
use crate::report::{self, number, ratio};
use crate::server::{App, Server};
use crate::usage::Process;
use crate::writes::registration;

const DEVICES: u32 = 20_000;
const SCRIPT: &str = include_str!("peers/parse.js");
const LOOK: Duration = Duration::from_millis(50);
const HOW: &str = "skipped: name a folder in which `npm install parse-server express` was run with --parse-server; node is needed, too";

pub(crate) async fn run(size: Size) -> Result<()> {
    let Some(installed) = size.parse_server else { return report::line("Parse Server", HOW) };
    let n_devices = size.of(DEVICES);
    report::heading(format_args!("{} devices register and get a push, on PostgreSQL", number(f64::from(n_devices))))?;
    let cluster = Cluster::durable().map_err(|why| anyhow!(why))?;
    let database = Process(cluster.process().context("PostgreSQL has no process")?);
    let peer = Peer::start(installed, &cluster)?;
    report::progress("Parse Server");
    let theirs = with_database(database, peer.register(n_devices)).await?;
    let their_push = peer.push(n_devices, database).await?;
    drop(peer);

    report::progress("the service");
    let folder = tempfile::tempdir()?;
    let server = Server::start_on(folder.path(), &cluster.fresh_database())?;
    let calls = Until::Calls(n_devices.into());
    let registering = clients::call(server.address, server.process(), calls, registration(&App::first(), "peers"));
    let ours = with_database(database, registering).await?;
    server.stop()?;
    let our_push = broadcast::postgres::rate(n_devices, &cluster.fresh_database(), database).await?;

    report::table(
        &clients::HEADING,
        &[
            clients::row("registrations of Parse Server", std::slice::from_ref(&theirs)),
            clients::row("registrations of the service", std::slice::from_ref(&ours)),
        ],
    )?;
    let times = ours.per_cpu_second() / theirs.per_cpu_second();
    report::goal("registrations of the service per CPU-second, of theirs", &ratio(times), "more", times > 1.0)?;
    report::line("deliveries of Parse Server per CPU-second, to an adapter that sends nothing", &number(their_push))?;
    report::line("deliveries of the service per CPU-second, over TLS to a simulated APNs", &number(our_push))?;
    let times = our_push / their_push;
    report::goal("deliveries of the service per CPU-second, of theirs", &ratio(times), "more", times > 1.0)
}

/// Adds the CPU time of the database.
async fn with_database(database: Process, work: impl Future<Output = Result<Work>>) -> Result<Work> {
    let before = database.family_cpu()?;
    let mut work = work.await?;
    work.cpu += database.family_cpu()?.saturating_sub(before);
    Ok(work)
}

/// Parse Server, as a process.
struct Peer {
    child: Ended,
    address: SocketAddr,
    /// What it says is not read, but has to have a place.
    _said: BufReader<ChildStdout>,
    _script: tempfile::TempDir,
}

impl Peer {
    fn start(installed: &Path, cluster: &Cluster) -> Result<Self> {
        let script = tempfile::tempdir()?;
        let file = script.path().join("parse.js");
        std::fs::write(&file, SCRIPT)?;
        let url = cluster.fresh_database();
        let name = url.rsplit('/').next().and_then(|rest| rest.split('?').next()).context("a database has a name")?;
        let folder = cluster.host().replace("%2F", "/");
        let child = Command::new("node")
            .arg(&file)
            .args([format!("postgres://aerogram@localhost/{name}"), folder])
            .env("NODE_PATH", installed.join("node_modules"))
            .env("NODE_ENV", "production")
            .current_dir(script.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("node cannot be started")?;
        let mut child = Ended(child);
        let mut said = BufReader::new(child.0.stdout.take().context("Parse Server says nothing")?);
        let address = said.by_ref().lines().map_while(Result::ok).find_map(|line| {
            let (_, address) = line.split_once("listening=")?;
            address.parse().ok()
        });
        let address = address.context("Parse Server has not started")?;
        Ok(Self { child, address, _said: said, _script: script })
    }

    fn process(&self) -> Process {
        Process(self.child.0.id())
    }

    async fn register(&self, n_devices: u32) -> Result<Work> {
        let make = |n: u64| {
            let body = json!({"deviceType": "ios", "deviceToken": format!("{n:064x}"), "channels": ["news"]});
            ask("POST", "/parse/installations", &body)
        };
        clients::call(self.address, self.process(), Until::Calls(n_devices.into()), make).await
    }

    /// Deliveries per second of CPU time, its own and that of the database.
    async fn push(&self, n_devices: u32, database: Process) -> Result<f64> {
        let mut connection = Connection::open(self.address).await?;
        let push = json!({"where": {"deviceType": "ios"}, "data": {"alert": "The doors open at eight."}});
        let cpu = || -> Result<Duration> { Ok(self.process().cpu()? + database.family_cpu()?) };
        let (before, began) = (cpu()?, Instant::now());
        connection.expect(&ask("POST", "/parse/push", &push)).await?;
        while connection.expect(&ask("GET", "/sent", &Value::Null)).await?["sent"] != n_devices {
            ensure!(began.elapsed() < Duration::from_secs(600), "Parse Server does not send to all of its devices.");
            sleep(LOOK).await;
        }
        Ok(f64::from(n_devices) / cpu()?.saturating_sub(before).as_secs_f64())
    }
}

/// A process that ends with us.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn ask(method: &str, path: &str, body: &Value) -> Vec<u8> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nX-Parse-Application-Id: bench\r\nX-Parse-Master-Key: bench\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
