//! Transactions, commands that share a commit, and snapshots.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, mpsc};

use model::ids::AppId;
use parking_lot::Mutex;
use store::{Error, Tx};
use tokio::task::JoinSet;

use crate::{NO_APP, Refusal, execute, ids, insert, on_both, with_apps};

const ITEMS: &str = "create table item (id bigint primary key)";

#[tokio::test]
async fn an_error_rolls_back() {
    on_both(async |store, _| {
        execute(store, ITEMS).await;
        let done = store.write(NO_APP, |tx| {
            tx.execute("insert into item (id) values (1)", &[])?;
            Err::<(), _>(Refusal::Declined)
        });
        assert_eq!(done.await, Err(Refusal::Declined));
        assert_eq!(ids(store).await, [0; 0]);
        insert(store, NO_APP, 2).await.unwrap();
        assert_eq!(ids(store).await, [2]);
    })
    .await;
}

#[tokio::test]
async fn a_failed_statement_ends_its_transaction() {
    on_both(async |store, _| {
        execute(store, ITEMS).await;
        let done: Result<(), Error> = store
            .write(NO_APP, |tx| {
                tx.execute("insert into item (id) values (1)", &[])?;
                let again = tx.execute("insert into item (id) values (1)", &[]);
                assert!(matches!(again, Err(Error::Conflict(_))));
                let later = tx.execute("insert into item (id) values (2)", &[]);
                assert!(matches!(later, Err(Error::Conflict(_))), "later statements repeat the error");
                Ok(())
            })
            .await;
        assert!(matches!(done, Err(Error::Conflict(_))), "ignoring the error does not help: {done:?}");
        assert_eq!(ids(store).await, [0; 0]);
    })
    .await;
}

#[tokio::test]
async fn writers_that_wait_together_commit_together() {
    on_both(async |store, _| {
        execute(store, ITEMS).await;
        let before = store.commits();
        let mut writers = JoinSet::new();
        for id in 0..64 {
            let store = store.clone();
            writers.spawn(async move { insert(&store, NO_APP, id).await });
        }
        for done in writers.join_all().await {
            done.unwrap();
        }
        let n_commits = store.commits() - before;
        assert!(n_commits <= 32, "{n_commits} commits for 64 writes");
        assert_eq!(ids(store).await, (0..64).collect::<Vec<_>>());
    })
    .await;
}

#[tokio::test]
async fn a_panic_is_answered_and_the_store_lives_on() {
    on_both(async |store, _| {
        execute(store, ITEMS).await;
        let done: Result<(), Refusal> = store
            .write(NO_APP, |tx| {
                tx.execute("insert into item (id) values (1)", &[])?;
                panic!("on purpose");
            })
            .await;
        assert!(matches!(&done, Err(Refusal::Store(text)) if text.contains("on purpose")), "{done:?}");
        let done: Result<(), Refusal> = store.read(|_| panic!("on purpose too")).await;
        assert!(matches!(&done, Err(Refusal::Store(text)) if text.contains("on purpose too")), "{done:?}");
        let done: Result<Vec<()>, Refusal> =
            store.read(|tx| Ok(tx.query("select 1", &[], |_| panic!("on purpose, in the middle"))?)).await;
        assert!(done.is_err());
        assert_eq!(ids(store).await, [0; 0]);
        insert(store, NO_APP, 2).await.unwrap();
        assert_eq!(ids(store).await, [2]);
    })
    .await;
}

#[tokio::test]
async fn reads_see_one_state_and_change_nothing() {
    on_both(async |store, _| {
        execute(store, ITEMS).await;
        insert(store, NO_APP, 1).await.unwrap();
        let (looked, resume) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let reading = {
            let (store, looked, resume) = (store.clone(), Arc::clone(&looked), Arc::clone(&resume));
            tokio::spawn(async move {
                store
                    .read(move |tx| {
                        let sql = "select count(*) from item";
                        let first: i64 = tx.query_one(sql, &[], |row| row.get(0))?;
                        looked.wait();
                        resume.wait();
                        let second: i64 = tx.query_one(sql, &[], |row| row.get(0))?;
                        Ok::<_, Error>((first, second))
                    })
                    .await
            })
        };
        tokio::task::spawn_blocking(move || looked.wait()).await.unwrap();
        insert(store, NO_APP, 2).await.unwrap();
        assert_eq!(ids(store).await, [1, 2], "a read that begins now sees the change");
        tokio::task::spawn_blocking(move || resume.wait()).await.unwrap();
        assert_eq!(reading.await.unwrap().unwrap(), (1, 1), "the earlier read does not");
        let written: Result<u64, Error> = store.read(|tx| tx.execute("delete from item", &[])).await;
        assert!(matches!(written, Err(Error::Corrupt(_))), "{written:?}");
        assert_eq!(ids(store).await, [1, 2]);
    })
    .await;
}

