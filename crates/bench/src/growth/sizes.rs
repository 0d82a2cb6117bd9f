//! How large the tables of a database are, as the database itself says.

use std::collections::BTreeMap;

use anyhow::Result;
use store::apps::OPERATOR;
use store::{Error, Store, Tx};

use crate::report::{mebibytes, number};

/// The tables whose rows are gone after a day of the simulated weeks, or that keep a fixed number of rows.
pub(super) const EXPIRING: [&str; 7] = ["log", "sandbox", "idempotency", "job", "app", "follower", "signed_request"];

#[derive(Clone, Copy, Default)]
pub(super) struct Table {
    data: i64,
    indexes: i64,
    rows: i64,
    /// The most at any look.
    dead: i64,
    /// How often it was cleaned up so far.
    cleaned: i64,
}

/// The tables by name, and the pages that no table uses.
#[derive(Clone, Default)]
pub(super) struct Sizes {
    tables: BTreeMap<String, Table>,
    free: i64,
}

pub(super) struct Total {
    data: i64,
    indexes: i64,
    free: i64,
    rows: i64,
    pub(super) dead: i64,
    cleaned: i64,
    largest_dead_share: f64,
}

/// Below this many rows a share says nothing: the database does not care about a hundred dead rows.
const FEWEST_ROWS: i64 = 1_000;

const OF_POSTGRES: &str = "
    select cast(relname as text), pg_table_size(relid), pg_indexes_size(relid), n_live_tup, n_dead_tup,
           autovacuum_count + vacuum_count
    from pg_stat_user_tables where schemaname = 'aerogram'";
const OF_SQLITE: &str = "
    select m.tbl_name, sum(case when m.type = 'table' then d.pgsize else 0 end),
           sum(case when m.type = 'table' then 0 else d.pgsize end), 0, 0, 0
    from dbstat d join sqlite_master m on m.name = d.name where d.aggregate = 1 group by m.tbl_name";
const FREE_IN_SQLITE: &str = "select freelist_count * page_size from pragma_freelist_count, pragma_page_size";

/// Lets PostgreSQL look after our tables by its own settings.
pub(super) async fn reset_upkeep(store: &Store) -> Result<()> {
    let tables = "select cast(relname as text) from pg_stat_user_tables where schemaname = 'aerogram'";
    let reset = move |tx: &mut Tx<'_>| {
        for table in tx.query(tables, &[], |row| row.get::<String>(0))? {
            let parameters = "autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold, \
                              autovacuum_analyze_scale_factor, autovacuum_analyze_threshold";
            tx.execute(&format!("alter table aerogram.{table} reset ({parameters})"), &[])?;
        }
        Ok::<_, Error>(())
    };
    Ok(store.write(OPERATOR, reset).await?)
}

impl Sizes {
    pub(super) async fn read(store: &Store) -> Result<Self> {
        let is_sqlite = store.is_single_process();
        let look = move |tx: &mut Tx<'_>| {
            let found = tx.query(if is_sqlite { OF_SQLITE } else { OF_POSTGRES }, &[], |row| {
                let name: String = row.next()?;
                let (data, indexes, rows) = (row.next()?, row.next()?, row.next()?);
                Ok((name, Table { data, indexes, rows, dead: row.next()?, cleaned: row.next()? }))
            })?;
            let free = if is_sqlite { tx.query_one(FREE_IN_SQLITE, &[], |row| row.get(0))? } else { 0 };
            Ok::<_, Error>(Self { tables: found.into_iter().collect(), free })
        };
        Ok(store.read(look).await?)
    }

    /// A later look, with the most dead rows of both.
    pub(super) fn followed_by(&self, mut later: Self) -> Self {
        for (name, table) in &mut later.tables {
            let before = self.tables.get(name).map_or(0, |table| table.dead);
            table.dead = table.dead.max(before);
        }
        later
    }

    pub(super) fn total(&self) -> Total {
        let sum = |part: fn(&Table) -> i64| self.tables.values().map(part).sum();
        let shares = self.tables.values().map(|table| table.dead as f64 / table.rows.max(FEWEST_ROWS) as f64);
        Total {
            data: sum(|table| table.data),
            indexes: sum(|table| table.indexes),
            free: self.free,
            rows: sum(|table| table.rows),
            dead: sum(|table| table.dead),
            cleaned: sum(|table| table.cleaned),
            largest_dead_share: shares.fold(0.0, f64::max),
        }
    }

    /// The bytes of some tables with their indexes.
    pub(super) fn of(&self, names: &[&str]) -> i64 {
        names.iter().filter_map(|name| self.tables.get(*name)).map(Table::bytes).sum()
    }
}

impl Table {
    fn bytes(&self) -> i64 {
        self.data + self.indexes
    }
}

impl Total {
    /// Without the pages that no table uses.
    pub(super) fn used(&self) -> i64 {
        self.data + self.indexes
    }

    /// Of the table that has most of them.
    pub(super) fn dead_share(&self) -> f64 {
        self.largest_dead_share
    }

    pub(super) fn cells(&self) -> [String; 6] {
        let size = |bytes: i64| mebibytes(bytes.unsigned_abs());
        let n = |value: i64| number(value as f64);
        [size(self.data), size(self.indexes), size(self.free), n(self.rows), n(self.dead), n(self.cleaned)]
    }
}

/// One row for each table that is large at the end of a week.
pub(super) fn compare(second_day: &Sizes, last: &Sizes, end: &Sizes) -> Vec<Vec<String>> {
    let least = last.total().used() / 100;
    let large = end
        .tables
        .iter()
        .filter(|(name, table)| table.bytes().max(last.tables.get(*name).map_or(0, Table::bytes)) >= least);
    let row = |(name, table): (&String, &Table)| {
        let kib = |sizes: &Sizes| number(sizes.of(&[name]) as f64 / 1024.0);
        let n = |value: i64| number(value as f64);
        let cells = [kib(second_day), kib(last), kib(end), n(table.rows), n(table.dead), n(table.cleaned)];
        [name.clone()].into_iter().chain(cells).collect()
    };
    large.map(row).collect()
}
