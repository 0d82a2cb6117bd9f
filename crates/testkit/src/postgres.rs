//! A private PostgreSQL server for the tests of one process. It lives in a temporary folder, is reached by a socket in that
//! folder only, and goes away with the process, however that ends. Tests of a failover have two of their own.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

const USER: &str = "aerogram";

/// Makes the server and runs it until the guard's input ends, which is when the test process does, even by SIGKILL. A line of
/// input has it end the server without warning and start it again. The server alone keeps the error output, so that its end can be
/// seen there. Text has an order that is not that of its bytes, as on most real servers.
const GUARD: &str = r#"
make() {
    if [ -n "$4" ]; then
        "$1/pg_basebackup" -h "$4" -U "$3" -D "$2/data" -c fast -R --no-sync
    else
        "$1/initdb" -D "$2/data" -U "$3" -A trust -E UTF8 --no-sync --locale=C --locale-provider=icu --icu-locale=en-US
    fi
}
serve() {
    "$1/postgres" -D "$2/data" -c listen_addresses= -c unix_socket_directories="$2" \
        -c max_connections=300 -c wal_level=minimal -c max_wal_senders=0 $4 &
    server=$!
}
if make "$1" "$2" "$3" "$5" </dev/null >/dev/null; then serve "$@"; fi
exec 2>/dev/null
while read -r _; do
    kill -QUIT "$server"
    wait "$server"
    serve "$@"
done
if [ -n "$server" ]; then kill -QUIT "$server"; wait "$server"; fi
cd /
rm -rf "$2"
"#;

/// Quick rather than safe, since the data is thrown away.
const QUICK: &str =
    "-c shared_buffers=32MB -c fsync=off -c full_page_writes=off -c synchronous_commit=off -c autovacuum=off";
/// As [`QUICK`], for a server that others follow, or that follows another: a commit is as safe as the two are together.
const REPLICATED: &str = "-c shared_buffers=32MB -c fsync=off -c full_page_writes=off -c wal_level=replica \
                          -c max_wal_senders=4";
/// As a careful administrator has it, with an account of all statements.
const DURABLE: &str = "-c shared_buffers=1GB -c max_wal_size=8GB -c checkpoint_timeout=15min \
                       -c shared_preload_libraries=pg_stat_statements";

/// For a restart, after which the server first recovers what it has committed.
const START: Duration = Duration::from_secs(60);

pub struct Cluster {
    programs: PathBuf,
    folder: PathBuf,
    n_databases: AtomicU32,
    /// Ends with the last process of the server.
    log: Mutex<Option<JoinHandle<()>>>,
    /// The server lives as long as this end of the pipe is open.
    guard: Mutex<ChildStdin>,
}

/// The server of this process, started on first use.
pub fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| Cluster::start(QUICK, None).unwrap_or_else(|why| panic!("{why}")))
}

/// Whether the developer chose to do without PostgreSQL.
pub fn is_skipped() -> bool {
    #[expect(clippy::disallowed_methods, reason = "a switch of the test suite, not a setting of the service")]
    std::env::var("AEROGRAM_SKIP_POSTGRES").is_ok_and(|value| value == "1")
}

impl Cluster {
    /// Creates an empty database and returns its URL.
    pub fn fresh_database(&self) -> String {
        self.url(&self.create("template1"))
    }

    /// Creates a copy of a database that nobody is connected to, and returns its URL.
    pub(crate) fn copy_of(&self, name: &str) -> String {
        self.url(&self.create(name))
    }

    /// Creates an empty database, of which copies can be made, and returns its name and its URL.
    pub(crate) fn template(&self) -> (String, String) {
        let name = self.create("template1");
        let url = self.url(&name);
        (name, url)
    }

