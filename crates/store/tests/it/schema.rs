//! The schema is the same on both databases, as their own catalogs tell it.

use std::collections::BTreeMap;

use store::{Row, Store, Value};
use testkit::store::{databases, fresh};

/// A table as a catalog knows it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    /// By name: the type, and whether null is refused. In the order of the table.
    pub(crate) columns: Vec<(String, String, bool)>,
    /// By name: the columns, and whether they are unique.
    pub(crate) indexes: BTreeMap<String, (Vec<String>, bool)>,
}

impl Table {
    pub(crate) fn has_column(&self, name: &str) -> bool {
        self.columns.iter().any(|(column, ..)| column == name)
    }
}

struct Catalog {
    /// Table, column, type, whether null is refused.
    columns: &'static str,
    /// Table, index, column, whether it is unique.
    indexes: &'static str,
}

const SQLITE: Catalog = Catalog {
    columns: "select t.name, c.name, lower(c.type), c.\"notnull\" from sqlite_master t join pragma_table_info(t.name) c
              where t.type = 'table' and t.name not like 'sqlite_%' order by t.name, c.cid",
    indexes: "select t.name, case i.origin when 'pk' then t.name || '_pkey' else i.name end, c.name, i.\"unique\"
              from sqlite_master t join pragma_index_list(t.name) i join pragma_index_info(i.name) c
              where t.type = 'table' order by t.name, i.name, c.seqno",
};

const POSTGRES: Catalog = Catalog {
    columns: "select cast(t.relname as pg_catalog.text), cast(a.attname as pg_catalog.text),
                     cast(y.typname as pg_catalog.text), a.attnotnull
              from pg_class t join pg_attribute a on a.attrelid = t.oid join pg_type y on y.oid = a.atttypid
              where t.relnamespace = 'aerogram'::regnamespace and t.relkind = 'r' and a.attnum > 0
              order by t.relname, a.attnum",
    indexes: "select cast(t.relname as pg_catalog.text), cast(n.relname as pg_catalog.text),
                     cast(a.attname as pg_catalog.text), i.indisunique
              from pg_index i join pg_class t on t.oid = i.indrelid join pg_class n on n.oid = i.indexrelid
              join pg_attribute a on a.attrelid = n.oid
              where t.relnamespace = 'aerogram'::regnamespace order by t.relname, n.relname, a.attnum",
};

/// Every table of a store, by name.
pub(crate) async fn tables(store: &Store) -> BTreeMap<String, Table> {
    let catalog = if store.is_single_process() { SQLITE } else { POSTGRES };
    let read = store.read(move |tx| {
        let columns = tx.query(catalog.columns, &[], read_line)?;
        Ok::<_, store::Error>((columns, tx.query(catalog.indexes, &[], read_line)?))
    });
    let (columns, indexes) = read.await.unwrap();
    let mut tables = BTreeMap::<String, Table>::new();
    for (table, column, kind, is_required) in columns {
        let kind = match kind.as_str() {
            "int8" => "bigint".to_owned(),
            "float8" => "double precision".to_owned(),
            _ => kind,
        };
        tables.entry(table).or_default().columns.push((column, kind, is_required));
    }
    for (table, index, column, is_unique) in indexes {
        let table = tables.get_mut(&table).unwrap();
        let (columns, unique) = table.indexes.entry(index).or_default();
        columns.push(column);
        *unique = is_unique;
    }
    tables
}

/// How many rows a table has that belong to an app.
pub(crate) async fn count(store: &Store, table: &str, app: model::ids::AppId) -> i64 {
    let sql = format!("select count(*) from {table} where app = $1");
    let read = store.read(move |tx| tx.query_one(&sql, &[Value::from(app)], |row| row.get(0)));
    read.await.unwrap_or_else(|error: store::Error| panic!("{error}"))
}

fn read_line(row: &Row<'_>) -> store::Result<(String, String, String, bool)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}

#[tokio::test]
async fn tables_columns_and_indexes_are_the_same() {
    let mut schemas = Vec::new();
    for database in databases() {
        let (store, _home) = fresh(database).await;
        schemas.push(tables(&store).await);
        store.close().await;
    }
    let first = &schemas[0];
    for schema in &schemas[1..] {
        assert_eq!(first.keys().collect::<Vec<_>>(), schema.keys().collect::<Vec<_>>());
        for (name, table) in first {
            assert_eq!(table, &schema[name], "{name}");
        }
    }
    assert!(first["app"].indexes.contains_key("app_by_key"), "{:?}", first["app"]);
}

#[tokio::test]
async fn the_rows_of_an_app_lie_together() {
    let (store, _home) = fresh(databases()[0]).await;
    for (name, table) in tables(&store).await {
        let types = ["bigint", "double precision", "text", "blob"];
        for (column, kind, _) in &table.columns {
            assert!(types.contains(&kind.as_str()), "{name}.{column} is {kind}");
        }
        if !table.has_column("app") {
            continue;
        }
        assert_eq!(table.columns[0], ("app".to_owned(), "bigint".to_owned(), true), "{name}");
        let (primary, _) = &table.indexes[&format!("{name}_pkey")];
        assert_eq!(primary[0], "app", "{name}");
        // Citus cannot tell whether anything else is unique over its servers.
        for (index, (columns, is_unique)) in &table.indexes {
            assert!(!is_unique || columns[0] == "app", "{index}");
        }
        for column in primary {
            let (.., is_required) = table.columns.iter().find(|(known, ..)| known == column).unwrap();
            assert!(is_required, "{name}.{column} must say that it is not null: SQLite does not take it from the key");
        }
    }
}
