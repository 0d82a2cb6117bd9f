//! Apps, and that nothing of a deleted one is left.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};

use model::app::{Mode, UserRule, UserRules};
use model::ids::AppId;
use model::p256::PublicKey;
use model::time::UtcMillis;
use store::apps::{self, App, SecretHashes};
use store::documents::{self, DocumentKind};
use store::{Error, Signal, Store, Tx, Value};

use crate::sample::{self, conflict, make_app};
use crate::schema::Table;
use crate::{on_both, schema};

fn expected(n: u8, id: AppId) -> App {
    let new = sample::app(n);
    let (user_rules, approval_above) = (UserRules::default(), None);
    App {
        id,
        key: new.key,
        name: new.name,
        mode: new.mode,
        user_rules,
        approval_above,
        web_origins: Vec::new(),
        proof_public_key: None,
        created: new.created,
        data_changed: UtcMillis::default(),
    }
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
async fn changes_of_data_have_times_of_their_own() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        let change = async |app: AppId, now: i64| {
            store.write(app, move |tx| apps::note_data_change(tx, app, UtcMillis(now))).await.map(|changed| changed.0)
        };
        let mut signals = store.signals();
        assert_eq!(change(app, 60_500).await.unwrap(), 60_000, "whole seconds");
        assert_eq!(signals.next().await, Signal::Apps);
        assert_eq!(change(app, 60_900).await.unwrap(), 61_000, "in the same second");
        assert_eq!(change(app, 5_000).await.unwrap(), 62_000, "of a clock that was set back");
        assert_eq!(change(app, 90_000).await.unwrap(), 90_000);
        let (changed, _) = store.read(move |tx| apps::by_id(tx, app)).await.unwrap().unwrap();
        assert_eq!(changed.data_changed, UtcMillis(90_000));
        assert_eq!(store.read(move |tx| apps::by_id(tx, other)).await.unwrap().unwrap().0.data_changed, UtcMillis(0));
    })
    .await;
}

#[tokio::test]
async fn an_app_can_be_changed() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        let secrets = SecretHashes { app: [7; 32], master: [8; 32] };
        let user_rules = UserRules {
            associate: Some(UserRule::Servers),
            tags: Some(UserRule::Signed),
            attributes: Some(UserRule::Devices),
            subscriptions: None,
        };
        let name = "Neu".to_owned();
        let approval_above = Some(10_000);
        let web_origins = ["https://shop.example", "http://localhost:3000"].map(|text| text.parse().unwrap()).to_vec();
        let proof_public_key = PublicKey::of_point(&[4; 65]);
        let (mode, before) = (Mode::Production, expected(1, app));
        let wanted = App { name, mode, user_rules, approval_above, web_origins, proof_public_key, ..before };
        let new = wanted.clone();
        let changed: Result<(), Error> = store
            .write(app, move |tx| {
                apps::change(tx, &new)?;
                apps::set_secrets(tx, app, &SecretHashes { app: [7; 32], master: [8; 32] })
            })
            .await;
        changed.unwrap();
        let (found, hashes) = store.read(move |tx| apps::by_id(tx, app)).await.unwrap().unwrap();
        assert_eq!(found, wanted);
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
        assert_eq!(conflict(store.write(second, move |tx| apps::delete(tx, second)).await), "the app was deleted");
        assert!(store.read(|tx| apps::by_key(tx, sample::app(2).key.as_str())).await.unwrap().is_none());
        assert_eq!(make_app(store, 2).await.0, second.0 + 1);
    })
    .await;
}

/// Puts rows into a table of apps, whatever its columns are.
async fn fill(store: &Store, name: &str, table: &Table, app: AppId) {
    let columns: Vec<_> = table.columns.iter().map(|(column, ..)| column.as_str()).collect();
    let places: Vec<_> = (1..=columns.len()).map(|n| format!("${n}")).collect();
    let sql = format!("insert into {name} ({}) values ({})", columns.join(", "), places.join(", "));
    let cell = |n: i64, column: &str, kind: &str| match (column, kind) {
        ("app", _) | ("owner", "bigint") => Value::from(app),
        (_, "bigint") => Value::Int(n),
        (_, "double precision") => Value::Real(n as f64),
        // Some texts are unlike any other of the whole installation.
        (_, "text") => Value::Text(format!("{}-{n}", app.0)),
        (_, "blob") => Value::Bytes(n.to_be_bytes().to_vec()),
        (column, kind) => panic!("{name}.{column} has the type {kind}"),
    };
    let row = |n| table.columns.iter().map(|(column, kind, _)| cell(n, column, kind)).collect::<Vec<_>>();
    let rows: Vec<_> = (0..ROWS).map(row).collect();
    let filled: Result<u64, Error> = store.write(app, move |tx| tx.execute_many(&sql, &rows)).await;
    assert_eq!(filled.unwrap(), ROWS.unsigned_abs(), "{name}");
}