    fn create(&self, template: &str) -> String {
        let name = format!("test_{}", self.n_databases.fetch_add(1, Ordering::Relaxed));
        let mut psql = Command::new(self.programs.join("psql"));
        psql.arg("-X").arg("-h").arg(&self.folder).args(["-U", USER, "-d", "postgres", "-c"]);
        let created = psql.arg(format!("create database {name} template {template}")).stdin(Stdio::null()).output();
        let created = created.unwrap_or_else(|error| panic!("psql cannot be started: {error}"));
        assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stderr));
        name
    }

    fn url(&self, name: &str) -> String {
        // A server that is busy starting hundreds of processes is slow, but not down.
        format!("postgres://{USER}@{}/{name}?connect_timeout=60", self.host())
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// As a URL names it.
    pub fn host(&self) -> String {
        self.folder.to_string_lossy().replace('%', "%25").replace('/', "%2F")
    }

    /// A server of its own, and a standby that has every change before its commit is answered.
    pub fn with_standby() -> (Self, Self) {
        let started = Self::start(REPLICATED, None).and_then(|primary| {
            let standby = Self::start(REPLICATED, Some(&primary))?;
            Ok((primary, standby))
        });
        let (primary, standby) = started.unwrap_or_else(|why| panic!("{why}"));
        primary.set("synchronous_commit", "remote_apply");
        primary.set("synchronous_standby_names", "*");
        let attached = "select count(*) from pg_stat_replication where sync_state = 'sync'";
        while primary.ask(&primary.own_database(), attached) != "1" {}
        (primary, standby)
    }

    /// Changes a setting of the running server, and returns when it counts for new sessions.
    pub fn set(&self, name: &str, value: &str) {
        let url = self.own_database();
        self.ask(&url, &format!("alter system set {name} = '{value}'"));
        self.ask(&url, "select pg_reload_conf()");
        while self.ask(&url, &format!("show {name}")) != value {}
    }

    /// The database that every server has.
    fn own_database(&self) -> String {
        format!("postgres://{USER}@{}/postgres", self.host())
    }

    /// Ends the server at once, as if its machine had lost power, and returns when no process of it is left.
    pub fn kill(&self) {
        let process = self.process().unwrap_or_else(|| panic!("the server has ended before"));
        let killed = Command::new("kill").args(["-QUIT", &process.to_string()]).status();
        assert!(killed.is_ok_and(|status| status.success()), "the server cannot be ended");
        if let Some(log) = self.log.lock().take() {
            log.join().unwrap_or_else(|_| panic!("the log was not read to its end"));
        }
    }

    /// Makes a standby a primary, and returns when it is one.
    pub fn promote(&self) {
        assert_eq!(self.ask(&self.own_database(), "select pg_promote(true, 600)"), "t");
    }

    /// A server for measurements, whose commits are durable.
    ///
    /// # Errors
    /// When PostgreSQL is not installed or does not start.
    pub fn durable() -> Result<Self, String> {
        Self::start(DURABLE, None)
    }

    /// The answer of a database to a statement, as text.
    pub fn ask(&self, url: &str, sql: &str) -> String {
        self.try_ask(url, sql).unwrap_or_else(|why| panic!("{why}"))
    }

    /// As [`Cluster::ask`], of a server that may be away.
    ///
    /// # Errors
    /// What `psql` says.
    pub fn try_ask(&self, url: &str, sql: &str) -> Result<String, String> {
        let mut psql = Command::new(self.programs.join("psql"));
        let asked = psql.args(["-X", "-At", "-d", url, "-c", sql]).stdin(Stdio::null()).output();
        let asked = asked.map_err(|error| format!("psql cannot be started: {error}"))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if asked.status.success() { Ok(text(&asked.stdout)) } else { Err(text(&asked.stderr)) }
    }

    /// Ends the server without warning, as `pg_ctl stop -m immediate` does, and starts it again. Returns when it answers.
    ///
    /// # Errors
    /// When it does not.
    pub fn restart(&self) -> Result<(), String> {
        let (began, before) = (Instant::now(), self.process());
        self.guard.lock().write_all(b"restart\n").map_err(|error| error.to_string())?;
        let url = self.url("postgres");
        while self.process() == before || self.try_ask(&url, "select 1").is_err() {
            if began.elapsed() > START {
                return Err("The PostgreSQL server does not answer after its restart.".to_owned());
            }
        }
        Ok(())
    }

    /// The process that all others of the server were started by.
    pub fn process(&self) -> Option<u32> {
        let file = std::fs::read_to_string(self.folder.join("data/postmaster.pid")).ok()?;
        file.lines().next()?.trim().parse().ok()
    }

    /// A new server, or a copy of another that follows it.
    fn start(settings: &str, followed: Option<&Self>) -> Result<Self, String> {
        let programs = find_programs()?;
        let folder =
            tempfile::Builder::new().prefix("aerogram-postgres-").tempdir().map_err(|error| error.to_string())?;
        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD, "guard"]).arg(&programs).arg(folder.path()).arg(USER).arg(settings);
        guard.arg(followed.map(|server| server.folder.as_os_str()).unwrap_or_default());
        guard.current_dir(folder.path()).env("LC_ALL", "C");
        if let Some((user, group)) = unprivileged(folder.path())? {
            guard.uid(user).gid(group);
        }
        // A group of its own: a Ctrl-C meant for the tests must not end the guard before its work is done.
        guard.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut guard = guard.spawn().map_err(|error| format!("sh cannot be started: {error}"))?;
        let (Some(alive), Some(log)) = (guard.stdin.take(), guard.stderr.take()) else {
            return Err("the pipes to the PostgreSQL server are missing".to_owned());
        };
        // From here on the guard removes the folder.
        let folder = folder.keep();
        let log = Mutex::new(Some(wait_until_ready(log)?));
        Ok(Self { programs, folder, n_databases: AtomicU32::new(0), log, guard: Mutex::new(alive) })
    }
}

