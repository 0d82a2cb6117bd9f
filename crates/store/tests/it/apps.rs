//! Apps, and that nothing of a deleted one is left.

use model::app::Mode;
use model::ids::{AppId, Ordinal};
use store::apps::{self, App, SecretHashes};
use store::counters::Metric;
use store::documents::DocumentKind;
use store::pushes::Tally;
use store::{Error, Signal, Store};
use store::{blocks, channels, counters, documents, idempotency, jobs, log, pushes, sandbox, terms};

use crate::sample::{self, NOW, conflict, make_app};
use crate::{on_both, schema};

fn expected(n: u8, id: AppId) -> App {
    let new = sample::app(n);
    App { id, key: new.key, name: new.name, mode: new.mode, created: new.created }
}

#[tokio::test]
async fn an_app_is_found_by_key_and_number() {
    on_both(async |store, _| {
        let mut signals = store.signals();
        let first = make_app(store, 1).await;
        assert_eq!(signals.next().await, Signal::Apps);
        let second = make_app(store, 2).await;
        assert_eq!(store.read(apps::list).await.unwrap(), [expected(1, first), expected(2, second)]);
        let (found, secrets) = store.read(|tx| apps::by_key(tx, sample::app(2).key.as_str())).await.unwrap().unwrap();
        assert_eq!(found, expected(2, second));
        assert!(secrets == sample::app(2).secrets);
        let (found, secrets) = store.read(move |tx| apps::by_id(tx, first)).await.unwrap().unwrap();
        assert_eq!(found, expected(1, first));
        assert!(secrets == sample::app(1).secrets);
        assert!(store.read(|tx| apps::by_key(tx, "nobody")).await.unwrap().is_none());
        assert!(store.read(|tx| apps::by_id(tx, AppId(0))).await.unwrap().is_none());
    })
    .await;
}

#[tokio::test]
async fn an_app_can_be_changed() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        let secrets = SecretHashes { app: [7; 32], master: [8; 32] };
        let changed: Result<(), Error> = store
            .write(app, move |tx| {
                apps::set_name_and_mode(tx, app, "Neu", Mode::Production)?;
                apps::set_secrets(tx, app, &SecretHashes { app: [7; 32], master: [8; 32] })
            })
            .await;
        changed.unwrap();
        let (found, hashes) = store.read(move |tx| apps::by_id(tx, app)).await.unwrap().unwrap();
        assert_eq!(found, App { name: "Neu".to_owned(), mode: Mode::Production, ..expected(1, app) });
        assert!(hashes == secrets);
        let (found, hashes) = store.read(move |tx| apps::by_id(tx, other)).await.unwrap().unwrap();
        assert_eq!(found, expected(2, other));
        assert!(hashes == sample::app(2).secrets);
    })
    .await;
}

#[tokio::test]
async fn numbers_of_apps_are_never_given_out_again() {
    on_both(async |store, _| {
        let first = make_app(store, 1).await;
        let taken = store.write(AppId(0), |tx| apps::insert(tx, &sample::app(1))).await;
        assert_eq!(conflict(taken), "app_by_key");
        let second = make_app(store, 2).await;
        assert_eq!(second.0, first.0 + 1, "a refused app takes no number");
        assert!(store.write(second, move |tx| apps::delete(tx, second)).await.unwrap());
        assert!(!store.write(second, move |tx| apps::delete(tx, second)).await.unwrap());
        assert!(store.read(|tx| apps::by_key(tx, sample::app(2).key.as_str())).await.unwrap().is_none());
        assert_eq!(make_app(store, 2).await.0, second.0 + 1);
    })
    .await;
}

/// Puts `n` rows or more into every table that has rows of apps.
async fn fill(store: &Store, app: AppId, n: u32) {
    let filled: Result<(), Error> = store
        .write(app, move |tx| {
            for n in 0..n {
                log::append(tx, app, NOW, &[sample::record("x")])?;
                terms::insert(tx, app, &sample::term("group", &n.to_string()))?;
                let ordinal = apps::take_ordinal(tx, app)?;
                channels::insert(tx, app, &channels::Channel { ordinal, ..sample::channel(n) })?;
                channels::replace_keys(tx, app, Ordinal(n), &[sample::key("address", n.to_string())])?;
                pushes::insert(tx, app, &sample::push(n))?;
                pushes::add_tally(tx, app, sample::id(n), "ios", &Tally::default())?;
                blocks::insert(tx, app, &sample::block(n, 0), &sample::progress())?;
                jobs::enqueue(tx, app, &sample::job(n, 10))?;
                counters::add(tx, app, Metric::Sends, NOW, &n.to_string(), 1)?;
                documents::put(tx, app, DocumentKind::Platform, &n.to_string(), "{}", NOW)?;
                let kept = idempotency::Kept { request: Vec::new(), answer: String::new() };
                idempotency::keep(tx, app, &n.to_string(), &kept, NOW)?;
                sandbox::add(tx, app, &[sample::delivery(n, n)])?;
            }
            Ok(())
        })
        .await;
    filled.unwrap();
}

/// The catalog says which tables there are, so that a new one cannot be forgotten.
#[tokio::test]
async fn erasing_an_app_leaves_nothing_of_it_and_all_of_others() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        fill(store, app, 25).await;
        fill(store, other, 25).await;
        let tables = schema::tables(store).await;
        let owned: Vec<_> = tables.iter().filter(|(_, table)| table.has_column("app")).map(|(name, _)| name).collect();
        assert_eq!(owned.len(), tables.len() - 3, "all but app, serial and schema_version belong to apps");
        for table in &owned {
            assert!(schema::count(store, table, app).await >= 25, "this test puts rows into {table}");
        }
        assert!(store.write(app, move |tx| apps::delete(tx, app)).await.unwrap());
        let mut n_slices = 0;
        while store.write(app, move |tx| apps::erase_some(tx, app, 10)).await.unwrap() {
            n_slices += 1;
            assert!(n_slices <= 10, "erasing comes to an end");
        }
        assert_eq!(n_slices, 3, "25 rows in slices of 10");
        for table in &owned {
            assert_eq!(schema::count(store, table, app).await, 0, "{table}");
            assert_eq!(schema::count(store, table, other).await, 25, "{table}");
        }
    })
    .await;
}
