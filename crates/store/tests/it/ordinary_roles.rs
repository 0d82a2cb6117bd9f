//! PostgreSQL as a role that may do nothing but use what is its own, and with as many connections as it is given.

use std::time::Duration;

use model::ids::AppId;
use store::{DatabaseUrl, Error, PostgresSettings, Signal, Store};
use testkit::postgres::cluster;
use testkit::store::{Database, databases};

use crate::{NO_APP, execute, ids, insert, make_apps};

/// A new database, and its URL for a role that was made with these rights.
fn database_of(role: &str, grants: &[&str]) -> String {
    let url = cluster().fresh_database();
    let name = url.rsplit('/').next().unwrap().split('?').next().unwrap();
    for grant in grants {
        cluster().ask(&url, &grant.replace("ROLE", role).replace("DATABASE", name));
    }
    url.replacen("postgres://aerogram@", &format!("postgres://{role}@"), 1)
}

async fn open(url: &str, n_connections: usize) -> Result<Store, Error> {
    let settings = PostgresSettings { n_connections, ..PostgresSettings::default() };
    Store::open_with(&DatabaseUrl::parse(url).unwrap(), None, settings).await
}

/// Everything that could need more rights than others have: tables, locks, signals, sizes.
async fn use_all(url: &str) {
    let (store, other) = (open(url, 9).await.unwrap(), open(url, 9).await.unwrap());
    let mut signals = other.signals();
    make_apps(&store).await;
    execute(&store, "create table item (id bigint primary key)").await;
    insert(&store, NO_APP, 1).await.unwrap();
    let signaling = store.write(AppId(7), |tx| {
        tx.signal(Signal::Log(AppId(7)));
        tx.execute("insert into item (id) values (2)", &[])
    });
    let _: u64 = signaling.await.map_err(|error: Error| error.to_string()).unwrap();
    while signals.next().await != Signal::Log(AppId(7)) {}
    assert_eq!(ids(&other).await, [1, 2]);
    let read = store.read(|tx| {
        let missing = store::nodes::missing(tx, &store::Part::ALL)?;
        Ok::<_, Error>((missing.len(), tx.database_bytes()?))
    });
    let (n_missing, n_bytes) = read.await.unwrap();
    assert_eq!(n_missing, 0);
    assert!(n_bytes > 100_000, "{n_bytes}");
    let locks = "select count(*) from pg_locks where locktype = 'advisory' and classid = 470327801
                 and database = (select oid from pg_database where datname = current_database())";
    let held: Result<i64, Error> = store.read(move |tx| tx.query_one(locks, &[], |row| row.get(0))).await;
    assert_eq!(held.unwrap(), 2, "each node has its lock");
    store.close().await;
    other.close().await;
}

#[tokio::test]
async fn a_role_needs_no_more_than_a_database_or_a_schema_of_its_own() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let owner = database_of("plain_owner", &["create role ROLE login", "alter database DATABASE owner to ROLE"]);
    use_all(&owner).await;
    let tenant = database_of(
        "plain_tenant",
        &[
            "create role ROLE login",
            "revoke all on schema public from public",
            "revoke create, temporary on database DATABASE from public",
            "create schema aerogram authorization ROLE",
        ],
    );
    use_all(&tenant).await;
    let stranger = database_of("plain_stranger", &["create role ROLE login"]);
    let error = open(&stranger, 9).await.err().unwrap();
    assert!(error.to_string().contains("permission denied for database"), "{error}");
}

#[tokio::test]
async fn a_node_keeps_as_many_connections_as_it_is_given() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    for n_connections in [3, 6, 9] {
        let url = cluster().fresh_database();
        let store = open(&url, n_connections).await.unwrap();
        make_apps(&store).await;
        execute(&store, "create table item (id bigint primary key)").await;
        let writing = (1..=7).map(|app| insert(&store, AppId(app), app));
        for written in futures_util::future::join_all(writing).await {
            written.unwrap();
        }
        let reading = (0..20).map(|_| ids(&store));
        assert!(futures_util::future::join_all(reading).await.iter().all(|ids| ids.len() == 7));
        let sql = "select count(*) from pg_stat_activity where application_name = 'aerogram'
                   and datname = current_database() and backend_type = 'client backend'";
        // The connection of the migrations may be just ending.
        let count = async || -> i64 {
            let counted: Result<i64, Error> = store.read(move |tx| tx.query_one(sql, &[], |row| row.get(0))).await;
            counted.unwrap()
        };
        while count().await > i64::try_from(n_connections).unwrap() {}
        assert_eq!(count().await, i64::try_from(n_connections).unwrap());
        store.close().await;
    }
}

#[tokio::test]
async fn a_server_without_a_connection_left_says_what_to_do() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let grants = ["create role ROLE login connection limit 5", "alter database DATABASE owner to ROLE"];
    let url = database_of("plain_limited", &grants);
    let error = open(&url, 9).await.err().unwrap();
    assert!(matches!(error, Error::Unavailable(_)), "{error:?}");
    let told = error.to_string();
    assert!(told.contains("no connection left for this node (too many connections for role"), "{told}");
    assert!(told.contains("max_connections") && told.contains("database_connections"), "{told}");
    // The connections of the failed attempt are just ending.
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    let store = loop {
        match open(&url, 4).await {
            Ok(store) => break store,
            Err(error) => assert!(std::time::Instant::now() < deadline, "{error}"),
        }
    };
    store.close().await;
}