/// Where `initdb` and `postgres` are: on the path, in Debian's place for the newest version, or where `pg_config` says.
fn find_programs() -> Result<PathBuf, String> {
    #[expect(clippy::disallowed_methods, reason = "looking for a program, not reading a setting")]
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|entry| entry.path()).collect();
    let number = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    versions.sort_by_key(|path| std::cmp::Reverse(number(path)));
    folders.extend(versions.into_iter().map(|version| version.join("bin")));
    if let Ok(output) = Command::new("pg_config").arg("--bindir").output() {
        folders.push(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    }
    // Links on the path are followed: the other programs are beside the real one.
    let real = folders.iter().filter_map(|folder| folder.join("postgres").canonicalize().ok());
    let mut complete = real.filter_map(|server| server.parent().map(Path::to_owned));
    complete.find(|folder| folder.join("initdb").exists() && folder.join("psql").exists()).ok_or_else(|| {
        "The tests need PostgreSQL's server programs (Debian package \"postgresql\"); set AEROGRAM_SKIP_POSTGRES=1 to \
         test with SQLite only."
            .to_owned()
    })
}

/// The user to run the server as. It refuses to run as root: then the folder is given to `nobody`.
fn unprivileged(folder: &Path) -> Result<Option<(u32, u32)>, String> {
    let made_by = std::fs::metadata(folder).map_err(|error| error.to_string())?.uid();
    if made_by != 0 {
        return Ok(None);
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let nobody = users.lines().find_map(|line| {
        let mut fields = line.strip_prefix("nobody:")?.split(':').skip(1);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    });
    let (user, group) = nobody.unwrap_or((65534, 65534));
    chown(folder, Some(user), Some(group)).map_err(|error| error.to_string())?;
    Ok(Some((user, group)))
}

/// Returns the thread that reads on until the server has ended.
fn wait_until_ready(log: ChildStderr) -> Result<JoinHandle<()>, String> {
    let mut lines = BufReader::new(log).lines();
    let mut said = String::new();
    for line in lines.by_ref().map_while(Result::ok) {
        // A standby is ready to accept "read-only connections".
        if line.contains("ready to accept") {
            // Continues to read, so that the server never waits for room in the pipe.
            return Ok(std::thread::spawn(move || lines.for_each(drop)));
        }
        said = said + &line + "\n";
    }
    Err(format!("The PostgreSQL server of the tests did not start:\n{said}"))
}
