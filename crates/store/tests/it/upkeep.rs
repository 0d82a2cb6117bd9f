//! How early PostgreSQL cleans up the remains of what was deleted or changed.

use std::collections::BTreeMap;

use store::Store;
use testkit::store::{Database, databases, fresh};

use crate::execute;

/// The storage parameters of each table.
async fn parameters(store: &Store) -> BTreeMap<String, String> {
    let sql = "select cast(c.relname as pg_catalog.text), coalesce(array_to_string(c.reloptions, ' '), '')
               from pg_class c join pg_namespace n on n.oid = c.relnamespace
               where n.nspname = 'aerogram' and c.relkind = 'r'";
    let found = store.read(move |tx| tx.query(sql, &[], |row| Ok((row.next()?, row.next()?)))).await;
    found.unwrap().into_iter().collect()
}

#[tokio::test]
async fn every_table_is_cleaned_up_early_unless_an_administrator_has_decided() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let (store, home) = fresh(Database::Postgres).await;
    let early = "autovacuum_vacuum_scale_factor=0.02";
    let new = parameters(&store).await;
    assert!(new.len() > 40 && new.values().all(|parameters| parameters.contains(early)), "{new:?}");
    execute(&store, "alter table log set (autovacuum_vacuum_scale_factor = 0.3)").await;
    execute(&store, "alter table job reset (autovacuum_vacuum_scale_factor)").await;
    store.close().await;
    let store = home.open().await;
    let reopened = parameters(&store).await;
    assert!(reopened["log"].contains("autovacuum_vacuum_scale_factor=0.3"), "{}", reopened["log"]);
    assert!(reopened["job"].contains(early), "as in a database of an older version: {}", reopened["job"]);
    store.close().await;
}
