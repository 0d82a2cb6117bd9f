//! A database file that is deleted, moved, replaced or damaged, and a write-ahead log that is damaged: what the service says of it,
//! and that it accepts nothing that would be lost. Only SQLite is a file of ours.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use devices::LocationSettings;
use engine::Pages;
use serde_json::json;
use store::positions::{self, MissingRecords};
use store::{DatabaseUrl, Error, Tx};
use testkit::app::TestApp;
use testkit::store::{Database, Home};

const PAGE_BYTES: u64 = 4096;

/// A folder for a database that outlives the services on it.
struct Folder {
    _home: Home,
    database: PathBuf,
}

impl Folder {
    fn new() -> Self {
        let home = Home::new(Database::Sqlite);
        let DatabaseUrl::Sqlite(database) = home.url.clone() else { panic!("asked for SQLite") };
        Self { _home: home, database }
    }

    async fn serve(&self) -> TestApp {
        let home = Home::at(&format!("sqlite:{}", self.database.display()));
        Box::pin(TestApp::at(home, LocationSettings::default())).await
    }

    /// The file with this ending beside the database, or the database itself.
    fn file(&self, ending: &str) -> PathBuf {
        self.database.with_file_name(format!("test.db{ending}"))
    }
}

async fn register(app: &TestApp) -> u16 {
    let body = json!({"channel": {"device_type": "ios", "opt_in": true}});
    app.master().post("/api/channels", body).await.status.as_u16()
}

async fn metric(app: &TestApp, name: &str) -> i64 {
    let reply = app.operator().get("/metrics").await;
    let found = reply.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    found.unwrap_or_else(|| panic!("{}", reply.text()))
}

async fn head_of_log(app: &TestApp) -> i64 {
    let id = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
    let head = app.engine().store().read(move |tx| store::log::head(tx, id)).await;
    head.unwrap_or_else(|error: Error| panic!("{error}")).0
}

/// Overwrites some bytes of a file.
fn damage(path: &Path, at: u64, n_bytes: usize) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(&vec![0xA5; n_bytes]).unwrap();
    file.sync_all().unwrap();
}

async fn expect_refusals(app: &TestApp) {
    let unready = app.nobody().get("/ready").await;
    let text = unready.expect(503)["error"].as_str().unwrap().to_owned();
    assert!(text.contains("deleted, moved, replaced or cut off"), "{text}");
    let body = json!({"channel": {"device_type": "ios", "opt_in": true}});
    let refused = app.master().post("/api/channels", body).await;
    assert_eq!(refused.expect(503)["error_code"], 50300);
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(metric(app, "aerogram_database_up").await, 0);
}

#[tokio::test]
async fn nothing_is_accepted_into_a_file_that_is_gone() {
    for ending in ["", "-wal"] {
        let folder = Folder::new();
        let (app, file, aside) = (folder.serve().await, folder.file(ending), folder.file(".aside"));
        assert_eq!(register(&app).await, 201);
        app.nobody().get("/ready").await.expect(200);
        // The check at the start has ended when another one can begin.
        app.engine().check_pages().await.unwrap();

        // Moved away, another one in its place, and the first one back.
        fs::rename(&file, &aside).unwrap();
        expect_refusals(&app).await;
        fs::write(&file, "something else").unwrap();
        expect_refusals(&app).await;
        fs::rename(&aside, &file).unwrap();
        app.nobody().get("/ready").await.expect(200);
        assert_eq!(register(&app).await, 201);
        assert_eq!(metric(&app, "aerogram_database_up").await, 1);

        // A change notices by itself that the file is gone.
        fs::remove_file(&file).unwrap();
        assert_eq!(register(&app).await, 503);
        expect_refusals(&app).await;
        app.stop().await;
    }
}

