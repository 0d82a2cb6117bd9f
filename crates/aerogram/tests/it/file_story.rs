//! The database file and its disk, as an operator can lose them: deleted under a running service, absent at a start, on a full
//! disk, damaged, or without its write-ahead log. Every time the service says so, and what to do.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;
use store::{DatabaseUrl, Error, Store};
use tempfile::TempDir;
use testkit::client::Caller;

use crate::server::{Server, aerogram};

const KEY: &str = "filed-app-key-00000001";
const MASTER_SECRET: &str = "filed-master-secret-01";
const APP: [&str; 6] = ["--app-key", KEY, "--app-secret", "filed-app-secret-00001", "--master-secret", MASTER_SECRET];
const TOKEN: &str = "operator-of-the-filed-app";
/// For what must happen by itself; when it does not, the test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(120);
const PAGE_BYTES: u64 = 4096;

struct Installation(TempDir);

impl Installation {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn start(&self) -> (Server, Caller) {
        let own = ["--operator-token", TOKEN, "--database-check-delay-seconds", "0"];
        let server = Server::start(self.0.path(), &[&APP[..], &own].concat());
        let caller = Caller::new(server.url.clone());
        (server, caller)
    }

    /// A file of the data folder.
    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join("aerogram-data").join(name)
    }

    /// Runs a command without a server; returns the exit code and all that it says.
    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = aerogram(self.0.path()).args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    }

    fn doctor(&self) -> String {
        self.run(&["doctor", "--url", "http://127.0.0.1:1"]).1
    }

    fn refusal(&self) -> String {
        let (code, said) = self.run(&["serve", "--listen", "127.0.0.1:0"]);
        assert_eq!(code, Some(1), "{said}");
        said
    }
}

async fn register(nobody: &Caller) -> u16 {
    let body = json!({"channel": {"device_type": "ios", "opt_in": true}});
    nobody.basic(KEY, MASTER_SECRET).post("/api/channels", body).await.status.as_u16()
}

async fn until(condition: impl AsyncFn() -> bool, what: &str) {
    let began = Instant::now();
    while !condition().await {
        assert!(began.elapsed() < PATIENCE, "never: {what}");
        tokio::task::yield_now().await;
    }
}

