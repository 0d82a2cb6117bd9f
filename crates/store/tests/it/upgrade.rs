//! Upgrades: a database as every released version left it, with rows in all tables, is brought up to date and
//! read.
//!
//! `tests/data/<version>.sql` is the schema and the rows of a version, one text for both databases.
//! CONTRIBUTING.md says when a file is written, and that it never changes afterwards.

mod contents;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use store::{Error, Store, Value};
use testkit::rows::{all_rows, row_counts};
use testkit::store::{Database, databases, fresh};

use crate::schema::{Table, tables};
use crate::{NO_APP, on_both};

/// The version that [`write_this_version`] writes.
const THIS_VERSION: &str = "0.1.0";

/// What the files call the function that makes bytes of hexadecimal digits. SQLite has it.
const UNHEX_ON_POSTGRES: &str = "create function unhex(pg_catalog.text) returns pg_catalog.bytea language sql
                                 as 'select pg_catalog.decode($1, ''hex'')'";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// Replaces all tables of a store by those of a file.
async fn load(store: &Store, file: String) {
    let (of_this_version, is_postgres) = (tables(store).await, !store.is_single_process());
    let load = store.write(NO_APP, move |tx| {
        for table in of_this_version.keys() {
            tx.execute(&format!("drop table {table}"), &[])?;
        }
        if is_postgres {
            tx.execute(UNHEX_ON_POSTGRES, &[])?;
        }
        for statement in file.split(";\n").filter(|statement| !statement.trim().is_empty()) {
            tx.execute(statement, &[])?;
        }
        if is_postgres {
            tx.execute("drop function unhex(pg_catalog.text)", &[])?;
        }
        Ok::<_, Error>(())
    });
    load.await.unwrap();
}

async fn assert_every_table_has_rows(store: &Store, whose: &str) {
    let mut counts = row_counts(store).await;
    counts.retain(|_, n_rows| *n_rows == 0);
    assert!(counts.is_empty(), "{whose} has no rows in {:?}", counts.keys());
}

/// An upgrade adds columns at the end, so their order is not compared.
async fn tables_in_any_order(store: &Store) -> BTreeMap<String, Table> {
    let mut tables = tables(store).await;
    tables.values_mut().for_each(|table| table.columns.sort());
    tables
}

#[tokio::test]
async fn databases_of_all_releases_are_upgraded() {
    let files = fs::read_dir(folder()).unwrap().map(|file| file.unwrap().path());
    let files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|ending| ending == "sql")).collect();
    assert!(!files.is_empty(), "the file of 0.1.0 is missing");
    for (path, database) in files.iter().flat_map(|path| databases().into_iter().map(move |database| (path, database)))
    {
        let (version, text) = (path.file_stem().unwrap().to_string_lossy(), fs::read_to_string(path).unwrap());
        println!("{version} on {database:?}:");
        let (store, home) = fresh(database).await;
        let newest = tables_in_any_order(&store).await;
        load(&store, text).await;
        assert_every_table_has_rows(&store, &version).await;
        store.close().await;
        let store = home.open().await;
        assert_eq!(tables_in_any_order(&store).await, newest, "an upgraded database has the tables of a new one");
        contents::check(&store).await;
        store.close().await;
    }
}

/// So that a table that is added gets its row here, and with it a place in the next file.
#[tokio::test]
async fn every_table_has_contents_to_upgrade() {
    on_both(async |store, _| {
        contents::fill(store).await;
        assert_every_table_has_rows(store, "a store that was filled").await;
        contents::check(store).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "writes a file of this repository; see CONTRIBUTING.md"]
async fn write_this_version() {
    let (store, _home) = fresh(Database::Sqlite).await;
    contents::fill(&store).await;
    let mut text = format!("-- Aerogram {THIS_VERSION}: its tables, with rows in all of them. Written by a test.\n");
    for statement in created(&store).await {
        text += &format!("{statement};\n");
    }
    let columns = tables(&store).await;
    for (table, rows) in all_rows(&store).await {
        let names: Vec<&str> = columns[&table].columns.iter().map(|(name, ..)| name.as_str()).collect();
        for row in rows {
            let cells: Vec<String> = row.iter().map(literal).collect();
            text += &format!("insert into {table} ({}) values ({});\n", names.join(", "), cells.join(", "));
        }
    }
    store.close().await;
    fs::write(folder().join(format!("{THIS_VERSION}.sql")), text).unwrap();
}

/// The statements that made the tables and indexes, without comments. SQLite keeps them as they were written.
async fn created(store: &Store) -> Vec<String> {
    let sql = "select sql from sqlite_master where sql is not null order by rowid";
    let read = store.read(move |tx| tx.query(sql, &[], |row| row.get::<String>(0)));
    let statements: Result<Vec<String>, Error> = read.await;
    let without_comments = |statement: &String| {
        let lines = statement.lines().filter(|line| !line.trim_start().starts_with("--"));
        lines.map(str::trim_end).collect::<Vec<_>>().join("\n")
    };
    statements.unwrap().iter().map(without_comments).collect()
}

fn literal(cell: &Value) -> String {
    match cell {
        Value::Null => "null".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Real(number) => format!("{number:?}"),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Bytes(bytes) => {
            let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("unhex('{}')", digits.concat())
        }
    }
}
