//! A primary that ends, and the standby that takes its place.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use model::ids::AppId;
use parking_lot::Mutex;
use store::{DatabaseUrl, Error, PostgresSettings, Signal, Store};
use testkit::postgres::Cluster;
use testkit::store::{Database, databases};

use crate::{NO_APP, execute, ids, insert, make_apps};

/// A new database: its URL with both hosts, the standby first, and with the standby alone.
fn urls(primary: &Cluster, standby: &Cluster) -> (String, String) {
    let url = primary.fresh_database();
    let both = url.replacen('@', &format!("@{},", standby.host()), 1) + "&target_session_attrs=read-write";
    (both, url.replacen(&primary.host(), &standby.host(), 1))
}

async fn open(url: &str) -> Store {
    Store::open(&DatabaseUrl::parse(url).unwrap()).await.unwrap_or_else(|error| panic!("{error}"))
}

/// Writes rows of an app, one after the other, until it is told to stop.
struct WriterTask {
    accepted: Arc<Mutex<Vec<i64>>>,
    task: tokio::task::JoinHandle<()>,
}

impl WriterTask {
    fn start(store: &Store, app: i64, stop: &Arc<AtomicBool>) -> Self {
        let accepted = Arc::new(Mutex::new(Vec::new()));
        let (store, stop, noted) = (store.clone(), Arc::clone(stop), Arc::clone(&accepted));
        let task = tokio::spawn(async move {
            for n in 0.. {
                let id = app * 1_000_000_000 + n;
                match insert(&store, AppId(app), id).await {
                    Ok(()) => noted.lock().push(id),
                    Err(error) => assert!(matches!(error, Error::Unavailable(_)), "{error}"),
                }
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        Self { accepted, task }
    }

    /// Returns when so many more rows are accepted.
    async fn wait_for(&self, n_more: usize) {
        let before = self.accepted.lock().len();
        while self.accepted.lock().len() < before + n_more {
            assert!(!self.task.is_finished(), "the writer has stopped");
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_promoted_standby_is_used_and_nothing_accepted_is_lost() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (primary, standby) = Cluster::with_standby();
    let (url, url_of_standby) = urls(&primary, &standby);
    let (store, other) = (open(&url).await, open(&url).await);
    make_apps(&store).await;
    execute(&store, "create table item (id bigint primary key)").await;
    let mut signals = other.signals();
    let stop = Arc::new(AtomicBool::new(false));
    let n_reads = Arc::new(AtomicUsize::new(0));
    let writers: Vec<WriterTask> = (1..=4).map(|app| WriterTask::start(&store, app, &stop)).collect();
    let reader = tokio::spawn({
        let (store, stop, n_reads) = (store.clone(), Arc::clone(&stop), Arc::clone(&n_reads));
        async move {
            while !stop.load(Ordering::Relaxed) {
                match store.read(|tx| tx.query("select max(id) from item", &[], |_| Ok(()))).await {
                    Ok(_) => drop(n_reads.fetch_add(1, Ordering::Relaxed)),
                    Err(error) => assert!(matches!(error, Error::Unavailable(_)), "{error}"),
                }
            }
        }
    });
    for writer in &writers {
        writer.wait_for(20).await;
    }
    tokio::task::spawn_blocking(move || primary.kill()).await.unwrap();
    // The first callers are told that the connection is lost.
    let refused = async || match insert(&store, NO_APP, 1).await {
        Err(error @ Error::Unavailable(_)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let told = loop {
        let told = refused().await;
        if told.contains("no host of the database URL can be used") {
            break told;
        }
    };
    assert!(told.contains("it is a standby"), "{told}");
    let standby = tokio::task::spawn_blocking(move || {
        standby.promote();
        standby
    });
    let standby = standby.await.unwrap();
    for writer in &writers {
        writer.wait_for(20).await;
    }
    let before = n_reads.load(Ordering::Relaxed);
    while n_reads.load(Ordering::Relaxed) < before + 20 {
        tokio::task::yield_now().await;
    }
    stop.store(true, Ordering::Relaxed);
    reader.await.unwrap();
    let mut accepted = Vec::new();
    for writer in writers {
        writer.task.await.unwrap();
        accepted.append(&mut writer.accepted.lock());
    }
    let stored = ids(&store).await;
    let lost: Vec<&i64> = accepted.iter().filter(|id| stored.binary_search(id).is_err()).collect();
    assert!(lost.is_empty(), "of {} accepted rows these are gone: {lost:?}", accepted.len());

    // Both nodes hold their locks again, and hear of each other.
    let locks = "select count(*) from pg_locks where locktype = 'advisory' and classid = 470327801";
    while standby.ask(&url_of_standby, locks) != "2" {
        tokio::task::yield_now().await;
    }
    loop {
        let signaling = store.write(AppId(7), |tx| {
            tx.signal(Signal::Log(AppId(7)));
            tx.execute("delete from item where id = 7", &[])
        });
        let _: u64 = signaling.await.map_err(|error: Error| error.to_string()).unwrap();
        // The other node may have its lock and not listen yet.
        let heard = tokio::time::timeout(Duration::from_millis(100), signals.all()).await;
        if heard.is_ok_and(|heard| heard.contains(&Signal::Log(AppId(7)))) {
            break;
        }
    }
    assert_eq!(store.trouble(), None);
    store.close().await;
    other.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_waits_for_the_standby_however_long_that_takes() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (primary, _standby) = Cluster::with_standby();
    let url = primary.fresh_database();
    let settings = PostgresSettings { statement_limit: Duration::from_millis(200), ..PostgresSettings::default() };
    let store = Store::open_with(&DatabaseUrl::parse(&url).unwrap(), None, settings).await.unwrap();
    execute(&store, "create table item (id bigint primary key)").await;
    // There is no such standby.
    primary.set("synchronous_standby_names", "nobody");
    let writing = tokio::spawn({
        let store = store.clone();
        async move { insert(&store, NO_APP, 1).await }
    });
    let waiting = "select count(*) from pg_stat_activity where wait_event = 'SyncRep' \
                   and clock_timestamp() - query_start > interval '1 second' and application_name = 'aerogram'";
    while primary.ask(&url, waiting) != "1" {
        assert!(!writing.is_finished(), "answered before the standby has it");
        tokio::task::yield_now().await;
    }
    primary.set("synchronous_standby_names", "");
    writing.await.unwrap().unwrap();
    assert_eq!(ids(&store).await, [1]);
    store.close().await;
}

#[tokio::test]
async fn a_standby_alone_is_refused_and_told_of() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (primary, standby) = Cluster::with_standby();
    let (_, url) = urls(&primary, &standby);
    for options in ["", "&target_session_attrs=any", "&target_session_attrs=read-write"] {
        let error = Store::open(&DatabaseUrl::parse(&(url.clone() + options)).unwrap()).await.err().unwrap();
        assert!(matches!(error, Error::Unavailable(_)), "{error:?}");
        assert!(error.to_string().contains("it is a standby, and the service needs the primary"), "{error}");
    }
}

/// A connection on which the server has begun to refuse changes is replaced, as when an address has come to belong to another
/// server.
#[tokio::test]
async fn a_connection_that_refuses_changes_is_thrown_away() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (store, _home) = testkit::store::fresh(Database::Postgres).await;
    execute(&store, "create table item (id bigint primary key)").await;
    let session = async || {
        let asked = store
            .write(NO_APP, |tx| tx.query_one("select cast(pg_backend_pid() as bigint)", &[], |row| row.get::<i64>(0)));
        asked.await.map_err(|error: Error| error.to_string()).unwrap()
    };
    let before = session().await;
    // For this session only, so that the next one takes changes.
    execute(&store, "set default_transaction_read_only = on").await;
    insert(&store, NO_APP, 1).await.unwrap();
    assert_ne!(session().await, before);
    assert_eq!(ids(&store).await, [1]);
    store.close().await;
}