fn stop(server: Server) -> String {
    server.signal("TERM");
    let (code, _, log) = server.wait();
    assert_eq!(code, Some(0), "{log}");
    log
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_deleted_is_missed_and_not_made_anew() {
    let installation = Installation::new();
    let (server, nobody) = installation.start();
    assert_eq!(register(&nobody).await, 201);
    for name in ["aerogram.db", "aerogram.db-wal", "aerogram.db-shm"] {
        fs::remove_file(installation.file(name)).unwrap();
    }
    // A node that nobody asks for anything but its metrics notices, too.
    let is_noticed = async || nobody.bearer(TOKEN).get("/metrics").await.text().contains("aerogram_database_up 0");
    until(is_noticed, "the file is missed").await;
    assert_eq!(register(&nobody).await, 503);
    assert!(
        nobody.get("/ready").await.expect(503)["error"]
            .as_str()
            .unwrap()
            .contains("deleted, moved, replaced or cut off")
    );
    let log = stop(server);
    assert_eq!(log.matches("NO CHANGE IS STORED ANY MORE").count(), 1, "{log}");
    assert!(log.contains("aerogram.db was deleted or moved"), "{log}");

    // Beside the key, and beside what is known of its logs, there must be a database.
    let said = installation.refusal();
    for part in ["aerogram.db is missing", "secrets.key and ", "aerogram.db.positions", "restore it from a backup"] {
        assert!(said.contains(part), "{said}");
    }
    for command in [&["migrate"][..], &["secrets", "accept", "--yes"]] {
        let (code, said) = installation.run(command);
        assert!(code == Some(1) && said.contains("aerogram.db is missing"), "{said}");
    }
    assert!(installation.doctor().contains("aerogram.db is missing"));
    assert!(!installation.file("aerogram.db").exists(), "no other is made");
    fs::write(installation.file("aerogram.db"), "").unwrap();
    assert!(installation.refusal().contains("aerogram.db is empty"));
    fs::remove_file(installation.file("secrets.key")).unwrap();
    assert!(installation.refusal().contains("aerogram.db.positions belongs to it"));
    fs::remove_file(installation.file("aerogram.db.positions")).unwrap();
    let (server, nobody) = installation.start();
    assert_eq!(register(&nobody).await, 201, "it begins anew");
    stop(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_on_a_full_disk_is_not_ready_until_there_is_room() {
    let installation = Installation::new();
    stop(installation.start().0);
    let server = Server::start_on_full_disk(installation.0.path());
    let nobody = Caller::new(server.url.clone());
    let unready = nobody.get("/ready").await;
    assert!(unready.expect(503)["error"].as_str().unwrap().contains("takes no changes"), "{}", unready.text());
    nobody.get("/health").await.expect(200);
    server.make_room();
    until(async || nobody.get("/ready").await.status == 200, "it is ready").await;
    let log = stop(server);
    assert!(log.contains("the database takes no changes") && log.contains("the database works again"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_pages_are_told_by_the_doctor_and_by_a_start() {
    let installation = Installation::new();
    let (server, nobody) = installation.start();
    for _ in 0..100 {
        assert_eq!(register(&nobody).await, 201);
    }
    let log = stop(server);
    assert!(log.contains("the pages of the database are whole"), "{log}");
    assert!(!installation.doctor().contains("FAIL  database"));

    let path = installation.file("aerogram.db");
    let store = Store::open(&DatabaseUrl::Sqlite(path.clone())).await.unwrap();
    let sql = "select rootpage from sqlite_schema where name = 'channel'";
    let page = store.read(move |tx| tx.query_one(sql, &[], |row| row.get::<i64>(0))).await;
    let page = page.unwrap_or_else(|error: Error| panic!("{error}")).unsigned_abs();
    store.close().await;
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start((page - 1) * PAGE_BYTES)).unwrap();
    file.write_all(&[0xA5; 600]).unwrap();
    drop(file);

    let report = installation.doctor();
    assert!(report.contains("FAIL  database") && report.contains("is damaged; stop the service"), "{report}");
    let (server, nobody) = installation.start();
    let is_told = async || {
        let ready = nobody.get("/ready").await;
        ready.status == 503 && ready.text().contains("damaged")
    };
    until(is_told, "the damage is found").await;
    let log = stop(server);
    assert!(log.contains("THE DATABASE FILE IS DAMAGED") && log.contains("channel: "), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_went_with_the_write_ahead_log_is_named() {
    let installation = Installation::new();
    stop(installation.start().0);
    let (server, nobody) = installation.start();
    assert_eq!(register(&nobody).await, 201);
    // Noted within a second or so.
    let is_noted = async || {
        let noted = fs::read_to_string(installation.file("aerogram.db.positions")).unwrap_or_default();
        noted.contains(KEY) && !noted.contains("\"position\":0")
    };
    until(is_noted, "the position is noted").await;
    server.signal("KILL");
    assert_eq!(server.wait().0, None);
    // A crash alone loses nothing.
    let (server, _) = installation.start();
    server.signal("KILL");
    let (_, _, log) = server.wait();
    assert!(!log.contains("LOG RECORDS ARE MISSING"), "{log}");
    for name in ["aerogram.db-wal", "aerogram.db-shm"] {
        fs::remove_file(installation.file(name)).unwrap();
    }

    let (server, _) = installation.start();
    let log = stop(server);
    assert_eq!(log.matches("LOG RECORDS ARE MISSING").count(), 1, "{log}");
    let named = fs::read_to_string(installation.file("aerogram.db.missing")).unwrap();
    assert!(named.starts_with(&format!("{{\"app\":\"{KEY}\",\"from\":1,\"to\":")), "{named}");
    let report = installation.doctor();
    assert!(report.contains("FAIL  database") && report.contains(&format!("of {KEY}")), "{report}");
    assert!(report.contains("aerogram.db.missing names them"), "{report}");
    fs::remove_file(installation.file("aerogram.db.missing")).unwrap();
    assert!(!installation.doctor().contains("FAIL  database"));
    let log = stop(installation.start().0);
    assert!(!log.contains("LOG RECORDS ARE MISSING"), "{log}");
}
