//! The log of an app: one order, no gaps, visible in order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::event::RecordKind;
use model::ids::{AppId, Offset, Ordinal};
use model::time::UtcMillis;
use store::log::{self, NewRecord};
use store::{Constraint, Error, Store, apps};
use testkit::store::{Database, databases, fresh};
use tokio::task::JoinSet;

use crate::on_both;
use crate::sample::{NOW, conflict, make_app, record};

const WRITERS: u32 = 32;
const APPENDS: u32 = 12;

#[tokio::test]
async fn records_come_back_as_they_were() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let records: Vec<NewRecord> = RecordKind::NUMBERED
            .into_iter()
            .map(|(number, kind)| NewRecord {
                kind,
                ordinal: (number % 2 == 0).then_some(Ordinal(u32::MAX)),
                body: vec![0xff; usize::try_from(number).unwrap()],
            })
            .collect();
        let (written, at) = (records.clone(), UtcMillis(-1));
        let last = store.write(app, move |tx| log::append(tx, app, at, written.clone())).await.unwrap();
        let n_records = RecordKind::NUMBERED.len() as i64;
        assert_eq!(last, Offset(n_records), "the offset of the last record");
        let last = store.write(app, move |tx| log::append(tx, app, NOW, Vec::new())).await.unwrap();
        assert_eq!(last, Offset(n_records), "nothing to append moves nothing");
        let found = store.read(move |tx| log::after(tx, app, Offset(0), 100)).await.unwrap();
        assert_eq!(found.iter().map(|record| record.offset.0).collect::<Vec<_>>(), (1..=n_records).collect::<Vec<_>>());
        for (found, new) in found.iter().zip(&records) {
            assert_eq!((found.at, found.kind, found.ordinal, &found.body), (at, new.kind, new.ordinal, &new.body));
        }
        let page = store.read(move |tx| log::after(tx, app, Offset(2), 3)).await.unwrap();
        assert_eq!(page, found[2..5]);
        assert_eq!(store.read(move |tx| log::after(tx, app, Offset(n_records), 3)).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn what_is_rolled_back_leaves_no_gap() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let append = move |tx: &mut store::Tx<'_>| log::append(tx, app, NOW, vec![record("kept")]);
        assert_eq!(store.write(app, append).await.unwrap(), Offset(1));
        let failed: Result<(), Error> = store
            .write(app, move |tx| {
                log::append(tx, app, NOW, vec![record("lost"); 2])?;
                Err(Error::Conflict(Constraint::Index("on purpose".to_owned())))
            })
            .await;
        assert_eq!(conflict(failed), "on purpose");
        assert_eq!(store.write(app, append).await.unwrap(), Offset(2));
        let found = store.read(move |tx| log::after(tx, app, Offset(0), 100)).await.unwrap();
        assert!(found.iter().all(|record| record.body == b"kept"), "{found:?}");
    })
    .await;
}

#[tokio::test]
async fn an_app_that_is_not_there_has_no_log() {
    on_both(async |store, _| {
        let nobody = AppId(77);
        let done = store.write(nobody, move |tx| log::append(tx, nobody, NOW, vec![record("x")])).await;
        assert_eq!(conflict(done), "the app was deleted");
        assert_eq!(store.read(move |tx| log::head(tx, nobody)).await.unwrap(), Offset(0));
        assert_eq!(store.read(move |tx| log::after(tx, nobody, Offset(0), 9)).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn a_transaction_reads_what_it_appended() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let seen = store.write(app, move |tx| {
            let first = apps::take_ordinal(tx, app)?;
            log::append(tx, app, NOW, vec![record("one")])?;
            log::append(tx, app, NOW, vec![record("two"), record("three")])?;
            assert_eq!(apps::take_ordinal(tx, app)?.0, first.0 + 1);
            assert_eq!((log::head(tx, app)?, log::n_bytes(tx, app)?), (Offset(3), 11));
            assert_eq!((log::start(tx, app)?, log::time_after(tx, app, Offset(2))?), (Offset(1), Some(NOW)));
            assert_eq!(log::delete_before(tx, app, Offset(2), 10)?, 1);
            log::append(tx, app, NOW, vec![record("four")])?;
            let bodies = log::after(tx, app, Offset(0), 10)?.into_iter().map(|record| record.body);
            Ok::<_, Error>(bodies.collect::<Vec<_>>())
        });
        assert_eq!(seen.await.unwrap(), [&b"two"[..], b"three", b"four"]);
        let after = store.write(app, move |tx| {
            Ok::<_, Error>((log::head(tx, app)?, log::n_bytes(tx, app)?, apps::take_ordinal(tx, app)?.0))
        });
        assert_eq!(after.await.unwrap(), (Offset(4), 12, 2), "as the transaction left it");
    })
    .await;
}

#[tokio::test]
async fn an_app_deleted_later_in_the_transaction_leaves_no_records() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let both = store.write(app, move |tx| {
            log::append(tx, app, NOW, vec![record("late")])?;
            apps::delete(tx, app)
        });
        assert!(both.await.unwrap());
        assert_eq!(store.read(move |tx| log::after(tx, app, Offset(0), 9)).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn the_operator_can_append_for_an_app() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let append = move |tx: &mut store::Tx<'_>| log::append(tx, app, NOW, vec![record("x")]);
        for last in 1..=3 {
            let by = if last == 2 { app } else { apps::OPERATOR };
            assert_eq!(store.write(by, append).await.unwrap(), Offset(last));
        }
    })
    .await;
}