const ROWS: i64 = 25;

/// The catalog says which tables there are, so that a new one cannot be forgotten.
#[tokio::test]
async fn erasing_an_app_leaves_nothing_of_it_and_all_of_others() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        let mut owned = schema::tables(store).await;
        let logins = owned.remove("inbox_login").unwrap();
        fill(store, "inbox_login", &logins, app).await;
        fill(store, "inbox_login", &logins, other).await;
        let of_installation = ["app", "app_numbers", "serial", "schema_version"];
        // Roles of people in an app go with it; the people stay.
        let of_people = ["account", "account_role", "sign_in", "login_link"];
        // Its tokens go with the app at once, not in slices.
        let not_owned = [&of_installation[..], &of_people, &["server_token"]].concat();
        owned.retain(|name, _| !not_owned.contains(&name.as_str()));
        for (name, table) in &owned {
            assert!(table.has_column("app"), "{name} belongs to apps, or this test must know it");
            fill(store, name, table, app).await;
            fill(store, name, table, other).await;
        }
        assert!(store.write(app, move |tx| apps::delete(tx, app)).await.unwrap());
        let n_rows = async || {
            let mut n_rows = 0;
            for table in owned.keys() {
                n_rows += schema::count(store, table, app).await;
            }
            n_rows
        };
        let mut n_left = n_rows().await;
        while store.write(apps::OPERATOR, move |tx| apps::erase_some(tx, app, 10)).await.unwrap() {
            let n_before = std::mem::replace(&mut n_left, n_rows().await);
            assert_eq!(n_before - n_left, 10, "every slice but the last is full, and none is more than that");
        }
        for table in owned.keys() {
            assert_eq!(schema::count(store, table, app).await, 0, "{table}");
            assert_eq!(schema::count(store, table, other).await, ROWS, "{table}");
        }
        let owners = "select distinct owner from inbox_login";
        let owners: Vec<AppId> = store.read(move |tx| tx.query(owners, &[], |row| row.get(0))).await.unwrap();
        assert_eq!(owners, [other]);
    })
    .await;
}

/// Whether it is queued behind the deletion or comes later.
#[tokio::test]
async fn what_comes_too_late_for_an_app_leaves_nothing() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        // Asking whether there was one has it run after the deletion.
        let keep = move |tx: &mut Tx<'_>| {
            documents::delete(tx, app, DocumentKind::Segment, "s")?;
            documents::put(tx, app, DocumentKind::Segment, "s", "{}", UtcMillis(1))
        };
        // Keeps the writer busy until both are in its queue, so that they share a transaction.
        let (queued, is_first_run) = (Arc::new(Barrier::new(2)), AtomicBool::new(true));
        let wait = Arc::clone(&queued);
        let busy = tokio::spawn({
            let store = store.clone();
            async move {
                let busy = move |_: &mut Tx<'_>| {
                    if is_first_run.swap(false, Ordering::SeqCst) {
                        wait.wait();
                    }
                    Ok::<_, Error>(())
                };
                store.write(app, busy).await
            }
        });
        let both = tokio::spawn({
            let store = store.clone();
            async move { tokio::join!(store.write(app, move |tx| apps::delete(tx, app)), store.write(app, keep)) }
        });
        tokio::task::yield_now().await;
        tokio::task::spawn_blocking(move || queued.wait()).await.unwrap();
        busy.await.unwrap().unwrap();
        let (deleted, kept) = both.await.unwrap();
        assert!(deleted.unwrap());
        assert_eq!(conflict(kept), "the app was deleted");
        assert_eq!(conflict(store.write(app, keep).await), "the app was deleted");
        assert_eq!(schema::count(store, "document", app).await, 0);
        // Whoever has nothing to write is not disturbed, and disturbs nobody.
        store.write(app, |_| Ok::<_, Error>(())).await.unwrap();
    })
    .await;
}
