//! Copying a whole database: every row of every table arrives as it was, and what would spoil a copy is
//! refused.

use std::sync::mpsc;

use store::copy::{Copied, CopyError, CopyProgress, Occupied, copy};
use store::{DatabaseUrl, Error, Store, Value, positions};
use testkit::rows::all_rows;
use testkit::store::{Database, Home, databases, fresh};

use crate::sample::make_app;
use crate::schema::{Table, tables};
use crate::{NO_APP, execute};

/// Every pair of databases, from the first to the second.
fn pairs() -> Vec<(Database, Database)> {
    databases().into_iter().flat_map(|from| databases().into_iter().map(move |to| (from, to))).collect()
}

/// Copies into a database that has to be empty.
async fn copied(from: &Home, to: &Home) -> Result<Vec<Copied>, CopyError> {
    copy(&from.url, &to.url, None, Occupied::Refuse, |_| {}).await
}

async fn started_over(from: &Home, to: &Home) -> Result<Vec<Copied>, CopyError> {
    copy(&from.url, &to.url, None, Occupied::StartOver, |_| {}).await
}

/// What is refused, told to the operator.
fn refusal(done: Result<Vec<Copied>, CopyError>) -> String {
    done.expect_err("the copy must be refused").to_string()
}

/// A row with all that a column can hold, and something unlike any other row where that is asked for.
fn row(table: &Table, n: i64) -> Vec<Value> {
    let is_unique =
        |column: &String| table.indexes.values().any(|(columns, unique)| *unique && columns.contains(column));
    let cell = |(name, kind, is_required): &(String, String, bool)| {
        let is_odd = !is_unique(name);
        match (kind.as_str(), n) {
            (_, 0) if is_odd && !is_required => Value::Null,
            ("bigint", 1) if is_odd => Value::Int(i64::MIN),
            ("bigint", 2) if is_odd => Value::Int(i64::MAX),
            ("bigint", _) => Value::Int(n),
            ("double precision", 1) => Value::Real(f64::MAX),
            ("double precision", 2) => Value::Real(-0.1),
            ("double precision", _) => Value::Real(n as f64),
            ("text", 1) if is_odd => Value::Text(String::new()),
            ("text", _) => Value::Text(format!("\u{1F600} 'ü' \"\\\n\t{n}")),
            ("blob", 1) if is_odd => Value::Bytes(Vec::new()),
            ("blob", _) => Value::Bytes([&[0, 255, b'\\'], &n.to_be_bytes()[..]].concat()),
            (_, kind) => panic!("{name} has the type {kind}"),
        }
    };
    table.columns.iter().map(cell).collect()
}

async fn fill(store: &Store, name: &str, table: &Table, n_rows: i64) {
    let columns: Vec<_> = table.columns.iter().map(|(column, ..)| format!("\"{column}\"")).collect();
    let places: Vec<_> = (1..=columns.len()).map(|n| format!("${n}")).collect();
    let sql = format!("insert into {name} ({}) values ({})", columns.join(", "), places.join(", "));
    let rows: Vec<_> = (0..n_rows).map(|n| row(table, n)).collect();
    let filled: Result<u64, Error> = store.write(NO_APP, move |tx| tx.execute_many(&sql, &rows)).await;
    assert_eq!(filled.unwrap(), n_rows.unsigned_abs(), "{name}");
}

async fn insert_all(store: &Store, sql: &'static str, rows: Vec<Vec<Value>>) {
    let done: Result<u64, Error> = store.write(NO_APP, move |tx| tx.execute_many(sql, &rows)).await;
    done.unwrap();
}

