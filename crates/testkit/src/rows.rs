//! The rows of all tables, for tests that show that nothing was stored, or that everything was.

use std::collections::BTreeMap;

use ::store::{Error, Store, Value};

/// Row counts by table. The database lists its tables, so that a new one cannot be forgotten.
pub async fn row_counts(store: &Store) -> BTreeMap<String, i64> {
    let tables = table_names(store);
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

/// All rows of all tables, each in the order of its columns.
pub async fn all_rows(store: &Store) -> BTreeMap<String, Vec<Vec<Value>>> {
    let (tables, is_sqlite) = (table_names(store), store.is_single_process());
    let read = store.read(move |tx| {
        let names: Vec<String> = tx.query(tables, &[], |row| row.get(0))?;
        let mut all = BTreeMap::new();
        for name in names {
            let columns = if is_sqlite {
                "select name from pragma_table_info($1)"
            } else {
                "select cast(column_name as text) from information_schema.columns
                 where table_schema = current_schema() and table_name = cast($1 as text) order by ordinal_position"
            };
            let columns: Vec<String> = tx.query(columns, &[name.as_str().into()], |row| row.get(0))?;
            let columns: Vec<String> = columns.iter().map(|column| format!("\"{column}\"")).collect();
            let list = columns.join(", ");
            let rows = tx.query(&format!("select {list} from {name} order by {list}"), &[], |row| {
                (0..columns.len()).map(|column| row.get(column)).collect()
            })?;
            all.insert(name, rows);
        }
        Ok::<_, Error>(all)
    });
    read.await.expect("the database answers")
}

fn table_names(store: &Store) -> &'static str {
    if store.is_single_process() {
        "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'"
    } else {
        "select cast(table_name as text) from information_schema.tables where table_schema = current_schema()"
    }
}
