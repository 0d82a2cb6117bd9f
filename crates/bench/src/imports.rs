//! `bench import`: 1,000,000 devices of each format by `aerogram import`, in one piece, and once more while it is killed in the
//! middle, and the server after it; how fast it is beside loading them through the store, what memory it takes, and whether an
//! export has what the source had.

mod devices;

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use model::ids::Ordinal;
use model::time::UtcMillis;
use serde_json::Value;
use store::attributes::Write;
use testkit::postgres::Cluster;
use tokio::time::sleep;

use crate::Size;
use crate::http::{Connection, request};
use crate::loading::{self, Place, Users};
use crate::population::Population;
use crate::report::{self, duration, mebibytes, number, percent};
use crate::server::{App, DATABASE, Server, master_authorization, program};
use crate::usage::Process;
use devices::{Books, Format};

const DEVICES: u32 = 1_000_000;
const MOST_ABOVE_IDLE: u64 = 100 * 1000 * 1000;
const ANY_PORT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// In which the allocator gives back what loading has taken.
const SETTLING: Duration = Duration::from_secs(5);
/// How often the file is read that says how far an import has got.
const LOOK: Duration = Duration::from_millis(5);

pub(crate) async fn run(size: Size) -> Result<()> {
    let n_devices = size.of(DEVICES);
    on("SQLite", n_devices, &|| None).await?;
    let cluster = Cluster::durable().map_err(|why| anyhow!(why))?;
    on("PostgreSQL", n_devices, &|| Some(cluster.fresh_database())).await
}

/// All formats on one database.
async fn on(name: &str, n_devices: u32, database: &dyn Fn() -> Option<String>) -> Result<()> {
    report::heading(format_args!("Import of {} devices on {name}", number(f64::from(n_devices))))?;
    let bare = reference(n_devices, database().as_deref()).await?;
    let sources = tempfile::tempdir()?;
    let mut source = None;
    for format in Format::ALL {
        report::progress(&format!("{name}: {}", format.name()));
        let file = sources.path().join(format.name());
        format.write(&file, n_devices)?;
        let arguments = format.arguments(&file);
        let from = Source { name: format.name(), arguments: &arguments, file: &file, n_devices };
        let there = one(&from, database, bare).await?;
        let wanted = format.books(n_devices)?;
        there.compare(&wanted, format.name())?;
        fs::remove_file(&file)?;
        source = Some(there);
    }
    // The last installation is the service that the next one comes from.
    let source = source.context("there is no format")?;
    let state = sources.path().join("airship.aerogram-import");
    let app = App::first();
    let arguments = ["airship", "--from", &source.url(), "--airship-key", &app.key];
    let arguments: Vec<String> =
        arguments.map(str::to_owned).into_iter().chain([format!("--state={}", state.display())]).collect();
    let file = sources.path().join("airship");
    let there = one(&Source { name: "airship", arguments: &arguments, file: &file, n_devices }, database, bare).await?;
    there.compare(&source.books()?, "airship")?;
    there.server.stop()?;
    source.server.stop()
}

/// Rows per second at which the store takes channels with users and an attribute.
async fn reference(n_devices: u32, database: Option<&str>) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let place = Place { folder: folder.path(), database };
    let population = Population::new();
    let loaded = loading::load_at(&place, &population, n_devices, Users::OneEach).await?;
    let age = |Ordinal(n)| Write {
        name: "age".to_owned(),
        value: Some((n % 90).to_string()),
        at: UtcMillis(0),
        expires: None,
    };
    let began = Instant::now();
    loading::load_attributes(&place, n_devices, |channel| vec![age(channel)]).await?;
    let rate = f64::from(n_devices) / (loaded + began.elapsed()).as_secs_f64();
    report::line("through the store, with users and an attribute, per second", &number(rate))?;
    Ok(rate)
}

/// An installation that devices were imported to.
struct Installation {
    server: Server,
    folder: tempfile::TempDir,
}

