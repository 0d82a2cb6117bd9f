//! A PostgreSQL server that drops connections.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Barrier, OnceLock};

use model::ids::AppId;
use parking_lot::Mutex;
use store::{Error, Signal, Store, Trouble};
use testkit::store::{Database, databases, fresh};

use crate::{NO_APP, execute, ids, insert, make_apps, sample};

/// Ends every connection to this database but the caller's own, and waits until they have ended.
async fn cut(store: &Store) {
    let sql = "select count(pg_terminate_backend(pid, 60000)) from pg_stat_activity \
               where datname = current_database() and pid <> pg_backend_pid()";
    let cut: Result<i64, Error> = store.read(move |tx| tx.query_one(sql, &[], |row| row.get(0))).await;
    assert!(cut.unwrap() > 0);
}

#[tokio::test]
async fn idle_connections_are_made_again() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (store, home) = fresh(Database::Postgres).await;
    execute(&store, "create table item (id bigint primary key)").await;
    let knife = home.open().await;
    let mut signals = store.signals();
    for id in 0..3 {
        assert_eq!(ids(&store).await.len(), usize::try_from(id).unwrap());
        cut(&knife).await;
        // The listener tells that it was away; by then the other connections know as well.
        assert_eq!(signals.next().await, Signal::Jobs);
        assert_eq!(signals.next().await, Signal::Apps);
        insert(&store, NO_APP, id).await.unwrap();
    }
    store.close().await;
    knife.close().await;
}

#[tokio::test]
async fn a_transaction_cut_before_its_commit_is_run_again() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (store, _home) = fresh(Database::Postgres).await;
    execute(&store, "create table item (id bigint primary key)").await;
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    let suicide = "select 1 where pg_terminate_backend(pg_backend_pid())";
    let once = store.write(NO_APP, move |tx| {
        tx.execute("insert into item (id) values (1)", &[])?;
        if counted.fetch_add(1, Ordering::SeqCst) == 0 {
            tx.query(suicide, &[], |_| Ok(()))?;
        }
        Ok::<_, Error>(())
    });
    once.await.unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    assert_eq!(ids(&store).await, [1]);
    let always: Result<Vec<()>, Error> = store.write(NO_APP, move |tx| tx.query(suicide, &[], |_| Ok(()))).await;
    assert!(matches!(always, Err(Error::Unavailable(_))), "{always:?}");
    insert(&store, NO_APP, 2).await.unwrap();
    assert_eq!(ids(&store).await, [1, 2]);
    store.close().await;
}

#[tokio::test]
async fn a_node_that_freezes_in_a_transaction_does_not_stop_the_others() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (frozen, home) = fresh(Database::Postgres).await;
    execute(&frozen, "create table item (id bigint primary key)").await;
    let app = sample::make_app(&frozen, 1).await;
    let other = home.open().await;
    let (thaw, thawed) = std::sync::mpsc::channel::<()>();
    let (began, begins) = tokio::sync::oneshot::channel();
    let (thawed, began) = (Mutex::new(thawed), Mutex::new(Some(began)));
    let writing = frozen.write(app, move |tx| {
        tx.execute("insert into item (id) values (1)", &[])?;
        if let Some(began) = began.lock().take() {
            began.send(()).unwrap();
            // Holds the row of the app, and says nothing more to the server.
            thawed.lock().recv().unwrap();
        }
        tx.execute("insert into item (id) values (2)", &[])?;
        Ok::<_, Error>(())
    });
    let meanwhile = async {
        begins.await.unwrap();
        insert(&other, app, 3).await.unwrap();
        assert_eq!(ids(&other).await, [3], "the other transaction was rolled back");
        thaw.send(()).unwrap();
    };
    let (written, ()) = tokio::join!(writing, meanwhile);
    written.unwrap();
    assert_eq!(ids(&other).await, [1, 2, 3], "it was run again");
    frozen.close().await;
    other.close().await;
}