#[tokio::test]
async fn many_writers_of_one_app() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        crowd(std::slice::from_ref(store), &[app]).await;
    })
    .await;
}

#[tokio::test]
async fn many_writers_of_several_apps() {
    on_both(async |store, _| {
        let mut apps = Vec::new();
        for n in 0..5 {
            apps.push(make_app(store, n).await);
        }
        crowd(std::slice::from_ref(store), &apps).await;
    })
    .await;
}

#[tokio::test]
async fn two_nodes_write_one_log() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (store, home) = fresh(Database::Postgres).await;
    let other = home.open().await;
    let apps = [make_app(&store, 1).await, make_app(&other, 2).await];
    crowd(&[store.clone(), other.clone()], &apps).await;
    store.close().await;
    other.close().await;
}

/// Writers on all stores append to all apps while a reader on each store follows each app.
async fn crowd(stores: &[Store], apps: &[AppId]) {
    let done = Arc::new(AtomicBool::new(false));
    let mut readers = JoinSet::new();
    for store in stores {
        for app in apps {
            readers.spawn(follow(store.clone(), *app, Arc::clone(&done)));
        }
    }
    let mut writers = JoinSet::new();
    for (writer, store) in (0..WRITERS).zip(stores.iter().cycle()) {
        let (store, apps) = (store.clone(), apps.to_vec());
        writers.spawn(async move {
            let mut taken = Vec::new();
            for (n, app) in (0..APPENDS).zip(apps.into_iter().cycle().skip(writer as usize)) {
                let name = format!("{writer}:{n}");
                let records = vec![record(name.as_str()); n as usize % 3 + 1];
                let n_records = records.len();
                let last = store.write(app, move |tx| log::append(tx, app, NOW, records.clone())).await.unwrap();
                let first = last.0 + 1 - i64::try_from(n_records).unwrap();
                taken.extend((first..=last.0).map(|position| ((app, Offset(position)), name.clone())));
            }
            taken
        });
    }
    let taken: Vec<_> = writers.join_all().await.into_iter().flatten().collect();
    done.store(true, Ordering::SeqCst);
    let n_taken = taken.len();
    let written: BTreeMap<_, _> = taken.into_iter().collect();
    assert_eq!(written.len(), n_taken, "no position was given out twice");
    for seen in readers.join_all().await {
        let app = seen[0].0.0;
        let of_app: Vec<_> = written.iter().filter(|((of, _), _)| *of == app).collect();
        assert_eq!(seen.iter().map(|(place, name)| (place, name)).collect::<Vec<_>>(), of_app);
    }
}

/// Reads what is new until the writers are done; asserts on the way that every snapshot continues the last
/// without a gap.
async fn follow(store: Store, app: AppId, done: Arc<AtomicBool>) -> Vec<((AppId, Offset), String)> {
    let mut seen = Vec::new();
    loop {
        let is_last = done.load(Ordering::SeqCst);
        let from = Offset(i64::try_from(seen.len()).unwrap());
        let read = store.read(move |tx| Ok::<_, Error>((log::head(tx, app)?, log::after(tx, app, from, 100_000)?)));
        let (head, records) = read.await.unwrap();
        let positions: Vec<_> = records.iter().map(|record| record.offset.0).collect();
        assert_eq!(positions, (from.0 + 1..=head.0).collect::<Vec<_>>(), "of app {app:?}");
        let texts = records.into_iter().map(|record| (record.offset, String::from_utf8(record.body).unwrap()));
        seen.extend(texts.map(|(offset, text)| ((app, offset), text)));
        if is_last {
            return seen;
        }
    }
}
