//! How much of a table statements read to find their rows.

mod sqlite;

use model::event::RecordKind;
use model::ids::{AppId, Offset};
use store::lists::{self, Member, Upload, UploadNumber};
use store::log::{self, NewRecord};
use store::{Store, Tx};
use testkit::store::{Database, databases, fresh};

use crate::execute;
use crate::sample::{NOW, record};

const APP: AppId = AppId(1);

/// A store on PostgreSQL, unless the developer does without.
async fn postgres(test: impl AsyncFn(&Store)) {
    if databases().contains(&Database::Postgres) {
        let (store, _home) = fresh(Database::Postgres).await;
        crate::make_apps(&store).await;
        test(&store).await;
        store.close().await;
    }
}

/// Also says how many rows of a table were read meanwhile, with an index or without.
fn counting<T>(
    tx: &mut Tx<'_>,
    table: &str,
    act: impl FnOnce(&mut Tx<'_>) -> store::Result<T>,
) -> store::Result<(T, i64)> {
    // The server counts on until it tells others, which may be several transactions later.
    let before = n_read(tx, table)?;
    let done = act(tx)?;
    Ok((done, n_read(tx, table)? - before))
}

fn n_read(tx: &mut Tx<'_>, table: &str) -> store::Result<i64> {
    let sql = "select seq_tup_read + idx_tup_fetch from pg_stat_xact_user_tables
               where cast(relname as pg_catalog.text) = cast($1 as pg_catalog.text)";
    tx.query_one(sql, &[table.into()], |row| row.get(0))
}

#[tokio::test]
async fn rows_of_a_list_are_deleted_without_reading_the_others() {
    postgres(async |store| {
        let fill = "insert into list_member (app, list, generation, kind, identifier)
                    select 1, 'vip', 1, 'named_user', 'u' || n from generate_series(1, 20000) as n";
        execute(store, fill).await;
        execute(store, "analyze list_member").await;
        let delete = |tx: &mut Tx<'_>| {
            let upload = Upload { list: "vip", number: UploadNumber(1) };
            let rows: Vec<Member> = lists::after(tx, APP, upload, None, 500)?;
            lists::delete(tx, APP, upload, &rows)?;
            Ok(rows.len())
        };
        let (n_deleted, n_read) = store.write(APP, move |tx| counting(tx, "list_member", delete)).await.unwrap();
        assert!(n_deleted == 500 && n_read <= 1_000, "{n_read} rows were read to delete {n_deleted}");
    })
    .await;
}

#[tokio::test]
async fn old_records_are_deleted_without_reading_the_others() {
    postgres(async |store| {
        store.write(APP, |tx| log::append(tx, APP, NOW, vec![record("a record"); 20_000])).await.unwrap();
        execute(store, "analyze log").await;
        // What the statistics know of is gone now.
        store.write(APP, |tx| log::delete_before(tx, APP, Offset(18_001), 18_000)).await.unwrap();
        let delete = |tx: &mut Tx<'_>| log::delete_before(tx, APP, Offset(20_000), 500);
        let (n_deleted, n_read) = store.write(APP, move |tx| counting(tx, "log", delete)).await.unwrap();
        assert!(n_deleted == 500 && n_read <= 1_500, "{n_read} records were read to delete {n_deleted}");
    })
    .await;
}

#[tokio::test]
async fn deliveries_are_found_without_reading_other_records() {
    postgres(async |store| {
        let kind = |n| if n % 1_000 == 0 { RecordKind::Send } else { RecordKind::Custom };
        let records = (0..20_000).map(|n| NewRecord { kind: kind(n), ordinal: None, body: Vec::new() });
        let records: Vec<NewRecord> = records.collect();
        store.write(APP, move |tx| log::append(tx, APP, NOW, records.clone())).await.unwrap();
        execute(store, "analyze log").await;
        let read = |tx: &mut Tx<'_>| {
            let mut found = Vec::new();
            log::visit_sends(tx, APP, Offset(1_001), Offset(20_000), 50, |offset, _| {
                found.push(offset.0);
                Ok(())
            })?;
            Ok(found)
        };
        let (found, n_read) = store.read(move |tx| counting(tx, "log", read)).await.unwrap();
        assert_eq!(found, (2..20).map(|n| n * 1_000 + 1).collect::<Vec<_>>());
        assert!(n_read <= 18, "{n_read} records were read to find 18");
    })
    .await;
}
