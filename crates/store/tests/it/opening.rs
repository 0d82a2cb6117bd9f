//! Opening, migrating, reopening; files and their rights; URLs.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use store::{DatabaseUrl, Error, Store, Value};
use testkit::store::{Database, Home, databases};
use tokio::task::JoinSet;

use crate::{NO_APP, execute, ids, insert, on_both};

#[tokio::test]
async fn data_is_there_after_reopening() {
    on_both(async |store, home| {
        execute(store, "create table item (id bigint primary key)").await;
        insert(store, NO_APP, 7).await.unwrap();
        let steps = history(store).await;
        assert_eq!(steps[0].0, "0001_apps");
        store.clone().close().await;
        let again = home.open().await;
        assert_eq!(ids(&again).await, [7]);
        assert_eq!(history(&again).await, steps, "no step is applied twice");
        again.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_newer_database_is_refused() {
    on_both(async |store, home| {
        let newer = "insert into schema_version (version, name, checksum) values (999, '0999_later', 'x')";
        execute(store, newer).await;
        store.clone().close().await;
        let error = Store::open(&home.url).await.err().unwrap();
        assert!(error.to_string().contains("newer program"), "{error}");
    })
    .await;
}

#[tokio::test]
async fn a_changed_step_is_refused() {
    on_both(async |store, home| {
        execute(store, "update schema_version set checksum = 'other' where version = 1").await;
        store.clone().close().await;
        let error = Store::open(&home.url).await.err().unwrap();
        assert!(error.to_string().contains("0001_apps"), "{error}");
    })
    .await;
}

#[tokio::test]
async fn several_nodes_may_start_at_once() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let home = Home::new(Database::Postgres);
    let mut nodes = JoinSet::new();
    for _ in 0..6 {
        let url = home.url.clone();
        nodes.spawn(async move { Store::open(&url).await });
    }
    for node in nodes.join_all().await {
        let node = node.unwrap();
        assert_eq!(history(&node).await[0].0, "0001_apps");
        node.close().await;
    }
}

#[tokio::test]
async fn a_file_belongs_to_one_process() {
    let home = Home::new(Database::Sqlite);
    let store = home.open().await;
    assert!(store.is_single_process());
    let error = Store::open(&home.url).await.err().unwrap();
    assert!(matches!(error, Error::Unavailable(_)));
    assert!(error.to_string().contains("in use by another aerogram process"), "{error}");
    store.close().await;
    home.open().await.close().await;
}

#[tokio::test]
async fn files_are_for_their_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/aerogram.db");
    let store = Store::open(&DatabaseUrl::Sqlite(path.clone())).await.unwrap();
    insert_something(&store).await;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for suffix in ["", "-wal", ".lock"] {
        let path = format!("{}{suffix}", path.display());
        assert_eq!(mode(Path::new(&path)), 0o600, "{path}");
    }
    store.close().await;
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letter.db");
    std::fs::write(&path, "Dear Sir or Madam, this is not a database. ".repeat(100)).unwrap();
    let error = Store::open(&DatabaseUrl::Sqlite(path)).await.err().unwrap();
    assert!(matches!(error, Error::Corrupt(_)), "{error}");
}

#[tokio::test]
async fn the_log_stays_bounded() {
    let home = Home::new(Database::Sqlite);
    let DatabaseUrl::Sqlite(path) = &home.url else { panic!("asked for SQLite") };
    let log = format!("{}-wal", path.display());
    let store = home.open().await;
    execute(&store, "create table blobs (id bigint primary key, b blob)").await;
    let mut largest = 0;
    // Some MiB more than the log may grow to.
    for id in 0..320 {
        let sql = "insert into blobs (id, b) values ($1, $2)";
        let row = [Value::Int(id), Value::Bytes(vec![7; 1 << 20])];
        let done: Result<u64, Error> = store.write(NO_APP, move |tx| tx.execute(sql, &row)).await;
        done.unwrap();
        largest = largest.max(std::fs::metadata(&log).unwrap().len());
        // Usually at 64 MiB; when the thread that copies it back gets no turn, the writer sees to it at four
        // times as much.
        assert!(largest < 300 << 20, "the log grew to {largest}");
    }
    assert!(largest > 16 << 20, "the log was used: {largest}");
    store.close().await;
    assert!(std::fs::metadata(&log).map_or(0, |log| log.len()) == 0, "closing leaves no log");
}

#[test]
fn urls() {
    assert_eq!(DatabaseUrl::parse("sqlite:./data/a.db"), Ok(DatabaseUrl::Sqlite("./data/a.db".into())));
    let url = DatabaseUrl::parse("postgres://ann:s3cret@db.example:6432/mail?sslmode=disable").unwrap();
    assert_eq!(url.to_string(), "postgres://ann@db.example:6432/mail");
    let url = DatabaseUrl::parse("postgresql://db.example/mail?user=ann&password=s3cret").unwrap();
    assert_eq!(
        format!("{url} {url:?}"),
        "postgres://ann@db.example:5432/mail DatabaseUrl(postgres://ann@db.example:5432/mail)"
    );
    for wrong in [
        "",
        "sqlite:",
        "mysql://ann:s3cret@host/db",
        "/var/lib/a.db",
        "ann:s3cret@db",
        "postgres://h:s3cret/x",
        "postgres://ann:s3cret@a,b/db?target_session_attrs=standby",
    ] {
        let error = DatabaseUrl::parse(wrong).unwrap_err().to_string();
        assert!(error.ends_with('.') && !error.contains("s3cret"), "{wrong}: {error}");
    }
}

#[tokio::test]
async fn an_absent_server_is_unavailable() {
    let url = DatabaseUrl::parse("postgres://ann:s3cret@127.0.0.1:1/mail").unwrap();
    let error = Store::open(&url).await.err().unwrap();
    assert!(matches!(error, Error::Unavailable(_)), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("s3cret"));
}

async fn insert_something(store: &Store) {
    execute(store, "create table item (id bigint primary key)").await;
    insert(store, NO_APP, 1).await.unwrap();
}

async fn history(store: &Store) -> Vec<(String, String)> {
    let sql = "select name, checksum from schema_version order by version";
    let read = store.read(move |tx| tx.query(sql, &[], |row| Ok((row.get(0)?, row.get(1)?))));
    read.await.map_err(|error: Error| error.to_string()).unwrap()
}