#[tokio::test]
async fn a_read_whose_caller_has_gone_is_not_run() {
    on_both(async |store, _| {
        // More reads than there are threads for them, none of which ends before the gate is opened.
        let (open, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let mut holders = JoinSet::new();
        for _ in 0..32 {
            let (store, gate) = (store.clone(), Arc::clone(&gate));
            holders.spawn(async move {
                let wait = move |_: &mut Tx<'_>| {
                    let _ = gate.lock().recv();
                    Ok::<_, Error>(())
                };
                store.read(wait).await.unwrap();
            });
        }
        let was_run = Arc::new(AtomicBool::new(false));
        let late = {
            let (store, was_run) = (store.clone(), Arc::clone(&was_run));
            let read = move |_: &mut Tx<'_>| {
                was_run.store(true, Ordering::SeqCst);
                Ok::<_, Error>(())
            };
            tokio::spawn(async move { store.read(read).await })
        };
        // The spawned tasks run on this thread: yielding lets each of them queue its query.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        late.abort();
        assert!(late.await.unwrap_err().is_cancelled());
        drop(open);
        holders.join_all().await;
        // Everything that has queued is dealt with before it is closed.
        store.clone().close().await;
        assert!(!was_run.load(Ordering::SeqCst));
    })
    .await;
}

#[tokio::test]
async fn commands_of_many_apps_all_arrive() {
    with_apps(async |store, _| {
        execute(store, "create table item (app bigint not null, id bigint not null, primary key (app, id))").await;
        execute(store, "create table tally (app bigint primary key, n bigint not null)").await;
        let mut writers = JoinSet::new();
        for app in 0..8 {
            for _ in 0..25 {
                let store = store.clone();
                writers.spawn(async move {
                    store
                        .write(AppId(app), move |tx| {
                            let next = "insert into tally (app, n) values ($1, 1) \
                                        on conflict (app) do update set n = tally.n + 1 returning n";
                            let n: i64 = tx.query_one(next, &[app.into()], |row| row.get(0))?;
                            tx.execute("insert into item (app, id) values ($1, $2)", &[app.into(), n.into()])
                        })
                        .await
                        .map_err(|error: Error| error.to_string())
                });
            }
        }
        assert_eq!(writers.join_all().await, vec![Ok(1); 200]);
        let gaps: Result<i64, Error> = store
            .read(|tx| {
                let sql = "select count(*) from tally where n <> 25 or n <> \
                           (select max(id) from item where item.app = tally.app)";
                tx.query_one(sql, &[], |row| row.get(0))
            })
            .await;
        assert_eq!(gaps.unwrap(), 0);
    })
    .await;
}

#[tokio::test]
async fn closing_finishes_the_queue_and_refuses_the_rest() {
    on_both(async |store, home| {
        execute(store, ITEMS).await;
        let clone = store.clone();
        let mut writers = JoinSet::new();
        for id in 0..100 {
            let store = store.clone();
            writers.spawn(async move { insert(&store, NO_APP, id).await.map_err(|error| error.to_string()) });
        }
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        clone.close().await;
        assert_eq!(writers.join_all().await, vec![Ok(()); 100]);
        assert!(matches!(insert(store, NO_APP, 1000).await, Err(Error::Unavailable(_))));
        let read: Result<(), Error> = store.read(|_| Ok(())).await;
        assert!(matches!(read, Err(Error::Unavailable(_))));
        let again = home.open().await;
        assert_eq!(ids(&again).await, (0..100).collect::<Vec<_>>());
        again.close().await;
    })
    .await;
}
