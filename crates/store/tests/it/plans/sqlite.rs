//! Every statement in the source of the store, as SQLite plans it. SQLite has no statistics here, nor when it
//! is in use: what it does with an empty database it does with a full one.

use std::fs;
use std::path::Path;

use model::ids::AppId;
use store::{Store, Value};
use testkit::store::{Database, fresh};

/// Statements that read all rows that an app has in a table, or all of the table, or that end with their
/// first row. By how they begin.
const BY_APP_ALONE: [&str; 39] = [
    // One row for each app.
    "select id, key, name, mode, created, users_associate, users_tags,",
    "select app.id, app.key, app_numbers.log_head from app cross join app_numbers",
    "select app, log_head from app_numbers",
    "select app.key from app join channel",
    "select app.id, app.key from app cross join push",
    "select name from app order by id",
    "select id, key from app order by id",
    "select app.id, app.key, document.id, document.created, document.modified, document.body from app",
    // One row for each follower.
    "select follower.app, follower.id from follower cross join app_numbers n",
    "select follower.app, follower.id, n.log_head - follower.position",
    "update follower set retry_at = 0 where retry_at > $1",
    // One row is enough, or a page.
    "select ordinal from channel where app = $1 order by ordinal desc limit 1",
    "select min(due) from job",
    "select ordinal from last_place limit 1",
    "select tag from legacy_tag where app = $1 order by tag limit",
    "select min(number) from message where app = $1",
    "select max(hour) from seen_event where app = $1",
    "select id from inbox_user where app = $1 order by id limit",
    // On Citus only, for the apps of one server.
    "select app from push where id = $1",
    "select app from channel where id = $1",
    // Few rows, or all of them are wanted.
    "select name from sqlite_schema",
    "select count(*) from webhook where app = $1",
    "select count(*) from named_user where app = $1",
    "update webhook set version = version + 1 where app = $1",
    "select id from term where app = $1 and exists",
    "select id, grp, tag from term where app = $1 order by id",
    // The people who use the console, of whom there are some thousands at most.
    "select count(*) from account",
    // Two rows for each app at most.
    "select secret, hash, sealed, ends from former_secret where app = $1",
    // One row for each node.
    "select connected from live_presence where app = $1",
    "delete from live_presence where app = $1 and seen < $2",
    // At the start of a process.
    "update job set due = $1, leased = 0 where leased > 0",
    // The jobs that run, of which a node has a few.
    "select distinct leased from job where leased > 0",
    "update job set due = $2, leased = 0 where leased = $1",
    // Beginnings of statements, to which `store::ordinals` adds the channels that are meant.
    "select ordinal, id, address,",
    "select ordinal, id, language, country from channel where app = $1 and installed = 1",
    "select ordinal, id, named_user, profile from channel where app = $1",
    "select i.ordinal, u.read_messages from inbox_channel i",
    "select ordinal, profile from channel where app = $1 and installed = 1",
    "select user_id from inbox_channel where app = $1",
];

/// Statements and the index that each of them is for.
const MADE_FOR: [(&str, &str); 8] = [
    ("select owner, value from attribute where app = $1 and name = $2", "COVERING INDEX attribute_short"),
    ("select c.ordinal, a.value from attribute a cross join channel c", "COVERING INDEX attribute_short"),
    ("select position, body from log where app = $1 and position > $2 and position <= $3 and kind = 22", "log_lives"),
    (
        "select position, body from log where app = $1 and position > $2 and position <= $3 and kind = 2 order",
        "log_sends",
    ),
    ("select ordinal, until, body from face where app = $1 and ordinal = $2", "face_by_channel"),
    ("select ordinal from inbox_message where app = $1 and number = $2", "inbox_message_by_number"),
    ("select push from push_origin where app = $1 and origin = $2 and run = $3", "push_origin_by_run"),
    ("select id, tag from term where app = $1 and grp = $2", "term_by_name"),
];

