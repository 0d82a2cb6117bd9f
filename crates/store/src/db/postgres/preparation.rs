//! The schema of our tables, and the types of ours that PostgreSQL lacks.

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