/// What to import.
struct Source<'a> {
    name: &'a str,
    arguments: &'a [String],
    /// How far an import of it has got is kept beside this.
    file: &'a Path,
    n_devices: u32,
}

/// Imports from one source, twice into empty installations: in one piece, by which the rate is judged, and killed twice.
async fn one(source: &Source<'_>, database: &dyn Fn() -> Option<String>, bare: f64) -> Result<Installation> {
    let Source { name, n_devices, .. } = *source;
    let embedded = format!("sqlite:{DATABASE}");
    let whole = {
        let (folder, database) = (tempfile::tempdir()?, database());
        let server = Server::start_node(folder.path(), database.as_deref().unwrap_or(&embedded), ANY_PORT)?;
        let (server, taken) = import(server, source, &Kills::None).await?;
        server.stop()?;
        taken
    };
    let rate = f64::from(n_devices) / whole.elapsed.as_secs_f64();
    let per_cpu = f64::from(n_devices) / whole.cpu.as_secs_f64();
    report::line(&format!("{name}: in one piece after"), &duration(whole.elapsed))?;
    report::line(
        &format!("{name}: devices per second, per CPU-second of the server"),
        &format!("{}, {}", number(rate), number(per_cpu)),
    )?;
    let name_of_rate = format!("{name}: of the rate of the store");
    report::goal(&name_of_rate, &percent(rate / bare), "at least 50 %", rate / bare >= 0.5)?;

    let (folder, database) = (tempfile::tempdir()?, database().unwrap_or(embedded));
    let server = Server::start_node(folder.path(), &database, ANY_PORT)?;
    let kills = Kills::Twice { folder: folder.path(), database: &database };
    let (server, killed) = import(server, source, &kills).await?;
    report::line(&format!("{name}: killed twice and complete after"), &duration(killed.elapsed))?;
    let server = restarted(server, folder.path(), &database).await?;
    let with_devices = server.process().memory()?.resident;
    let (idle, peak) = (whole.idle, whole.peak.max(killed.peak));
    report::line(
        &format!("{name}: memory of the server without devices, at most, and restarted with them"),
        &[idle, peak, with_devices].map(mebibytes).join(", "),
    )?;
    let above_idle = peak.saturating_sub(idle);
    report::goal(
        &format!("{name}: most memory of the server above that without devices"),
        &mebibytes(above_idle),
        "at most 95 MiB",
        above_idle <= MOST_ABOVE_IDLE,
    )?;
    report::line(
        &format!("{name}: most memory above that of a server that has the devices"),
        &mebibytes(peak.saturating_sub(with_devices)),
    )?;
    report::line(&format!("{name}: most memory of the command"), &mebibytes(whole.of_command.max(killed.of_command)))?;
    Ok(Installation { server, folder })
}

/// What is killed while an import is under way.
enum Kills<'a> {
    None,
    /// The command after a third of the rows, the server after two thirds. The server is started anew with what is there.
    Twice {
        folder: &'a Path,
        database: &'a str,
    },
}

/// What an import took.
struct Taken {
    elapsed: Duration,
    /// CPU time of the servers.
    cpu: Duration,
    /// Memory of the server before the import, and the most of any server meanwhile.
    idle: u64,
    peak: u64,
    /// The most memory of any of the commands.
    of_command: u64,
}