/// Two nodes lock the same two rows in opposite order, and each waits for the other until the server picks a
/// victim.
#[tokio::test]
async fn the_victim_of_a_deadlock_is_run_again() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (store, home) = fresh(Database::Postgres).await;
    make_apps(&store).await;
    execute(&store, "create table pair (id bigint primary key, n bigint not null)").await;
    execute(&store, "insert into pair (id, n) values (1, 0), (2, 0)").await;
    let both_hold_one = Arc::new(Barrier::new(2));
    let one_is_through = Arc::new(OnceLock::new());
    let runs = Arc::new(AtomicU32::new(0));
    let lock_both = |store: Store, first: i64, second: i64| {
        let (barrier, runs) = (Arc::clone(&both_hold_one), Arc::clone(&runs));
        let (through, other_is_through) = (Arc::clone(&one_is_through), Arc::clone(&one_is_through));
        let is_first_run = AtomicBool::new(true);
        tokio::spawn(async move {
            let add = "update pair set n = n + 1 where id = $1";
            let done = store.write(AppId(first), move |tx| {
                tx.execute("set local deadlock_timeout = '10ms'", &[])?;
                runs.fetch_add(1, Ordering::SeqCst);
                let is_first_run = is_first_run.swap(false, Ordering::SeqCst);
                if !is_first_run {
                    // Otherwise the victim may be back before the other has noticed, and the two meet again
                    // and again.
                    other_is_through.wait();
                }
                tx.execute(add, &[first.into()])?;
                if is_first_run {
                    barrier.wait();
                }
                tx.execute(add, &[second.into()])
            });
            let done = done.await.map_err(|error: Error| error.to_string());
            through.get_or_init(|| ());
            done
        })
    };
    let other = home.open().await;
    let (one, two) = (lock_both(store.clone(), 1, 2), lock_both(other.clone(), 2, 1));
    assert_eq!((one.await.unwrap(), two.await.unwrap()), (Ok(1), Ok(1)));
    assert_eq!(runs.load(Ordering::SeqCst), 3, "one of them was the victim of a deadlock");
    let sum: Result<i64, Error> =
        store.read(|tx| tx.query_one("select cast(sum(n) as bigint) from pair", &[], |row| row.get(0))).await;
    assert_eq!(sum.unwrap(), 4);
    store.close().await;
    other.close().await;
}

#[tokio::test]
async fn what_does_not_work_is_known_until_it_works_again() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (store, _home) = fresh(Database::Postgres).await;
    let (knife, _other_home) = fresh(Database::Postgres).await;
    execute(&store, "create table item (id bigint primary key)").await;
    let name: Result<String, Error> =
        store.read(|tx| tx.query_one("select cast(current_database() as text)", &[], |row| row.get(0))).await;
    let name = name.unwrap();
    assert_eq!(store.trouble(), None);

    let allow_connections = async |allowed: bool| {
        let sql = format!("alter database {name} with allow_connections {allowed}");
        let done: Result<u64, Error> = knife.write(NO_APP, move |tx| tx.execute(&sql, &[])).await;
        done.unwrap();
    };
    allow_connections(false).await;
    let cut = format!("select count(pg_terminate_backend(pid, 60000)) from pg_stat_activity where datname = '{name}'");
    let cut: Result<i64, Error> = knife.read(move |tx| tx.query_one(&cut, &[], |row| row.get(0))).await;
    assert!(cut.unwrap() > 0);
    let read = async || store.read(|tx| tx.query("select id from item", &[], |_| Ok::<_, Error>(()))).await;
    assert!(matches!(insert(&store, NO_APP, 1).await, Err(Error::Unavailable(_))));
    assert_eq!(store.trouble(), Some(Trouble::Writing));
    assert!(matches!(read().await, Err(Error::Unavailable(_))));
    assert_eq!(store.trouble(), Some(Trouble::Reading));

    allow_connections(true).await;
    // Nobody tries to connect before a short pause is over.
    while read().await.is_err() {
        tokio::task::yield_now().await;
    }
    assert_eq!(store.trouble(), Some(Trouble::Writing), "nobody has written yet");
    // A commit without changes proves nothing.
    let nothing = store.write(NO_APP, |tx| tx.execute("update item set id = 1 where id = 7", &[])).await;
    assert!(matches!(nothing, Ok::<_, Error>(0)));
    assert_eq!(store.trouble(), Some(Trouble::Writing));
    insert(&store, NO_APP, 1).await.unwrap();
    assert_eq!(store.trouble(), None);
    store.close().await;
    knife.close().await;
}