/// The statements of a source file, on one line each. The ones that are put together of pieces are left out,
/// and those for PostgreSQL alone.
fn statements(source: &str) -> Vec<String> {
    let is_statement = |text: &&str| {
        ["select ", "insert ", "update ", "delete ", "with "].iter().any(|verb| text.starts_with(verb))
            && !text.ends_with('\\')
            && !["{", "pg_", "clock_timestamp", "pragma_", "schema_version", " item "]
                .iter()
                .any(|word| text.contains(word))
    };
    let without_tests = source.split("#[cfg(test)]").next().unwrap_or(source);
    let literals = without_tests.split('"').filter(is_statement);
    literals.map(|text| text.replace("\\\n", "").split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn all_statements(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all_statements(&path, found);
        } else if path.file_name().is_some_and(|name| name != "tests.rs") {
            found.extend(statements(&fs::read_to_string(path).unwrap()));
        }
    }
}

/// The steps of a plan.
async fn plan(store: &Store, sql: &str) -> Vec<String> {
    let n_params = (1..).take_while(|n| sql.contains(&format!("${n}"))).count();
    let (explain, params) = (format!("explain query plan {sql}"), vec![Value::Null; n_params]);
    let explained = store.write(AppId(0), move |tx| tx.query(&explain, &params, |row| row.get(3))).await;
    explained.unwrap_or_else(|error: store::Error| panic!("{sql}: {error}"))
}

/// How many columns the indexes that a plan uses are searched by.
fn n_columns(plan: &[String]) -> usize {
    plan.iter().map(|step| step.matches("=?").count()).sum()
}

#[tokio::test]
async fn an_index_narrows_every_statement_down() {
    let (store, _home) = fresh(Database::Sqlite).await;
    let mut found = Vec::new();
    all_statements(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.len() > 200, "{} statements were found", found.len());
    let mut problems = Vec::new();
    for sql in &found {
        let plan = plan(&store, sql).await;
        let reads_all = |step: &str| {
            let is_page = step.contains(['<', '>']) && sql.contains(" limit ");
            let is_of_apps = step.ends_with("(app=?)") && !step.contains(" app_numbers ");
            let is_narrow = step.contains(" AND ") || step.ends_with("=?)") && !is_of_apps || is_page;
            // What a subquery has found is no table.
            let is_scan =
                step.starts_with("SCAN ") && !["SCAN CONSTANT ROW", "SCAN overdue", "SCAN parts"].contains(&step);
            is_scan || step.starts_with("SEARCH ") && !is_narrow
        };
        let may_read_all = BY_APP_ALONE.iter().any(|begin| sql.starts_with(begin));
        if !may_read_all && plan.iter().map(String::as_str).any(reads_all) {
            problems.push(format!("{sql}\nreads too much: {plan:#?}"));
        }
        // An index that has a list of pairs to compare with, but uses a part of them, reads the list a second
        // time.
        let n_lists = plan.iter().filter(|step| step.starts_with("LIST SUBQUERY")).count();
        if n_lists > sql.matches(" in (select").count() {
            problems.push(format!("{sql}\ncompares row by row: {plan:#?}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    for (begin, index) in MADE_FOR {
        let sql = found.iter().find(|sql| sql.starts_with(begin)).unwrap_or_else(|| panic!("there is no {begin}"));
        let plan = plan(&store, sql).await;
        assert!(plan.iter().any(|step| step.contains(index)), "{sql}\nuses {plan:#?}");
    }
    store.close().await;
}

#[tokio::test]
async fn an_order_does_not_decide_the_index() {
    let (store, _home) = fresh(Database::Sqlite).await;
    let mut found = Vec::new();
    all_statements(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    let mut problems = Vec::new();
    for sql in &found {
        if let Some((unordered, order)) = sql.rsplit_once(" order by ")
            && !order.contains(['(', ')'])
            && !order.contains("limit")
        {
            let (ordered, unordered) = (plan(&store, sql).await, plan(&store, unordered).await);
            if n_columns(&ordered) < n_columns(&unordered) {
                problems.push(format!("{sql}\nuses {ordered:#?}, and without the order {unordered:#?}: sort in Rust"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    store.close().await;
}