async fn import(mut server: Server, source: &Source<'_>, kills: &Kills<'_>) -> Result<(Server, Taken)> {
    let Source { name, arguments, file, n_devices } = *source;
    let mut state = file.as_os_str().to_owned();
    state.push(".aerogram-import");
    let state = PathBuf::from(state);
    let idle = server.process().memory()?.resident;
    server.process().forget_peak()?;
    let (began, mut cpu, mut peak, mut of_command) = (Instant::now(), Duration::ZERO, 0, 0);
    let mut import = start(&server, arguments)?;
    if let Kills::Twice { folder, database } = kills {
        if wait_for(&mut import, &state, u64::from(n_devices / 3), &mut of_command).await? {
            import.kill()?;
            import.wait()?;
            import = start(&server, arguments)?;
        }
        if wait_for(&mut import, &state, u64::from(n_devices / 3 * 2), &mut of_command).await? {
            cpu += server.process().cpu()?;
            peak = peak.max(server.process().memory()?.peak);
            let address = server.address;
            server.signal("KILL")?;
            drop(server);
            import.kill()?;
            import.wait()?;
            server = Server::start_node(folder, database, address)?;
            import = start(&server, arguments)?;
        }
    }
    wait_for(&mut import, &state, u64::MAX, &mut of_command).await?;
    ensure!(import.wait()?.success(), "The import of {name} did not end well.");
    let elapsed = began.elapsed();
    cpu += server.process().cpu()?;
    peak = peak.max(server.process().memory()?.peak);
    Ok((server, Taken { elapsed, cpu, idle, peak, of_command }))
}

/// Starts the server anew, and lets it make the index of its devices. What it takes then is theirs, and not of the import.
async fn restarted(server: Server, folder: &Path, database: &str) -> Result<Server> {
    let address = server.address;
    server.stop()?;
    let server = Server::start_node(folder, database, address)?;
    let everybody = r#"{"audience": "all", "device_types": "all"}"#;
    let explain = request("POST", "/api/audience/explain", &master_authorization(), everybody);
    Connection::open(server.address).await?.expect(&explain).await?;
    sleep(SETTLING).await;
    Ok(server)
}

fn aerogram(server: &Server, arguments: &[String]) -> Result<Command> {
    let app = App::first();
    let mut command = Command::new(program()?);
    command
        .args(arguments)
        .env_clear()
        .env("AEROGRAM_URL", format!("http://{}", server.address))
        .env("AEROGRAM_APP_KEY", &app.key)
        .env("AEROGRAM_MASTER_SECRET", &app.master_secret)
        .env("AEROGRAM_AIRSHIP_SECRET", &app.master_secret)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    Ok(command)
}

fn start(server: &Server, arguments: &[String]) -> Result<Child> {
    let arguments: Vec<String> = std::iter::once("import".to_owned()).chain(arguments.iter().cloned()).collect();
    aerogram(server, &arguments)?.stderr(Stdio::null()).spawn().context("the import cannot be started")
}

/// Waits until so many rows are done, and notes the most memory of the command. An import that ends before is not interrupted.
async fn wait_for(import: &mut Child, state: &Path, n_rows: u64, of_command: &mut u64) -> Result<bool> {
    let command = Process(import.id());
    while import.try_wait()?.is_none() {
        *of_command = command.memory().map_or(*of_command, |memory| memory.peak.max(*of_command));
        let said = fs::read(state).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
        if said.and_then(|state| state["n_rows"].as_u64()).is_some_and(|n_done| n_done >= n_rows) {
            return Ok(true);
        }
        sleep(LOOK).await;
    }
    Ok(false)
}

impl Installation {
    fn url(&self) -> String {
        format!("http://{}", self.server.address)
    }

    /// What an export has.
    fn books(&self) -> Result<Books> {
        let file = self.folder.path().join("export.jsonl");
        let began = Instant::now();
        // The same file every time.
        let arguments = ["export".to_owned(), "--force".to_owned(), file.display().to_string()];
        let done = aerogram(&self.server, &arguments)?.output()?;
        if !done.status.success() {
            bail!("The export failed: {}", String::from_utf8_lossy(&done.stderr));
        }
        report::line("exported in", &duration(began.elapsed()))?;
        let mut books = Books::default();
        for line in BufReader::new(File::open(&file)?).lines() {
            books.add_line(&line?)?;
        }
        Ok(books)
    }

    fn compare(&self, wanted: &Books, name: &str) -> Result<()> {
        let found = self.books()?;
        ensure!(found == *wanted, "The export after the import of {name} has {found:?} instead of {wanted:?}.");
        report::line(&format!("{name}: the export has what the source had"), "yes")
    }
}
