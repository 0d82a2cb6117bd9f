//! Copies of a database file that is in use.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use store::backup::{BackupError, copy};
use store::{DatabaseUrl, Error, Store, Value};
use testkit::store::{Database, Home, fresh};

use crate::{NO_APP, execute, ids, insert};

/// Enough for a copy to take a while.
const ROWS: i64 = 2_000;

async fn filled() -> (Store, Home, PathBuf) {
    let (store, home) = fresh(Database::Sqlite).await;
    let DatabaseUrl::Sqlite(path) = home.url.clone() else { panic!("asked for SQLite") };
    execute(&store, "create table item (id bigint primary key, note blob)").await;
    let sql = "insert into item (id, note) values ($1, $2)";
    let rows = || (0..ROWS).map(|id| [Value::Int(id), Value::Bytes(vec![7; 4096])]);
    let filled: Result<u64, Error> = store.write(NO_APP, move |tx| tx.execute_many(sql, rows())).await;
    filled.unwrap();
    (store, home, path)
}

async fn ids_in(path: &Path) -> Vec<i64> {
    let store = Store::open(&DatabaseUrl::Sqlite(path.to_owned())).await.unwrap();
    let found = ids(&store).await;
    store.close().await;
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_one_state_while_others_commit() {
    let (store, _home, path) = filled().await;
    let target = path.with_file_name("copy.db");
    let is_over = Arc::new(AtomicBool::new(false));
    let (begun, begins) = tokio::sync::oneshot::channel();
    let writing = tokio::spawn({
        let (store, is_over) = (store.clone(), Arc::clone(&is_over));
        async move {
            let mut begun = Some(begun);
            let mut next = ROWS;
            while !is_over.load(Ordering::Relaxed) {
                insert(&store, NO_APP, next).await.unwrap();
                next += 1;
                begun.take().map(|begun| begun.send(()));
            }
            next
        }
    });
    begins.await.unwrap();
    let n_bytes = copy(&path, &target).await.unwrap();
    let committed_by_now = ids(&store).await;
    is_over.store(true, Ordering::Relaxed);
    let next = writing.await.unwrap();
    assert_eq!(std::fs::metadata(&target).unwrap().len(), n_bytes);

    let copied = ids_in(&target).await;
    // What was there at one moment: a beginning of what was committed one after the other.
    assert_eq!(copied, (0..i64::try_from(copied.len()).unwrap()).collect::<Vec<_>>());
    assert!(copied.len() > usize::try_from(ROWS).unwrap(), "what was committed before is there");
    assert!(copied.len() <= committed_by_now.len() && next > ROWS);

    // With nobody writing it is everything.
    let second = path.with_file_name("second.db");
    copy(&path, &second).await.unwrap();
    assert_eq!(ids_in(&second).await, ids(&store).await);
    store.close().await;
    // Nor does it matter whether anybody has it open.
    let third = path.with_file_name("third.db");
    copy(&path, &third).await.unwrap();
    assert_eq!(ids_in(&third).await, ids_in(&second).await);
}

#[tokio::test]
async fn a_copy_is_private_and_overwrites_nothing() {
    let (store, _home, path) = filled().await;
    let target = path.with_file_name("copy.db");
    copy(&path, &target).await.unwrap();
    assert_eq!(std::fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    let partial = path.with_file_name("copy.db.partial");
    assert!(!partial.exists());
    let before = std::fs::read(&target).unwrap();
    assert!(matches!(copy(&path, &target).await, Err(BackupError::Exists(at)) if at == target));
    assert_eq!(std::fs::read(&target).unwrap(), before);

    std::fs::remove_file(&target).unwrap();
    std::fs::write(&partial, "half").unwrap();
    assert!(matches!(copy(&path, &target).await, Err(BackupError::Unfinished(at)) if at == partial));
    assert_eq!(std::fs::read(&partial).unwrap(), b"half");
    std::fs::remove_file(&partial).unwrap();

    let nowhere = path.with_file_name("no-such-folder").join("copy.db");
    assert!(matches!(copy(&path, &nowhere).await, Err(BackupError::File(..))));
    let absent = path.with_file_name("absent.db");
    assert!(matches!(copy(&absent, &target).await, Err(BackupError::NoDatabase(at)) if at == absent));
    // What cannot be looked at may be there all the same.
    let hidden = path.join("hidden.db");
    assert!(matches!(copy(&hidden, &target).await, Err(BackupError::Unreadable(at, _)) if at == hidden));
    assert!(!absent.exists() && !target.exists());
    store.close().await;
}

#[tokio::test]
async fn what_is_no_database_leaves_no_copy() {
    let folder = tempfile::tempdir().unwrap();
    let (letter, target) = (folder.path().join("letter.db"), folder.path().join("copy.db"));
    std::fs::write(&letter, "Dear Sir or Madam, this is not a database. ".repeat(100)).unwrap();
    assert!(matches!(copy(&letter, &target).await, Err(BackupError::Store(Error::Corrupt(_)))));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