/// A file that is written over keeps its name and its number.
#[tokio::test]
async fn nothing_is_accepted_into_a_file_that_was_cut_off() {
    let folder = Folder::new();
    let app = folder.serve().await;
    // The last pages of the file are of a table that nobody reads.
    let fill = |tx: &mut Tx<'_>| {
        tx.execute("create table item (note blob)", &[])?;
        tx.execute("insert into item (note) values (zeroblob(100000))", &[])
    };
    let filled: store::Result<u64> = app.engine().store().write(store::apps::OPERATOR, fill).await;
    filled.unwrap();
    app.stop().await;

    let app = folder.serve().await;
    assert_eq!(register(&app).await, 201);
    let content = fs::read(&folder.database).unwrap();
    let file = OpenOptions::new().write(true).open(&folder.database).unwrap();
    file.set_len(content.len() as u64 - PAGE_BYTES).unwrap();
    assert_eq!(register(&app).await, 503);
    expect_refusals(&app).await;
    // As long as it was, it may still hold something else.
    fs::write(&folder.database, content).unwrap();
    expect_refusals(&app).await;
    app.stop().await;
}

#[tokio::test]
async fn damaged_pages_are_found_and_told() {
    let folder = Folder::new();
    let app = folder.serve().await;
    for _ in 0..100 {
        assert_eq!(register(&app).await, 201);
    }
    assert_eq!(app.engine().check_pages().await.unwrap(), Some(Pages::Whole));
    let root = |tx: &mut Tx<'_>| {
        let sql = "select rootpage from sqlite_schema where name = 'channel'";
        tx.query_one(sql, &[], |row| row.get::<i64>(0))
    };
    let page = app.engine().store().read(root).await.unwrap_or_else(|error: Error| panic!("{error}"));
    app.stop().await;

    damage(&folder.database, (page.unsigned_abs() - 1) * PAGE_BYTES, 600);
    let app = folder.serve().await;
    let found = app.engine().check_pages().await.unwrap();
    assert!(matches!(&found, Some(Pages::Damaged(problems)) if !problems.is_empty()), "{found:?}");
    let unready = app.nobody().get("/ready").await;
    assert!(unready.expect(503)["error"].as_str().unwrap().contains("damaged"), "{}", unready.text());
    assert_eq!(metric(&app, "aerogram_database_damaged").await, 1);
    // What does not need the page goes on.
    assert_eq!(metric(&app, "aerogram_database_up").await, 1);
    app.operator().post("/operator/apps", json!({"name": "Other", "mode": "development"})).await.expect(201);
    app.stop().await;
}

/// The statements of requests meet a damaged page before the next check does.
#[tokio::test]
async fn a_damaged_page_that_a_request_meets_is_told_at_once() {
    let folder = Folder::new();
    let app = folder.serve().await;
    // A table of our own, so that only we read it.
    let make = |tx: &mut Tx<'_>| tx.execute("create table item (id bigint primary key, note text)", &[]);
    let made: store::Result<u64> = app.engine().store().write(store::apps::OPERATOR, make).await;
    made.unwrap();
    let root = |tx: &mut Tx<'_>| {
        let sql = "select rootpage from sqlite_schema where name = 'item'";
        tx.query_one(sql, &[], |row| row.get::<i64>(0))
    };
    let page = app.engine().store().read(root).await.unwrap_or_else(|error: Error| panic!("{error}"));
    app.stop().await;
    damage(&folder.database, (page.unsigned_abs() - 1) * PAGE_BYTES, 600);
    let store = Home::at(&format!("sqlite:{}", folder.database.display())).open().await;
    assert_eq!(store.trouble(), None);
    let read = |tx: &mut Tx<'_>| tx.query("select note from item", &[], |row| row.get::<String>(0));
    let met: store::Result<Vec<String>> = store.read(read).await;
    assert!(matches!(met, Err(Error::Corrupt(_))), "{met:?}");
    assert_eq!(store.trouble(), Some(store::Trouble::Damaged));
    store.close().await;
}