/// The catalog says which tables there are, so that a new one cannot be forgotten.
#[tokio::test]
async fn every_row_of_every_table_arrives_as_it_was() {
    for (from, to) in pairs() {
        let ((store, first), second) = (fresh(from).await, Home::new(to));
        let mut all = tables(&store).await;
        all.remove("schema_version");
        execute(&store, "delete from serial").await;
        for (name, table) in &all {
            fill(&store, name, table, 4).await;
        }
        let expected = all_rows(&store).await;
        store.close().await;
        let report = copied(&first, &second).await.unwrap_or_else(|error| panic!("{from:?} to {to:?}: {error}"));
        assert_eq!(report.iter().map(|copied| &copied.table).collect::<Vec<_>>(), all.keys().collect::<Vec<_>>());
        assert!(report.iter().all(|copied| copied.n_rows == 4), "{report:?}");
        let store = second.open().await;
        assert_eq!(tables(&store).await.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (table, rows) in all_rows(&store).await {
            assert_eq!(rows, expected[&table], "{table}, {from:?} to {to:?}");
        }
        store.close().await;
    }
}

/// More rows than are read at once, in an order of keys that is not that of their insertion, and rows of
/// which a few are as much as may be in memory.
#[tokio::test]
async fn large_tables_go_in_portions() {
    const N_TAGS: i64 = 40_000;
    for (from, to) in pairs() {
        let ((store, first), second) = (fresh(from).await, Home::new(to));
        let tags = (0..N_TAGS).map(|n| vec![Value::Int(n % 7), Value::Text(format!("{:05}", n * 7919 % N_TAGS))]);
        insert_all(&store, "insert into legacy_tag (app, tag) values ($1, $2)", tags.collect()).await;
        let blobs = |size: usize| (0..5).map(|n| vec![Value::Int(n), Value::Bytes(vec![7; size])]).collect();
        let insert = "insert into term_set (app, term, slice, members) values (1, $1, 0, $2)";
        insert_all(&store, insert, blobs(5 << 20)).await;
        let insert = "insert into push_cause (app, push, block, causes) values (1, $2, $1, $2)";
        insert_all(&store, insert, blobs(3)).await;
        let expected = all_rows(&store).await;
        store.close().await;

        let (tell, told) = mpsc::channel::<CopyProgress>();
        let copying =
            copy(&first.url, &second.url, None, Occupied::Refuse, move |progress| tell.send(progress).unwrap());
        copying.await.unwrap();
        let told: Vec<CopyProgress> = told.into_iter().collect();
        let heard = |table: &str| told.iter().filter(|told| told.table == table).cloned().collect::<Vec<_>>();
        let tags = heard("legacy_tag");
        assert!(tags.len() >= 5 && tags.is_sorted_by_key(|told| told.n_rows), "{tags:?}");
        assert_eq!(tags.last().map(|told| (told.n_rows, told.is_done)), Some((40_000, true)));
        assert_eq!(heard("term_set").iter().map(|told| told.n_rows).collect::<Vec<_>>(), [2, 4, 5]);
        assert_eq!(heard("push_cause").len(), 1);
        let store = second.open().await;
        assert!(all_rows(&store).await == expected, "{from:?} to {to:?}");
        store.close().await;
    }
}

#[tokio::test]
async fn a_database_with_something_in_it_is_not_copied_into() {
    for (from, to) in pairs() {
        let ((store, first), (other, second)) = (fresh(from).await, fresh(to).await);
        make_app(&store, 1).await;
        store.close().await;
        make_app(&other, 2).await;
        make_app(&other, 3).await;
        execute(&other, "insert into legacy_tag (app, tag) values (1, 'old')").await;
        other.close().await;
        let why = refusal(copied(&first, &second).await);
        assert!(why.contains("2 apps (App 2, App 3)") && why.contains("legacy_tag (1)"), "{why}");
        assert!(why.contains("--start-over"), "{why}");
        started_over(&first, &second).await.unwrap();
        let (original, copy) = (first.open().await, second.open().await);
        assert_eq!(all_rows(&copy).await, all_rows(&original).await);
        assert_eq!(make_app(&copy, 4).await, make_app(&original, 4).await, "numbers go on");
        original.close().await;
        copy.close().await;
    }
}

#[tokio::test]
async fn a_copy_that_breaks_off_is_not_taken_for_a_whole_one() {
    for to in databases() {
        let ((store, first), second) = (fresh(Database::Sqlite).await, Home::new(to));
        make_app(&store, 1).await;
        execute(&store, "insert into legacy_tag (app, tag) values (7, 'a' || char(0) || 'b')").await;
        store.close().await;
        let why = refusal(copied(&first, &second).await);
        assert!(why.contains("table legacy_tag") && why.contains(r#"app = 7, tag = "a\0b""#), "{why}");

        let unusable = Store::open(&second.url).await.err().unwrap().to_string();
        assert!(unusable.contains("`aerogram copy` again"), "{unusable}");
        let again = refusal(copied(&first, &second).await);
        assert!(again.contains("--start-over"), "{again}");
        let third = Home::new(to);
        assert!(refusal(copied(&second, &third).await).contains("cannot be copied"));

        let store = first.open().await;
        execute(&store, "delete from legacy_tag").await;
        store.close().await;
        started_over(&first, &second).await.unwrap();
        second.open().await.close().await;
    }
}

/// What a copy that is killed then would leave: at the first row and at the last, the target is marked already and still.
#[tokio::test]
async fn the_target_is_marked_from_the_first_row_to_the_last() {
    let ((store, first), second) = (fresh(Database::Sqlite).await, Home::new(Database::Sqlite));
    make_app(&store, 1).await;
    store.close().await;
    let DatabaseUrl::Sqlite(target) = second.url.clone() else { panic!("asked for SQLite") };
    let (states, runtime) = (tempfile::tempdir().unwrap(), tokio::runtime::Handle::current());
    let (place, mut n_states) = (states.path().to_owned(), 0);
    let (tell, told) = mpsc::channel();
    let look = move |_: CopyProgress| {
        n_states += 1;
        let state = place.join(format!("{n_states}.db"));
        for ending in ["", "-wal"] {
            let name = |path: &std::path::Path| path.with_extension(format!("db{ending}"));
            std::fs::copy(name(&target), name(&state)).unwrap();
        }
        let opened = runtime.block_on(Store::open(&DatabaseUrl::Sqlite(state)));
        tell.send(opened.err().map(|error| error.to_string())).unwrap();
    };
    copy(&first.url, &second.url, None, Occupied::Refuse, look).await.unwrap();
    let told: Vec<Option<String>> = told.into_iter().collect();
    assert!(told.len() > 10, "{told:?}");
    for refusal in told {
        assert!(refusal.is_some_and(|text| text.contains("`aerogram copy` again")));
    }
    second.open().await.close().await;
}

/// What is noted beside a database is not about the one that is copied in its place.
#[tokio::test]
async fn what_lay_beside_the_target_is_not_taken_for_the_copy() {
    let (store, from) = fresh(Database::Sqlite).await;
    store.close().await;
    let to = Home::new(Database::Sqlite);
    let DatabaseUrl::Sqlite(path) = &to.url else { panic!("asked for SQLite") };
    let noted = [positions::path(path), positions::missing_path(path)];
    for occupied in [Occupied::Refuse, Occupied::StartOver] {
        for file in &noted {
            std::fs::write(file, "{}").unwrap();
        }
        copy(&from.url, &to.url, None, occupied, |_| {}).await.unwrap();
        assert!(noted.iter().all(|file| !file.exists()), "{noted:?}");
    }
}

#[tokio::test]
async fn nobody_else_may_be_at_work() {
    // Each refusal comes after some patience, and two databases have all the roles in two pairs.
    for (from, to) in pairs().into_iter().filter(|(from, to)| from != to) {
        let ((store, first), (other, second)) = (fresh(from).await, fresh(to).await);
        let why = refusal(copied(&first, &second).await);
        assert!(why.contains("in use") && why.contains(&first.url.to_string()), "{why}");
        store.close().await;
        let why = refusal(copied(&first, &second).await);
        assert!(why.contains("in use") && why.contains(&second.url.to_string()), "{why}");
        other.close().await;
        copied(&first, &second).await.unwrap();
    }
}

#[tokio::test]
async fn a_change_during_the_copy_is_noticed() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let ((store, first), second) = (fresh(Database::Postgres).await, Home::new(Database::Sqlite));
    make_app(&store, 1).await;
    store.close().await;
    let DatabaseUrl::Postgres(url) = &first.url else { panic!("asked for PostgreSQL") };
    let renamed = DatabaseUrl::parse(&format!("{url}&application_name=another")).unwrap();
    for change in
        ["insert into legacy_tag (app, tag) values (1, 'late')", "update app_numbers set log_head = log_head + 1"]
    {
        let (renamed, runtime) = (renamed.clone(), tokio::runtime::Handle::current());
        let mut is_first = true;
        let late = move |_| {
            if std::mem::take(&mut is_first) {
                runtime.block_on(async {
                    let store = Store::open(&renamed).await.unwrap();
                    execute(&store, change).await;
                    store.close().await;
                });
            }
        };
        let why = refusal(copy(&first.url, &second.url, None, Occupied::StartOver, late).await);
        assert!(why.contains("was changed while it was copied"), "{change}: {why}");
        assert!(Store::open(&second.url).await.is_err());
    }
}

#[tokio::test]
async fn what_cannot_be_a_source_is_refused() {
    for database in databases() {
        let ((store, first), second) = (fresh(database).await, Home::new(database));
        execute(&store, "delete from schema_version where version = (select max(version) from schema_version)").await;
        store.close().await;
        assert!(refusal(copied(&first, &second).await).contains("older version"));
        assert!(refusal(copied(&first, &first).await).contains("the same database"));
    }
    let (empty, target) = (Home::new(Database::Sqlite), Home::new(Database::Sqlite));
    assert!(refusal(copied(&empty, &target).await).contains("There is no database at sqlite:"));
    let DatabaseUrl::Sqlite(path) = &target.url else { panic!("asked for SQLite") };
    assert!(!path.exists(), "nothing was made");
    if databases().contains(&Database::Postgres) {
        assert!(refusal(copied(&Home::new(Database::Postgres), &target).await).contains("lacks our tables"));
    }
}

/// Starting over would otherwise delete the source.
#[tokio::test]
async fn one_database_by_two_names_is_recognized() {
    let (store, first) = fresh(Database::Sqlite).await;
    store.close().await;
    let DatabaseUrl::Sqlite(path) = &first.url else { panic!("asked for SQLite") };
    let link = path.with_file_name("link.db");
    std::fs::hard_link(path, &link).unwrap();
    let same = copy(&first.url, &DatabaseUrl::Sqlite(link), None, Occupied::StartOver, |_| {}).await;
    assert!(refusal(same).contains("the same database"));
    if databases().contains(&Database::Postgres) {
        let (store, first) = fresh(Database::Postgres).await;
        make_app(&store, 1).await;
        store.close().await;
        let DatabaseUrl::Postgres(url) = &first.url else { panic!("asked for PostgreSQL") };
        let other = DatabaseUrl::parse(&format!("{url}&application_name=another")).unwrap();
        let same = copy(&first.url, &other, None, Occupied::StartOver, |_| {}).await;
        assert!(refusal(same).contains("the same database"));
        let store = first.open().await;
        assert_eq!(all_rows(&store).await["app"].len(), 1);
        store.close().await;
    }
}
