//! The store on both databases, from one text.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and its output is shown then"
)]

mod accounts;
mod apps;
mod attributes;
mod audit;
mod backup;
mod batch;
mod channels;
mod claims;
mod conflicts;
mod contacts;
mod copying;
mod counters;
mod documents;
mod examining;
mod expanding;
mod faces;
mod failing_commands;
mod failover;
mod followers;
mod idempotency;
mod inboxes;
mod intake;
mod jobs;
mod joining;
mod legacy_tags;
mod lists;
mod log;
mod log_windows;
mod model_sequence;
mod named_users;
mod opening;
mod ordinary_roles;
mod origins;
mod outages;
mod pipelines;
mod place_days;
mod plans;
mod pooling;
mod postings;
mod privacy;
mod push_outcomes;
mod pushes;
mod report_sums;
mod sample;
mod sandbox;
mod schema;
mod server_tokens;
mod signals;
mod terms;
mod time_limits;
mod tls;
mod transactions;
mod unknown_users;
mod upgrade;
mod upkeep;
mod values;

use model::ids::AppId;
use store::{Error, Store, Value};
use testkit::store::{Home, databases, fresh};

/// For commands of no app in particular.
const NO_APP: AppId = store::apps::OPERATOR;

/// What a caller's own error looks like.
#[derive(Debug, PartialEq)]
enum Refusal {
    Declined,
    Store(String),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Store(error.to_string())
    }
}

/// Runs the test once per database, on a fresh store each. The last line of a failing test's output names its
/// database.
async fn on_both(test: impl AsyncFn(&Store, &Home)) {
    for database in databases() {
        println!("on {database:?}:");
        let (store, home) = fresh(database).await;
        test(&store, &home).await;
        store.close().await;
    }
}

/// As [`on_both`], with some apps there already, numbered from 1.
async fn with_apps(test: impl AsyncFn(&Store, &Home)) {
    on_both(async |store, home| {
        make_apps(store).await;
        test(store, home).await;
    })
    .await;
}

async fn make_apps(store: &Store) {
    for n in 1..=7 {
        assert_eq!(sample::make_app(store, n).await, AppId(i64::from(n)));
    }
}

async fn execute(store: &Store, sql: &'static str) -> u64 {
    store.write(NO_APP, move |tx| tx.execute(sql, &[])).await.unwrap_or_else(|error: Error| panic!("{sql}: {error}"))
}

async fn insert(store: &Store, app: AppId, id: i64) -> store::Result<()> {
    store.write(app, move |tx| tx.execute("insert into item (id) values ($1)", &[Value::Int(id)]).map(drop)).await
}

async fn ids(store: &Store) -> Vec<i64> {
    let read = store.read(|tx| tx.query("select id from item order by id", &[], |row| row.get(0)));
    read.await.unwrap_or_else(|error: Error| panic!("{error}"))
}
