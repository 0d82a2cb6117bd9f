//! The schema of our tables, the types of ours that PostgreSQL lacks, and how early PostgreSQL cleans up.

use crate::db::Tx;
use crate::error::Result;

pub(in crate::db) fn prepare_database(tx: &mut Tx<'_>) -> Result<()> {
    // Looked for, because a role that owns the schema need not have the right to make one, and is refused even if there is one.
    let found = "select count(*) from pg_namespace where nspname = 'aerogram'";
    if tx.query_one(found, &[], |row| row.get::<i64>(0))? == 0 {
        tx.execute("create schema aerogram", &[])?;
    }
    let types = [
        ("blob", "create domain aerogram.blob as pg_catalog.bytea"),
        ("text", "create domain aerogram.text as pg_catalog.text collate pg_catalog.\"C\""),
    ];
    for (name, create) in types {
        let found = "select count(*) from pg_type t join pg_namespace n on n.oid = t.typnamespace \
                     where n.nspname = 'aerogram' and t.typname = cast($1 as pg_catalog.text)";
        if tx.query_one(found, &[name.into()], |row| row.get::<i64>(0))? == 0 {
            tx.execute(create, &[])?;
        }
    }
    Ok(())
}

/// Autovacuum comes by default when a fifth of a table is dead, which is late for one of hundreds of millions of rows: what is
/// deleted at one end and added at the other would take a fifth more room, and indexes more. Tables of a few rows that are
/// rewritten all the time are not worth a visit before the threshold.
const UPKEEP: &str = "autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, \
                      autovacuum_analyze_scale_factor = 0.05, autovacuum_analyze_threshold = 1000";

/// Sets the upkeep of the tables for which nobody has set it.
pub(in crate::db) fn tune_tables(tx: &mut Tx<'_>) -> Result<()> {
    let untuned =
        "select cast(c.relname as aerogram.text) from pg_class c join pg_namespace n on n.oid = c.relnamespace
                   where n.nspname = 'aerogram' and c.relkind = 'r'
                   and coalesce(array_to_string(c.reloptions, ' '), '') not like '%autovacuum_vacuum_scale_factor%'
                   order by 1";
    for table in tx.query(untuned, &[], |row| row.get::<String>(0))? {
        tx.execute(&format!("alter table aerogram.{table} set ({UPKEEP})"), &[])?;
    }
    Ok(())
}
