//! How many rows every table has, for tests that show that nothing was stored.

use std::collections::BTreeMap;

use ::store::{Error, Store};

/// Row counts by table. The tables are asked for, so that a new one cannot be forgotten.
pub async fn row_counts(store: &Store) -> BTreeMap<String, i64> {
    let tables = if store.is_single_process() {
        "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'"
    } else {
        "select cast(table_name as text) from information_schema.tables where table_schema = current_schema()"
    };
    let counted = store.read(move |tx| {
        let names: Vec<String> = tx.query(tables, &[], |row| row.get(0))?;
        let mut counts = BTreeMap::new();
        for name in names {
            let n_rows = tx.query_one(&format!("select count(*) from {name}"), &[], |row| row.get(0))?;
            counts.insert(name, n_rows);
        }
        Ok::<_, Error>(counts)
    });
    let counts = counted.await.expect("the database answers");
    assert!(counts.len() > 5, "only these tables were found: {counts:?}");
    counts
}
