//! The operations that only the copy of a whole database needs: the catalog of tables, appending many rows,
//! and making sure that nothing else uses the database.

use super::{Connection, Tx, Value, postgres};
use crate::error::{Error, Result};

/// A table as the database's own catalog knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) columns: Vec<TableColumn>,
    /// The indexes of the columns of the primary key among all columns, in the order of the key.
    pub(crate) key: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableColumn {
    pub(crate) name: String,
    pub(crate) kind: ColumnKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Int,
    Real,
    Text,
    Bytes,
}

/// Table, column, type, and the index of the column in the primary key, counted from 1, or 0.
const SQLITE_CATALOG: &str = "select t.name, c.name, lower(c.type), c.pk
     from sqlite_master t join pragma_table_info(t.name) c
     where t.type = 'table' and t.name not like 'sqlite_%' order by t.name, c.cid";

/// As on SQLite.
const POSTGRES_CATALOG: &str = "select cast(t.relname as pg_catalog.text), cast(a.attname as pg_catalog.text),
            cast(y.typname as pg_catalog.text), coalesce(array_position(cast(i.indkey as int2[]), a.attnum) + 1, 0)
     from pg_class t join pg_namespace n on n.oid = t.relnamespace
     join pg_attribute a on a.attrelid = t.oid join pg_type y on y.oid = a.atttypid
     left join pg_index i on i.indrelid = t.oid and i.indisprimary
     where n.nspname = 'aerogram' and t.relkind = 'r' and a.attnum > 0 and not a.attisdropped
     order by cast(t.relname as pg_catalog.text) collate pg_catalog.\"C\", a.attnum";

impl Tx<'_> {
    /// All tables, by name.
    pub(crate) fn tables(&mut self) -> Result<Vec<Table>> {
        let catalog = match self.connection {
            Connection::Sqlite(_) => SQLITE_CATALOG,
            Connection::Postgres(_) => POSTGRES_CATALOG,
        };
        let mut tables: Vec<Table> = Vec::new();
        let mut keys: Vec<Vec<(u32, usize)>> = Vec::new();
        self.for_each(catalog, &[], |row| {
            let (table, name, kind) = (row.next::<String>()?, row.next::<String>()?, row.next::<String>()?);
            if tables.last().is_none_or(|last| last.name != table) {
                tables.push(Table { name: table, columns: Vec::new(), key: Vec::new() });
                keys.push(Vec::new());
            }
            if let (Some(table), Some(key)) = (tables.last_mut(), keys.last_mut()) {
                if let index @ 1.. = row.next::<u32>()? {
                    key.push((index, table.columns.len()));
                }
                table.columns.push(TableColumn { kind: ColumnKind::named(&kind, &table.name)?, name });
            }
            Ok(())
        })?;
        for (table, mut key) in tables.iter_mut().zip(keys) {
            key.sort_unstable();
            table.key = key.into_iter().map(|(_, column)| column).collect();
        }
        Ok(tables)
    }

    /// Adds rows to a table, given cell by cell, all columns of a row after one another.
    pub(crate) fn append(&mut self, table: &Table, cells: &[Value]) -> Result<u64> {
        self.check(true)?;
        let done = match self.connection {
            Connection::Sqlite(sqlite) => {
                let rows = cells.chunks_exact(table.columns.len());
                sqlite.execute_many(&table.insert(), &mut rows.map(|row| Box::new(row) as _))
            }
            Connection::Postgres(postgres) => postgres.append(table, cells),
        };
        self.remember_error(done)
    }

    /// Keeps other copies away from this database, as long as this connection lives. `false` when one is
    /// running, which may be the other end of the same copy.
    pub(crate) fn lock_for_copy(&mut self) -> Result<bool> {
        match self.connection {
            // An open connection has the file to itself.
            Connection::Sqlite(_) => Ok(true),
            Connection::Postgres(_) => self.query_one(postgres::LOCK_FOR_COPY, &[], |row| row.get(0)),
        }
    }

    /// Whether a node has the database open.
    pub(crate) fn is_served(&mut self) -> Result<bool> {
        match self.connection {
            Connection::Sqlite(_) => Ok(false),
            Connection::Postgres(_) => self.query_one(postgres::IS_SERVED, &[], |row| row.get(0)),
        }
    }
}

impl Table {
    /// The names of all columns, quoted, because some of them are SQL keywords.
    pub(crate) fn column_list(&self) -> String {
        list(&self.columns)
    }

    /// The names of the columns of the primary key, quoted.
    pub(crate) fn key_list(&self) -> String {
        list(self.key.iter().map(|index| &self.columns[*index]))
    }

    fn insert(&self) -> String {
        let placeholders: Vec<String> = (1..=self.columns.len()).map(|n| format!("${n}")).collect();
        format!("insert into \"{}\" ({}) values ({})", self.name, self.column_list(), placeholders.join(", "))
    }
}

impl ColumnKind {
    fn named(name: &str, table: &str) -> Result<Self> {
        match name {
            "bigint" | "int8" => Ok(ColumnKind::Int),
            "double precision" | "float8" => Ok(ColumnKind::Real),
            "text" => Ok(ColumnKind::Text),
            "blob" => Ok(ColumnKind::Bytes),
            other => Err(Error::corrupt(format!("the table {table} has a column of the type {other}"))),
        }
    }
}

fn list<'a>(columns: impl IntoIterator<Item = &'a TableColumn>) -> String {
    let names: Vec<String> = columns.into_iter().map(|column| format!("\"{}\"", column.name)).collect();
    names.join(", ")
}