#[tokio::test]
async fn what_a_damaged_write_ahead_log_has_lost_is_named() {
    let folder = Folder::new();
    let app = folder.serve().await;
    let key = app.app.key.clone();
    assert_eq!(register(&app).await, 201);
    let n_kept = head_of_log(&app).await;
    app.stop().await;

    // What comes now is in the write-ahead log only. A process that is killed leaves just these files.
    let home = Home::at(&format!("sqlite:{}", folder.database.display()));
    let store = home.open().await;
    let id = store.read(store::apps::list).await.unwrap_or_else(|error: Error| panic!("{error}"))[0].id;
    let record =
        store::log::NewRecord { kind: model::event::RecordKind::Custom, ordinal: None, body: b"told".to_vec() };
    let append = move |tx: &mut Tx<'_>| {
        store::log::append(tx, id, testkit::app::START, vec![record.clone(), record.clone(), record.clone()])
    };
    store.write(id, append).await.unwrap_or_else(|error: Error| panic!("{error}"));
    store.save_positions().await;
    let crashed = Folder::new();
    for ending in ["", "-wal", ".positions"] {
        fs::copy(folder.file(ending), crashed.file(ending)).unwrap();
    }
    store.close().await;

    // The first frame of the log: after the heads of the log and of the frame.
    damage(&crashed.file("-wal"), 32 + 24 + 1000, 8);
    let app = crashed.serve().await;
    let expected = [MissingRecords { app: key, from: n_kept + 1, to: n_kept + 3 }];
    assert_eq!(positions::read_missing(&crashed.database).unwrap(), expected);
    assert_eq!(metric(&app, "aerogram_database_records_missing").await, 3);
    assert_eq!(register(&app).await, 201, "it starts all the same");
    app.stop().await;

    // The next start has nothing new to tell, and what was told stays until somebody removes it.
    let app = crashed.serve().await;
    assert_eq!(metric(&app, "aerogram_database_records_missing").await, 0);
    assert_eq!(positions::read_missing(&crashed.database).unwrap(), expected);
    app.stop().await;
}

#[tokio::test]
async fn an_older_state_is_reported_unless_it_was_put_there_on_purpose() {
    let folder = Folder::new();
    let app = folder.serve().await;
    assert_eq!(register(&app).await, 201);
    app.stop().await;
    let backup = folder.file(".backup");
    fs::copy(&folder.database, &backup).unwrap();
    let restore = || {
        for ending in ["-wal", "-shm"] {
            drop(fs::remove_file(folder.file(ending)));
        }
        fs::copy(&backup, &folder.database).unwrap();
    };

    let app = folder.serve().await;
    let (key, last) = (app.app.key.clone(), head_of_log(&app).await);
    assert_eq!(last, 0, "an app of its own");
    assert_eq!(register(&app).await, 201);
    let last = head_of_log(&app).await;
    app.stop().await;
    restore();
    let app = folder.serve().await;
    assert_eq!(
        positions::read_missing(&folder.database).unwrap(),
        [MissingRecords { app: key, from: 1, to: last }],
        "the whole app is missing"
    );
    // A backup that is restored as the documentation says is no loss.
    assert_eq!(register(&app).await, 201);
    app.stop().await;
    restore();
    fs::remove_file(positions::path(&folder.database)).unwrap();
    fs::remove_file(positions::missing_path(&folder.database)).unwrap();
    let app = folder.serve().await;
    assert!(!positions::missing_path(&folder.database).exists());
    assert_eq!(metric(&app, "aerogram_database_records_missing").await, 0);
    app.stop().await;
}

/// An app that was deleted in the last second before a crash is not one that was lost.
#[tokio::test]
async fn a_deleted_app_is_not_missing() {
    let folder = Folder::new();
    let app = folder.serve().await;
    assert_eq!(register(&app).await, 201);
    app.engine().look_after_file().await;
    let noted = fs::read(positions::path(&folder.database)).unwrap();
    app.operator().delete(&format!("/operator/apps/{}", app.app.key)).await.expect(204);
    app.stop().await;
    fs::write(positions::path(&folder.database), noted).unwrap();
    folder.serve().await.stop().await;
    assert_eq!(positions::read_missing(&folder.database).unwrap(), []);
    // Nor does a file that cannot be read keep the service from starting.
    File::create(positions::path(&folder.database)).unwrap().write_all(b"{").unwrap();
    folder.serve().await.stop().await;
}
