//! Statements that take too long on PostgreSQL: they are ended, and the service goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use model::ids::AppId;
use store::{DatabaseUrl, Error, PostgresSettings, Store};
use testkit::postgres::cluster;
use testkit::store::{Database, databases};

use crate::{NO_APP, execute, ids, insert, make_apps};

const FOREVER: &str = "select pg_sleep(86400)";

async fn open(url: &str, limit: Duration) -> Store {
    let settings = PostgresSettings { statement_limit: limit, ..PostgresSettings::default() };
    let url = DatabaseUrl::parse(url).unwrap();
    Store::open_with(&url, None, settings).await.unwrap_or_else(|error| panic!("{error}"))
}

async fn read_forever(store: &Store) -> Error {
    let read = store.read(|tx| tx.query(FOREVER, &[], |_| Ok(())));
    read.await.err().unwrap()
}

#[tokio::test]
async fn a_statement_that_takes_too_long_is_ended() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let store = open(&cluster().fresh_database(), Duration::from_millis(300)).await;
    make_apps(&store).await;
    execute(&store, "create table item (id bigint primary key)").await;
    // More than there are connections that read.
    for _ in 0..5 {
        let error = read_forever(&store).await;
        assert!(matches!(error, Error::Unavailable(_)), "{error:?}");
        assert!(error.to_string().contains("statement timeout"), "{error}");
    }
    assert_eq!(ids(&store).await, [0_i64; 0]);

    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    let stuck = store.write(AppId(1), move |tx| {
        counted.fetch_add(1, Ordering::Relaxed);
        tx.execute("insert into item (id) values (1)", &[])?;
        tx.query(FOREVER, &[], |_| Ok(()))
    });
    let (stuck, beside) = tokio::join!(stuck, insert(&store, AppId(2), 2));
    assert!(matches!(stuck, Err(Error::Unavailable(_))), "{stuck:?}");
    assert!(runs.load(Ordering::Relaxed) <= 2, "it is not tried again: {runs:?}");
    beside.unwrap();
    insert(&store, AppId(1), 3).await.unwrap();
    assert_eq!(ids(&store).await, [2, 3], "nothing of it is left");
    assert_eq!(store.trouble(), None);
    store.close().await;
}

/// Waits for something while a transaction has a lock, which some statements take.
pub(crate) async fn while_locked(store: &Store, lock: &'static [&'static str], meanwhile: impl Future<Output = ()>) {
    let (locked, is_locked) = tokio::sync::oneshot::channel();
    let (unlock, unlocked) = std::sync::mpsc::channel::<()>();
    let (locked, unlocked) = (parking_lot::Mutex::new(Some(locked)), parking_lot::Mutex::new(unlocked));
    let locking = store.write(NO_APP, move |tx| {
        for sql in lock {
            tx.execute(sql, &[])?;
        }
        if let Some(locked) = locked.lock().take() {
            locked.send(()).unwrap();
            unlocked.lock().recv().unwrap();
        }
        Ok::<_, Error>(())
    });
    let waiting = async {
        is_locked.await.unwrap();
        meanwhile.await;
        unlock.send(()).unwrap();
    };
    let (held, ()) = tokio::join!(locking, waiting);
    held.unwrap();
}

#[tokio::test]
async fn a_lock_of_somebody_else_is_waited_for_only_so_long() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let url = cluster().fresh_database();
    let store = open(&(url.clone() + "&options=-c%20lock_timeout%3D200ms"), Duration::from_secs(3600)).await;
    make_apps(&store).await;
    execute(&store, "create table item (id bigint primary key)").await;
    let administrator = open(&url, Duration::from_secs(3600)).await;
    let meanwhile = async {
        let error = insert(&store, AppId(1), 1).await.err().unwrap();
        assert!(matches!(error, Error::Unavailable(_)), "{error:?}");
        assert!(error.to_string().contains("lock timeout"), "{error}");
        let read: Result<Vec<i64>, Error> =
            store.read(|tx| tx.query("select id from item", &[], |row| row.get(0))).await;
        assert!(matches!(read, Err(Error::Unavailable(_))), "{read:?}");
    };
    while_locked(&administrator, &["lock table item in access exclusive mode"], meanwhile).await;
    insert(&store, AppId(1), 2).await.unwrap();
    assert_eq!(ids(&store).await, [2]);
    store.close().await;
    administrator.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_of_a_url_comes_first_but_not_for_migrations() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let url = cluster().fresh_database();
    let hasty = url.clone() + "&options=-c%20statement_timeout%3D500ms";
    let store = open(&hasty, Duration::from_secs(3600)).await;
    let error = read_forever(&store).await;
    assert!(error.to_string().contains("statement timeout"), "{error}");

    // Another node migrates, for longer than that.
    let administrator = open(&url, Duration::from_secs(3600)).await;
    let mut started = None;
    let meanwhile = async {
        let starting = tokio::spawn(async move { open(&hasty, Duration::from_secs(3600)).await });
        let waiting = "select count(*) from pg_stat_activity where wait_event = 'advisory'
                       and datname = current_database() and clock_timestamp() - query_start > interval '1 second'";
        while cluster().ask(&url, waiting) != "1" {
            assert!(!starting.is_finished(), "it has not waited");
            tokio::task::yield_now().await;
        }
        started = Some(starting);
    };
    let lock = &["set local idle_in_transaction_session_timeout = 0", "select pg_advisory_xact_lock(4703278012655316)"];
    while_locked(&administrator, lock, meanwhile).await;
    started.unwrap().await.unwrap().close().await;
    store.close().await;
    administrator.close().await;
}
