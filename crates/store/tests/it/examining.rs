//! Looking into files that may or may not be databases of ours.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use store::examine::{self, Examined};
use store::{DatabaseUrl, Row};
use testkit::store::{Database, Home, databases, fresh};

use crate::execute;

/// The names of all files beside this one, and its own.
fn listing(path: &Path) -> BTreeSet<OsString> {
    let files = std::fs::read_dir(path.parent().unwrap()).unwrap();
    files.map(|file| file.unwrap().file_name()).collect()
}

async fn examine<T: Send + 'static>(
    path: &Path,
    look: impl FnOnce(&mut store::Tx<'_>) -> store::Result<T> + Send + 'static,
) -> store::Result<Examined<T>> {
    let (examined, server) = examine::examine(&DatabaseUrl::Sqlite(path.to_owned()), None, look).await?;
    assert_eq!(server, None, "a file has no server");
    Ok(examined)
}

#[tokio::test]
async fn a_file_is_examined_while_it_is_in_use_and_afterwards() {
    let (store, home) = fresh(Database::Sqlite).await;
    let DatabaseUrl::Sqlite(path) = home.url.clone() else { panic!("asked for SQLite") };
    let look =
        |tx: &mut store::Tx<'_>| tx.query_one("select count(*) from app", &[], |row: &Row<'_>| row.get::<i64>(0));
    assert_eq!(examine(&path, look).await.unwrap(), Examined::Current(0));
    store.clone().close().await;
    let before = listing(&path);
    assert_eq!(examine(&path, look).await.unwrap(), Examined::Current(0));
    assert_eq!(listing(&path), before, "looking leaves nothing behind");
    // A copy without a lock, with signs that mean something in the address of a file.
    let odd = path.with_file_name("50% #1?.db");
    std::fs::copy(&path, &odd).unwrap();
    let before = listing(&odd);
    assert_eq!(examine(&odd, look).await.unwrap(), Examined::Current(0));
    assert_eq!(listing(&odd), before);

    let store = home.open().await;
    execute(&store, "delete from schema_version where version > 3").await;
    assert_eq!(examine(&path, look).await.unwrap(), Examined::Older);
    let newer = "insert into schema_version (version, name, checksum) values (0, '0999_later', 'x')";
    execute(&store, newer).await;
    let error = examine(&path, look).await.unwrap_err().to_string();
    assert!(error.contains("another build"), "{error}");
    store.close().await;
}

#[tokio::test]
async fn what_is_no_database_of_ours_is_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let look = |_: &mut store::Tx<'_>| Ok(());
    std::fs::write(&path, "").unwrap();
    assert_eq!(examine(&path, look).await.unwrap(), Examined::Empty);
    std::fs::write(&path, "not a database at all, but long enough to be looked at".repeat(100)).unwrap();
    let error = examine(&path, look).await.unwrap_err().to_string();
    assert!(error.contains("not a database"), "{error}");
}

#[tokio::test]
async fn a_server_is_examined_without_a_trace() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let home = Home::new(Database::Postgres);
    let look =
        |tx: &mut store::Tx<'_>| tx.query_one("select count(*) from app", &[], |row: &Row<'_>| row.get::<i64>(0));
    let (examined, server) = examine::examine(&home.url, None, look).await.unwrap();
    assert_eq!(examined, Examined::Empty);
    let server = server.unwrap();
    assert!(server.version.starts_with(|first: char| first.is_ascii_digit()), "{server:?}");
    assert!((1..server.most_connections).contains(&server.n_connections), "{server:?}");
    assert_eq!(examine::examine(&home.url, None, look).await.unwrap().0, Examined::Empty, "nothing was made");
    let store = home.open().await;
    assert_eq!(examine::examine(&home.url, None, look).await.unwrap().0, Examined::Current(0));
    execute(&store, "delete from schema_version where version > 3").await;
    assert_eq!(examine::examine(&home.url, None, look).await.unwrap().0, Examined::Older);
    store.close().await;
}
